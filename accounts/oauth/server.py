"""/token and /revoke: oauthlib's endpoints with exactly two grants, behind a strict reading of the form."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import parse_qsl

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from oauthlib.oauth2.rfc6749.endpoints.pre_configured import WebApplicationServer
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error, OAuth2Error

from accounts.oauth.audience import is_mcp_resource, known_scope, mcp_resource
from accounts.oauth.errors import OAuthRefusal
from accounts.oauth.machine import machine_address
from accounts.oauth.tokens import ACCESS_TOKEN_LIFETIME, make_access_token, make_refresh_token
from accounts.oauth.validator import TokenRequest, Validator
from accounts.security_log import log_event
from flashcards.api import client_address
from flashcards.operation import Scope
from flashcards.request_body import read_body

FORM_BYTES_MAX = 16 * 1024
FIELDS_MAX = 50
FORM_TYPE = "application/x-www-form-urlencoded"

Form = list[tuple[str, str]]


class AuthorizationServer(WebApplicationServer):
    """oauthlib's server for one request at the moment `now`: codes with PKCE, and refresh tokens."""

    def __init__(self, *, now: datetime) -> None:
        super().__init__(  # type: ignore[no-untyped-call]  # oauthlib has no types
            Validator(now=now),
            token_generator=make_access_token,
            token_expires_in=int(ACCESS_TOKEN_LIFETIME.total_seconds()),
            refresh_token_generator=make_refresh_token,
        )
        self.auth_grant.custom_validators.post_token.append(settle_resource)
        self.refresh_grant.custom_validators.post_token.extend((settle_resource, settle_refresh))


def settle_resource(request: TokenRequest) -> None:
    """Refuse a `resource` (RFC 8707) that is not the one this service has; without any, the token is for that one."""
    named = [value for name, value in request.decoded_body if name == "resource"]
    if not all(map(is_mcp_resource, named)):
        raise CustomOAuth2Error("invalid_target", f"The only resource here is {mcp_resource()}")


def settle_refresh(request: TokenRequest) -> None:
    """Narrow the scope that a refresh asks for to what was granted (RFC 6749 section 6)."""
    granted = Scope(request.connection.scope)
    asked = known_scope((request.scope or "").split(), otherwise=granted)
    request.scopes = [Scope.READ if Scope.READ in (granted, asked) else Scope.ALL]


@machine_address("POST")
def token(request: HttpRequest) -> HttpResponse:
    """A pair of tokens for a code or a refresh token (RFC 6749 sections 4.1.3 and 6)."""
    form = read_form(request)
    server = AuthorizationServer(now=timezone.now())
    _check_grant_type(dict(form).get("grant_type"), server)
    try:
        headers, body, status = server.create_token_response("/token", "POST", form, {})
    except OAuth2Error as error:
        headers, body, status = error.headers, error.json, error.status_code
    if status >= 400:
        _log_refusal(request, form, status)
    return HttpResponse(body, status=status, headers={"Content-Type": "application/json", **headers})


@machine_address("POST")
def revoke(request: HttpRequest) -> HttpResponse:
    """200 once the token is good for nothing, with everything else of its connection (RFC 7009)."""
    form = read_form(request)
    server = AuthorizationServer(now=timezone.now())
    headers, body, status = server.create_revocation_response("/revoke", "POST", form, {})
    return HttpResponse(body, status=status, headers={"Content-Type": "application/json", **headers})


def read_form(request: HttpRequest) -> Form:
    """The fields of the body, empty ones left out (RFC 6749 section 3.1).

    Raises OAuthRefusal for a body that is no form, a field given twice (RFC 8707's `resource` apart), arguments in the
    URL, and a client that would authenticate itself: every client here is public.
    """
    if request.content_type != FORM_TYPE:
        raise OAuthRefusal("invalid_request", f"The body must be {FORM_TYPE}.")
    if request.META.get("QUERY_STRING"):
        raise OAuthRefusal("invalid_request", "Arguments belong in the body, not in the URL.")
    try:
        body = read_body(request, limit_bytes=FORM_BYTES_MAX).decode()
        form = parse_qsl(body, errors="strict", max_num_fields=FIELDS_MAX)
    except ValueError:
        raise OAuthRefusal("invalid_request", "The body is not a form of UTF-8 text.") from None
    if any("\0" in value for _, value in form):
        raise OAuthRefusal("invalid_request", "A parameter holds a NUL.")
    names = [name for name, _ in form if name != "resource"]
    if len(set(names)) < len(names):
        raise OAuthRefusal("invalid_request", "A parameter is given twice.")
    if request.headers.get("Authorization", "").lower().startswith("basic") or "client_secret" in names:
        challenge = {"WWW-Authenticate": 'Basic realm="flashcards"'}
        message = "Clients here are public: send client_id in the body, and no secret."
        raise OAuthRefusal("invalid_client", message, status=401, headers=challenge)
    return form


def _check_grant_type(grant_type: str | None, server: AuthorizationServer) -> None:
    if grant_type is None:
        raise OAuthRefusal("invalid_request", "Missing grant_type parameter.")
    if grant_type not in server.grant_types:
        raise OAuthRefusal("unsupported_grant_type", f"The grants here are {', '.join(server.grant_types)}.")


def _log_refusal(request: HttpRequest, form: Form, status: int) -> None:
    client_id = dict(form).get("client_id", "")[:60]
    log_event(
        "token request refused", suspicious=True, status=status, client=client_id, address=client_address(request)
    )
