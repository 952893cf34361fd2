"""Who is calling: the only reader of the Authorization header."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.credentials import parse_api_key, same_secret
from accounts.errors import ApiKeyInvalid, AuthenticationRequired
from accounts.models import ApiKey, Connection, User
from accounts.oauth.connections import connection_of_access_token
from accounts.workspaces import resolve_workspace
from flashcards.errors import Advice
from flashcards.models import Workspace
from flashcards.operation import Scope

REST_CHALLENGE = 'ApiKey realm="flashcards"'


@dataclass(frozen=True, slots=True)
class Principal:
    """A user on one of their connections, with what it was granted."""

    user: User
    connection: Connection
    scopes: frozenset[Scope] = frozenset({Scope.ALL})

    @property
    def user_id(self) -> UUID:
        """The user's id."""
        return self.user.id

    @property
    def connection_id(self) -> UUID:
        """The connection's id; review events keep it as `replica_id`."""
        return self.connection.id

    def allows(self, scope: Scope) -> bool:
        """Whether the connection was granted `scope`; all includes reading."""
        return Scope.ALL in self.scopes or scope in self.scopes

    def workspace(self, workspace_id: UUID | None = None) -> Workspace:
        """The workspace this call works in (see `workspaces.resolve_workspace`)."""
        selected_id = self.connection.selected_workspace_id
        return resolve_workspace(self.user, workspace_id=workspace_id, selected_id=selected_id)


def principal_of_key(key: str, *, now: datetime) -> Principal | None:
    """Whose key this is; None when it is malformed, unknown, revoked, or its user is switched off.

    Writes `last_used_at` at most every five minutes, in a statement of its own.
    """
    parts = parse_api_key(key)
    if parts is None:
        return None
    connection = ApiKey.objects.active().select_related("user").filter(key_id=parts.key_id).first()
    if connection is None or not same_secret(parts.secret, bytes(connection.secret_hash)):
        return None
    connection.touch(now=now)
    return Principal(connection.user, connection)


def principal_of_bearer(token: str, *, now: datetime) -> Principal | None:
    """Who calls /mcp with `Authorization: Bearer <token>`: an API key or the access token of a connected app.

    None for a token that is malformed, unknown, expired, for another audience, or of a connection or user that was
    switched off. Writes `last_used_at` as `principal_of_key` does.
    """
    if token.startswith("fca_"):
        return principal_of_key(token, now=now)
    granted = connection_of_access_token(token, now=now)
    if granted is None:
        return None
    granted.connection.touch(now=now)
    return Principal(granted.connection.user, granted.connection, frozenset({granted.scope}))


def authenticate_bearer(request: HttpRequest) -> Principal:
    """Who calls the MCP endpoint.

    Raises AuthenticationRequired with the challenge that tells a client where to authorize (RFC 6750 section 3,
    RFC 9728 section 5.1); `invalid_token` is in it only when a token was sent. No other place than the header counts.
    """
    scheme, _, token = request.headers.get("Authorization", "").strip().partition(" ")
    token = token.strip() if scheme.lower() == "bearer" else ""
    principal = principal_of_bearer(token, now=timezone.now()) if token else None
    if principal is None:
        said = "The token is unknown, expired or revoked." if token else "This endpoint needs a bearer token."
        raise AuthenticationRequired(said, headers={"WWW-Authenticate": _bearer_challenge(sent=bool(token))})
    return principal


def _bearer_challenge(*, sent: bool) -> str:
    metadata = f"{settings.PUBLIC_MCP_BASE_URL}/.well-known/oauth-protected-resource/mcp"
    challenge = f'Bearer resource_metadata="{metadata}", scope="{Scope.ALL}"'
    return challenge + (', error="invalid_token"' if sent else "")


_HEADER_FORM = Advice(
    rest="Send the header `Authorization: ApiKey <key>`: the word ApiKey, a space, and the key.",
    mcp="Ask the user to connect this server again.",
)


class AgentAuthentication(BaseAuthentication):
    """DRF's hook for the REST API: `Authorization: ApiKey <key>` or, as a convenience, `Bearer <key>`."""

    def authenticate(self, request: Request) -> tuple[User, Principal]:
        """The user and the Principal; AuthenticationRequired without the header, ApiKeyInvalid for any other fault."""
        header = request.headers.get("Authorization", "").strip()
        if not header:
            raise AuthenticationRequired("This call needs an API key.", headers={"WWW-Authenticate": REST_CHALLENGE})
        scheme, _, key = header.partition(" ")
        if scheme.lower() not in ("apikey", "bearer"):
            message = "The Authorization header does not read `ApiKey <key>`."
            raise ApiKeyInvalid(message, instructions=_HEADER_FORM, headers={"WWW-Authenticate": REST_CHALLENGE})
        principal = principal_of_key(key.strip(), now=timezone.now())
        if principal is None:
            raise ApiKeyInvalid("The API key is unknown or was revoked.", headers={"WWW-Authenticate": REST_CHALLENGE})
        return principal.user, principal
