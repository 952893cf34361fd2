"""What oauthlib asks of us while it serves /token and /revoke: codes that work once, refresh tokens in families.

Private methods of the toolkit's validator are used here; its version is pinned for that reason.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum, auto
from typing import Any
from uuid import UUID

from django.db.models import Q
from oauth2_provider.models import AccessToken, RefreshToken, set_token_value
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.common import Request
from oauthlib.oauth2.rfc6749.errors import InvalidGrantError

from accounts.models import User
from accounts.oauth.audience import mcp_resource
from accounts.oauth.connections import End, end_connection, hold_connection
from accounts.oauth.models import OAuthClient, OAuthConnection, OAuthGrant, RefreshRetry
from accounts.oauth.tokens import (
    ACCESS_TOKEN_LIFETIME,
    REFRESH_TOKEN_IDLE_LIFETIME,
    RETRIES_MAX,
    RETRY_WINDOW,
    checksum,
)
from flashcards.outcome import committed

CODE_REFUSED = "The code is unknown, expired or already used."
REDIRECT_REFUSED = "The redirect_uri is not the one of the authorization request."
REFRESH_REFUSED = "The refresh token is unknown, expired or revoked."
_REFUSED = {End.CODE_REPLAYED: CODE_REFUSED, End.REFRESH_TOKEN_REUSED: REFRESH_REFUSED}


class TokenRequest(Request):
    """The shape that oauthlib's request has here: what was found is carried from one question to the next."""

    client: OAuthClient
    user: User
    scopes: list[str]
    grant: OAuthGrant
    connection: OAuthConnection
    refresh_token_instance: RefreshToken


class Standing(Enum):
    """What a refresh token is good for."""

    LIVE = auto()
    RETRY = auto()
    REUSED = auto()
    DEAD = auto()


class SpentCredential(Exception):
    """A code or refresh token that was used before: its connection is to end."""

    def __init__(self, connection_id: UUID | None, end: End) -> None:
        super().__init__(end.value)
        self.connection_id, self.end = connection_id, end


class Validator(OAuth2Validator):
    """Judges one request to /token or /revoke at the moment `now`."""

    def __init__(self, *, now: datetime) -> None:
        super().__init__()
        self.now = now

    def client_authentication_required(self, request: TokenRequest, *args: object, **kwargs: object) -> bool:
        """Never: every client is public and names itself by `client_id`."""
        return False

    # Codes

    def validate_code(
        self, client_id: str, code: str, client: OAuthClient, request: TokenRequest, *args: object, **kwargs: object
    ) -> bool:
        """Whether the code can be redeemed by this client. One that was redeemed before ends what it led to."""
        grant = OAuthGrant.objects.filter(code=checksum(code), application=client).select_related("user").first()
        if grant is not None and grant.connection_id is not None:
            end_connection(grant.connection_id, End.CODE_REPLAYED, now=self.now)
            raise InvalidGrantError(CODE_REFUSED)
        if grant is None or grant.expires <= self.now or not grant.user.is_active:
            raise InvalidGrantError(CODE_REFUSED)
        request.grant, request.user, request.scopes = grant, grant.user, [grant.scope]
        return True

    def get_code_challenge(self, code: str, request: TokenRequest) -> str:
        """The challenge of the authorization request (RFC 7636)."""
        return str(request.grant.code_challenge)

    def get_code_challenge_method(self, code: str, request: TokenRequest) -> str:
        """S256; /authorize takes no other."""
        return str(request.grant.code_challenge_method)

    def get_default_redirect_uri(self, client_id: str, request: TokenRequest, *args: object, **kwargs: object) -> str:
        """For a redemption that names none: good only when the authorization request named none either."""
        if request.grant.redirect_uri_given:
            raise InvalidGrantError(REDIRECT_REFUSED)
        return str(request.grant.redirect_uri)

    def confirm_redirect_uri(
        self,
        client_id: str,
        code: str,
        redirect_uri: str,
        client: OAuthClient,
        request: TokenRequest,
        *args: object,
        **kwargs: object,
    ) -> bool:
        """Whether it is the one of the authorization request, character for character (RFC 6749 section 4.1.3)."""
        if redirect_uri != request.grant.redirect_uri:
            raise InvalidGrantError(REDIRECT_REFUSED)
        return True

    def invalidate_authorization_code(
        self, client_id: str, code: str, request: TokenRequest, *args: object, **kwargs: object
    ) -> None:
        """Nothing more: `_redeem` claimed the code before a token existed."""

    # Refresh tokens

    def validate_refresh_token(
        self, refresh_token: str, client: OAuthClient, request: TokenRequest, *args: object, **kwargs: object
    ) -> bool:
        """Whether this client was given that token; what it is still good for is judged under a lock, by `_refresh`."""
        presented = RefreshToken.objects.filter(token_checksum=checksum(refresh_token), application=client).first()
        if presented is None:
            raise InvalidGrantError(REFRESH_REFUSED)
        families = OAuthConnection.objects.select_related("user")
        connection = families.filter(id__in=[presented.token_family]).first()
        if connection is None:
            raise InvalidGrantError(REFRESH_REFUSED)
        request.refresh_token_instance, request.connection, request.user = presented, connection, connection.user
        return True

    def get_original_scopes(self, refresh_token: str, request: TokenRequest, *args: object, **kwargs: object) -> str:
        """What the user granted."""
        return str(request.connection.scope)

    def is_within_original_scope(
        self, request_scopes: list[str], refresh_token: str, request: TokenRequest, *args: object, **kwargs: object
    ) -> bool:
        """True: whatever is asked for, `server.settle_refresh` narrows it to what was granted."""
        return True

    # Issuing

    def save_bearer_token(self, token: dict[str, Any], request: TokenRequest, *args: object, **kwargs: object) -> None:
        """Store the pair. A credential that was used before ends its connection and raises InvalidGrantError."""
        issue = self._redeem if request.grant_type == "authorization_code" else self._refresh
        try:
            with committed():
                issue(token, request)
        except SpentCredential as spent:
            # After the rollback, so that ending the connection outlasts the refusal.
            if spent.connection_id is not None:
                end_connection(spent.connection_id, spent.end, now=self.now)
            raise InvalidGrantError(_REFUSED[spent.end]) from None

    def _redeem(self, token: dict[str, Any], request: TokenRequest) -> None:
        same = OAuthGrant.objects.filter(pk=request.grant.pk)
        if not same.filter(redeemed_at__isnull=True).update(redeemed_at=self.now):
            raise SpentCredential(same.get().connection_id, End.CODE_REPLAYED)
        connection = OAuthConnection.objects.create(
            user=request.user,
            client=request.client,
            scope=request.grant.scope,
            selected_workspace_id=request.grant.selected_workspace_id,
            created_at=self.now,
        )
        same.update(connection=connection)
        self._mint(token, request, connection)

    def _refresh(self, token: dict[str, Any], request: TokenRequest) -> None:
        connection = hold_connection(request.connection.pk)
        presented = RefreshToken.objects.filter(pk=request.refresh_token_instance.pk).first()
        if connection is None or presented is None or not connection.user.is_active:
            raise InvalidGrantError(REFRESH_REFUSED)
        standing = self._standing(presented, connection)
        if standing is Standing.DEAD:
            raise InvalidGrantError(REFRESH_REFUSED)
        if standing is Standing.REUSED:
            raise SpentCredential(connection.pk, End.REFRESH_TOKEN_REUSED)
        if standing is Standing.RETRY:
            marks = {"connection": connection, "token_checksum": presented.token_checksum, "created_at": self.now}
            RefreshRetry.objects.create(**marks)
            self._mint(token, request, connection)
        else:
            presented.revoke()
            self._mint(token, request, connection, successor_of=presented)

    def _standing(self, presented: RefreshToken, connection: OAuthConnection) -> Standing:
        if connection.revoked_at is not None:
            return Standing.DEAD
        if presented.revoked is None:
            idle = presented.created + REFRESH_TOKEN_IDLE_LIFETIME <= self.now
            return Standing.DEAD if idle or presented.access_token_id is None else Standing.LIVE
        in_window = self.now < presented.revoked + RETRY_WINDOW
        # Rotating the successor deletes its access token; then whoever still presents the old one is a stranger.
        successor_alive = AccessToken.objects.filter(source_refresh_token=presented).exists()
        retries = RefreshRetry.objects.filter(token_checksum=presented.token_checksum).count()
        return Standing.RETRY if in_window and successor_alive and retries < RETRIES_MAX else Standing.REUSED

    def _mint(
        self,
        token: dict[str, Any],
        request: TokenRequest,
        connection: OAuthConnection,
        *,
        successor_of: RefreshToken | None = None,
    ) -> None:
        held_by = {"user": request.user, "application": request.client, "resource": [mcp_resource()]}
        access = AccessToken(
            **held_by,
            scope=token["scope"],
            expires=self.now + ACCESS_TOKEN_LIFETIME,
            source_refresh_token=successor_of,
        )
        set_token_value(access, token["access_token"])
        access.save()
        refresh = RefreshToken(**held_by, access_token=access, token_family=connection.pk)
        set_token_value(refresh, token["refresh_token"])
        refresh.save()

    # Revoking

    def revoke_token(
        self, token: str, token_type_hint: str | None, request: TokenRequest, *args: object, **kwargs: object
    ) -> None:
        """End the connection that the token belongs to (RFC 7009 section 2.1); another client's token is left alone."""
        is_this = Q(token_checksum=checksum(token)) | Q(access_token__token_checksum=checksum(token))
        family = RefreshToken.objects.filter(is_this, application=request.client).values_list("token_family").first()
        if family is not None and family[0] is not None:
            end_connection(family[0], End.REVOKED_BY_APP, now=self.now)
