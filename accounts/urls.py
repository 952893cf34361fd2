"""Addresses of this app."""

from __future__ import annotations

from django.urls import URLPattern, path

from accounts import views
from accounts.oauth.consent import authorize
from accounts.oauth.urls import urlpatterns as oauth_addresses
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

PAGES: list[URLPattern] = [
    path("", views.home, name="home"),
    path("login/", views.enter_email, name="login"),
    path("login/code/", views.enter_code, name="login_code"),
    path("logout/", views.sign_out, name="logout"),
    path("authorize", authorize, name="authorize"),
    path("settings/connections/", views.connections, name="connections"),
    path("settings/connections/<uuid:connection_id>/revoke/", views.revoke, name="revoke_connection"),
    path("settings/connections/<uuid:connection_id>/workspace/", views.choose_workspace, name="choose_workspace"),
]

urlpatterns: list[URLPattern] = [*url_patterns(ROUTES), *oauth_addresses, *PAGES]
