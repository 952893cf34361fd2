"""Addresses of this app."""

from __future__ import annotations

from django.urls import URLPattern, path

from flashcards.api import Route, url_patterns
from review.app.views import app_settings
from review.operations import next_review_card, reveal_answer, submit_review

ROUTES: list[Route] = [
    Route("POST", "v1/agent/reviews/next", next_review_card),
    Route("POST", "v1/agent/reviews/reveal", reveal_answer),
    Route("POST", "v1/agent/reviews/submit", submit_review),
]

PAGES: list[URLPattern] = [path("settings/apps/", app_settings, name="app_settings")]

urlpatterns: list[URLPattern] = [*url_patterns(ROUTES), *PAGES]
