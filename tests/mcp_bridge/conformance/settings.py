"""Settings for the conformance suite: its fixtures, and the token that it cannot send, from a file."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from flashcards.settings import *  # noqa: F403
from flashcards.settings import DATA_DIR
from flashcards.settings import MIDDLEWARE as SERVED

MIDDLEWARE = ["tests.mcp_bridge.conformance.settings.InjectBearer", *SERVED]


class InjectBearer:
    """Adds the Authorization header that the suite leaves out, and mounts the fixtures that it calls."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        # Not before: the settings are read before there are apps.
        from tests.mcp_bridge.conformance.fixtures import mount

        self.get_response = get_response
        mount()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer to the request with the header."""
        key = (DATA_DIR / "conformance_key").read_text().strip()
        request.META.setdefault("HTTP_AUTHORIZATION", f"Bearer {key}")
        return self.get_response(request)
