"""Addresses of this app."""

from __future__ import annotations

from django.urls import URLPattern, path

from flashcards.api import Route, url_patterns
from mcp_bridge.discovery import discover
from mcp_bridge.endpoint import mcp_endpoint
from mcp_bridge.operations import get_guide

ROUTES: list[Route] = [
    Route("GET", "v1/", discover, either_slash=True),
    Route("GET", "v1/agent/", discover, either_slash=True),
    Route("GET", "v1/agent/guide/<topic>", get_guide),
]

urlpatterns: list[URLPattern] = [
    *url_patterns(ROUTES),
    path("mcp", mcp_endpoint, name="mcp"),
    path("mcp/", mcp_endpoint, name="mcp_slash"),
]
