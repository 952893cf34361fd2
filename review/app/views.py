"""The page "MCP Apps" of a user's settings."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from accounts.models import User
from accounts.pages import private_page, send_to
from review.app.choice import SETTINGS_PATH, choice_of, set_choice


@require_http_methods(["GET", "HEAD", "POST"])
@private_page
def app_settings(request: HttpRequest, user: User) -> HttpResponse:
    """Show what the user allows the review app; a POST stores it, a box that is not ticked being off."""
    if request.method != "POST":
        return render(request, "review/apps.html", {"choice": choice_of(user)})
    set_choice(user, enabled="enabled" in request.POST, may_rate="may_rate" in request.POST)
    messages.success(request, gettext("Saved."))
    return send_to(SETTINGS_PATH, status=303)
