"""/authorize: a person allows or denies what an app asked for."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.models import User
from accounts.oauth.authorization import (
    AuthorizationRequest,
    RefusedRequest,
    UnusableRequest,
    issue_code,
    judge_authorization_request,
)
from accounts.oauth.redirects import is_on_this_device
from accounts.pages import journey_page, send_to, send_to_login
from accounts.security_log import log_event
from accounts.workspaces import owned_workspaces
from flashcards.models import Workspace
from flashcards.operation import Scope

DENIED = {"error": "access_denied", "error_description": "The user did not allow it."}


@journey_page
@require_http_methods(["GET", "HEAD", "POST"])
def authorize(request: HttpRequest) -> HttpResponse:
    """The consent page, and the answer to what was pressed on it.

    The request is read from the URL both times, so that what is allowed is what was shown.
    """
    asked = judge_authorization_request(request.META.get("QUERY_STRING", ""))
    if isinstance(asked, UnusableRequest):
        return render(request, "accounts/authorize_unusable.html", status=400)
    if isinstance(asked, RefusedRequest):
        return _send_back(request, asked)
    if not isinstance(request.user, User):
        return send_to_login(request)
    if request.method == "POST" and request.POST.get("decision") == "deny":
        return send_to(asked.location(DENIED), status=303)
    if request.method == "POST" and request.POST.get("decision") == "allow" and request.POST.get("ticket"):
        return _allow(request, asked, request.user)
    return render(request, "accounts/consent.html", _consent_context(asked, request.user))


def _send_back(request: HttpRequest, refused: RefusedRequest) -> HttpResponse:
    # Anybody may register https://evil.example. A redirect there without a person's hand would lend our name to it.
    if request.method != "POST" and not is_on_this_device(refused.redirect_uri):
        context = {"location": refused.location, "host": urlsplit(refused.redirect_uri).netloc, "reason": str(refused)}
        return render(request, "accounts/authorize_refused.html", context, status=400)
    return send_to(refused.location, status=303 if request.method == "POST" else 302)


def _allow(request: HttpRequest, asked: AuthorizationRequest, user: User) -> HttpResponse:
    workspace = _chosen_workspace(user, request.POST.get("workspace", ""))
    code = issue_code(asked, user, ticket=request.POST["ticket"], workspace=workspace, now=timezone.now())
    if code is None:
        return render(request, "accounts/consent_spent.html", status=400)
    log_event("app allowed", user=user.pk, client=asked.client.client_id, scope=asked.scope)
    return send_to(asked.location({"code": code}), status=303)


def _chosen_workspace(user: User, chosen: str) -> Workspace | None:
    """The workspace that was ticked; None for "ask every time", and for one that is not the user's."""
    try:
        return owned_workspaces(user).filter(workspace_id=UUID(chosen)).first()
    except ValueError:
        return None


def _consent_context(asked: AuthorizationRequest, user: User) -> dict[str, Any]:
    workspaces = list(owned_workspaces(user))
    parts = urlsplit(asked.redirect_uri)
    return {
        "client_name": asked.client.name,
        "on_this_device": is_on_this_device(asked.redirect_uri),
        "redirect_host": parts.netloc,
        "may_write": asked.scope is Scope.ALL,
        "workspaces": workspaces if len(workspaces) > 1 else [],
        "ticket": secrets.token_urlsafe(24),
        "account": user.email,
    }
