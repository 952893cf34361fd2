"""The ways into an account as its owner sees them: API keys and connected apps, in one list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.models import TOUCH_INTERVAL, ApiKey, Connection, User
from accounts.oauth.connections import End, end_connection
from accounts.oauth.models import OAuthConnection
from accounts.security_log import log_event
from flashcards.operation import Scope

ENDED_SHOWN_MAX = 20


@dataclass(frozen=True, slots=True)
class ListedConnection:
    """One row of the list as it stood at `as_of`. `name` is a key's label or an app's own name for itself."""

    connection: Connection
    name: str
    is_app: bool
    as_of: datetime
    may_write: bool = True

    def is_in_use(self) -> bool:
        """Whether it was used just now, as precisely as `last_used_at` tells."""
        used_at = self.connection.last_used_at
        return used_at is not None and self.as_of - used_at < 2 * TOUCH_INTERVAL


def list_connections(user: User, *, now: datetime) -> list[ListedConnection]:
    """Every key and app of `user` that is not revoked, newest first; two queries."""
    return _newest_first(_rows(user, ended=False, now=now))


def list_ended_connections(user: User, *, now: datetime) -> list[ListedConnection]:
    """The newest of those that were revoked."""
    return _newest_first(_rows(user, ended=True, now=now))[:ENDED_SHOWN_MAX]


def _rows(user: User, *, ended: bool, now: datetime) -> Iterator[ListedConnection]:
    for key in ApiKey.objects.filter(user=user, revoked_at__isnull=not ended):
        yield ListedConnection(key, key.label, is_app=False, as_of=now)
    for app in OAuthConnection.objects.filter(user=user, revoked_at__isnull=not ended).select_related("client"):
        yield ListedConnection(app, app.client.name, is_app=True, as_of=now, may_write=app.scope == Scope.ALL)


def _newest_first(rows: Iterator[ListedConnection]) -> list[ListedConnection]:
    return sorted(rows, key=lambda row: row.connection.created_at, reverse=True)


def find_connection(user: User, connection_id: UUID) -> Connection | None:
    """The user's connection of that id; None for one of somebody else, as for one that does not exist."""
    return (
        ApiKey.objects.filter(user=user, pk=connection_id).first()
        or OAuthConnection.objects.filter(user=user, pk=connection_id).first()
    )


def revoke_connection(connection: Connection, *, now: datetime) -> None:
    """Let a key or an app in no more, at once; one that was revoked stays as it is."""
    if isinstance(connection, OAuthConnection):
        end_connection(connection.pk, End.REVOKED_BY_USER, now=now)
    elif ApiKey.objects.filter(pk=connection.pk, revoked_at__isnull=True).update(revoked_at=now):
        log_event("API key revoked", reason=End.REVOKED_BY_USER, connection=connection.pk, user=connection.user_id)
