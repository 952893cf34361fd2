"""Every address of the service."""

from __future__ import annotations

from django.urls import include, path

import accounts.urls
import mcp_bridge.urls
import review.urls
import sqlgate.urls
from accounts.errors import ApiKeyInvalid, AuthenticationRequired, WorkspaceNotFound, WorkspaceSelectionRequired
from flashcards import framework_errors, health
from flashcards.openapi import Published, openapi_view

PUBLISHED = Published(
    routes=(*mcp_bridge.urls.ROUTES, *accounts.urls.ROUTES, *sqlgate.urls.ROUTES, *review.urls.ROUTES),
    login_errors=(AuthenticationRequired, ApiKeyInvalid),
    workspace_errors=(WorkspaceNotFound, WorkspaceSelectionRequired),
)
openapi = openapi_view(PUBLISHED)

urlpatterns = [
    *health.urlpatterns,
    path("v1/openapi.json", openapi, name="openapi"),
    path("v1/agent/openapi.json", openapi, name="openapi_alias"),
    path("", include("accounts.urls")),
    path("", include("review.urls")),
    path("", include("sqlgate.urls")),
    path("", include("mcp_bridge.urls")),
]

handler400 = framework_errors.bad_request
handler403 = framework_errors.permission_denied
handler404 = framework_errors.page_not_found
handler500 = framework_errors.server_error
