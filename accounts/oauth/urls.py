"""Addresses of the authorization server: exactly these, without a last slash."""

from __future__ import annotations

from django.urls import URLPattern, path, re_path

from accounts.oauth.metadata import (
    RESOURCE_PATH,
    SERVER_PATH,
    no_such_document,
    resource_metadata,
    server_metadata,
)
from accounts.oauth.registration import register
from accounts.oauth.server import revoke, token

urlpatterns: list[URLPattern] = [
    path(RESOURCE_PATH, resource_metadata),
    path(f"{RESOURCE_PATH}/mcp", resource_metadata, name="oauth_resource_metadata"),
    path(f"{RESOURCE_PATH}/mcp/", resource_metadata),
    path(SERVER_PATH, server_metadata),
    path(f"{SERVER_PATH}/mcp", server_metadata, name="oauth_server_metadata"),
    path("register", register, name="oauth_register"),
    path("token", token, name="oauth_token"),
    path("revoke", revoke, name="oauth_revoke"),
    # Clients try these before or beside the ones above.
    re_path(r"^\.well-known/(?:oauth-|openid-configuration(?:/|\Z))", no_such_document),
    re_path(r"^mcp/\.well-known/", no_such_document),
]
