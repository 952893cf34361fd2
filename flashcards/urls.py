"""Every address of the service."""

from __future__ import annotations

from django.urls import include, path

from flashcards import framework_errors

urlpatterns = [
    path("", include("accounts.urls")),
    path("", include("review.urls")),
    path("", include("sqlgate.urls")),
    path("", include("mcp_bridge.urls")),
]

handler400 = framework_errors.bad_request
handler403 = framework_errors.permission_denied
handler404 = framework_errors.page_not_found
handler500 = framework_errors.server_error
