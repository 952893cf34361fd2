"""Addresses of this app."""

from __future__ import annotations

from django.urls import URLPattern

from accounts.operations import (
    create_workspace,
    me,
    page_workspaces,
    select_workspace,
    send_code,
    verify_code,
)
from flashcards.api import Route, url_patterns

ROUTES: list[Route] = [
    Route("POST", "api/agent/send-code", send_code),
    Route("POST", "api/agent/verify-code", verify_code),
    Route("GET", "v1/agent/me", me),
    Route("GET", "v1/agent/workspaces", page_workspaces),
    Route("POST", "v1/agent/workspaces", create_workspace, status=201),
    Route("POST", "v1/agent/workspaces/<workspaceId>/select", select_workspace),
]

urlpatterns: list[URLPattern] = url_patterns(ROUTES)
