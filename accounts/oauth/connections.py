"""The life of a connection after it was made: who holds it, which workspace it works in, and how it ends."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from oauth2_provider.models import RefreshToken

from accounts.oauth.audience import mcp_resource
from accounts.oauth.models import OAuthConnection
from accounts.oauth.tokens import ACCESS_TOKEN_PREFIX, checksum
from accounts.security_log import log_event
from flashcards.operation import Scope
from flashcards.outcome import committed


class End(StrEnum):
    """Why a connection ended; the security log names it."""

    REVOKED_BY_APP = "revoked_by_app"
    REVOKED_BY_USER = "revoked_by_user"
    CODE_REPLAYED = "code_replayed"
    REFRESH_TOKEN_REUSED = "refresh_token_reused"  # noqa: S105
    UNUSED = "unused"


SUSPICIOUS_ENDS = (End.CODE_REPLAYED, End.REFRESH_TOKEN_REUSED)


class Granted(NamedTuple):
    """A connection and the scope of the access token that was presented for it."""

    connection: OAuthConnection
    scope: Scope


def connection_of_access_token(token: str, *, now: datetime) -> Granted | None:
    """The connection whose access token this is; two queries.

    None for anything else: a token that is unknown, expired or for another resource, a refresh token, the token of a
    connection that was ended or of a user who was switched off.
    """
    if not token.startswith(ACCESS_TOKEN_PREFIX):
        return None
    alive = RefreshToken.objects.filter(access_token__token_checksum=checksum(token), access_token__expires__gt=now)
    pair = alive.values_list("token_family", "access_token__scope", "access_token__resource").first()
    if pair is None or pair[0] is None or pair[2] != [mcp_resource()]:
        return None
    connection = OAuthConnection.objects.active().select_related("user").filter(pk=pair[0]).first()
    return None if connection is None else Granted(connection, Scope(pair[1]))


def hold_connection(connection_id: UUID) -> OAuthConnection | None:
    """The connection, locked until this transaction ends: refreshing and ending one family happen one at a time."""
    held = OAuthConnection.objects.select_for_update(of=("self",), no_key=True)
    return held.select_related("user").filter(pk=connection_id).first()


def end_connection(connection_id: UUID, end: End, *, now: datetime) -> None:
    """Revoke every token of the connection at once and write the reason to the security log."""
    with committed():
        held = hold_connection(connection_id)
        if held is None:
            return
        if held.revoked_at is None:
            held.revoked_at = now
            held.save(update_fields=["revoked_at"])
        RefreshToken.revoke_family(held.pk)
    who = {"connection": held.pk, "user": held.user_id, "client": held.client_id}
    log_event("connection ended", suspicious=end in SUSPICIOUS_ENDS, reason=end, **who)
