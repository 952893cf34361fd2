"""The documents by which a client that knows only the MCP address finds its way (RFC 9728, RFC 8414)."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

from accounts.oauth.audience import mcp_resource
from accounts.oauth.errors import OAuthRefusal
from accounts.oauth.machine import machine_address
from flashcards.operation import Scope

CACHE_CONTROL = "public, max-age=300"
RESOURCE_PATH = ".well-known/oauth-protected-resource"
SERVER_PATH = ".well-known/oauth-authorization-server"
ALL_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def issuer() -> str:
    """The issuer identifier: the same text in metadata, in `iss` and in `authorization_servers`."""
    return str(settings.PUBLIC_AUTH_BASE_URL)


def resource_metadata_url() -> str:
    """Where the challenge of /mcp sends a client first."""
    return f"{settings.PUBLIC_MCP_BASE_URL}/{RESOURCE_PATH}/mcp"


def server_metadata_url() -> str:
    """Where the authorization server describes itself, the address with `/mcp` (RFC 8414 section 3)."""
    return f"{issuer()}/{SERVER_PATH}/mcp"


def resource_document() -> dict[str, Any]:
    """RFC 9728 section 2. Clients ask for every scope that stands here, so it is the one that suits all."""
    return {
        "resource": mcp_resource(),
        "authorization_servers": [issuer()],
        "bearer_methods_supported": ["header"],
        "scopes_supported": [Scope.ALL.value],
    }


def server_document() -> dict[str, Any]:
    """RFC 8414 section 2, with RFC 9207's `iss` and, where it is on, client ID metadata documents."""
    document: dict[str, Any] = {
        "issuer": issuer(),
        "authorization_endpoint": f"{issuer()}/authorize",
        "token_endpoint": f"{issuer()}/token",
        "registration_endpoint": f"{issuer()}/register",
        "revocation_endpoint": f"{issuer()}/revoke",
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "scopes_supported": [scope.value for scope in Scope],
        "authorization_response_iss_parameter_supported": True,
    }
    return document | ({"client_id_metadata_document_supported": True} if settings.OAUTH_CIMD else {})


@machine_address("GET", cache_control=CACHE_CONTROL)
def resource_metadata(_request: HttpRequest) -> HttpResponse:
    """The protected resource's document."""
    return JsonResponse(resource_document())


@machine_address("GET", cache_control=CACHE_CONTROL)
def server_metadata(_request: HttpRequest) -> HttpResponse:
    """The authorization server's document."""
    return JsonResponse(server_document())


@machine_address(*ALL_METHODS)
def no_such_document(_request: HttpRequest) -> HttpResponse:
    """JSON for the addresses that clients try in vain; an HTML page or a redirect would confuse them."""
    raise OAuthRefusal("not_found", "There is no such document here.", status=404)
