"""What the authorization server may forget."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from oauth2_provider.models import AccessToken, RefreshToken

from accounts.oauth.connections import End, end_connection
from accounts.oauth.models import OAuthClient, OAuthConnection, OAuthGrant, RefreshRetry, RegistrationLog
from accounts.oauth.tokens import REFRESH_TOKEN_IDLE_LIFETIME

UNUSED_CLIENT_LIFETIME = timedelta(days=7)
ENDED_CONNECTION_LIFETIME = timedelta(days=90)
RETRY_LIFETIME = timedelta(days=1)


def prune_oauth(*, now: datetime) -> int:
    """End connections whose refresh tokens lay idle too long, and delete what nobody can use or be caught with.

    A client goes 7 days after its last registration when nobody ever let it in; an ended connection after 90 days,
    with the codes it came from; a rotated refresh token once it is older than any that still works. Returns how many
    rows were deleted.
    """
    for connection_id in list(_idle_connections(now=now).values_list("pk", flat=True)):
        end_connection(connection_id, End.UNUSED, now=now)
    forgotten = OAuthConnection.objects.filter(revoked_at__lte=now - ENDED_CONNECTION_LIFETIME)
    families = forgotten.values("pk")
    window_seconds = max(window.seconds for window in settings.LIMIT_REGISTRATIONS)
    doomed: list[QuerySet[Any]] = [
        RefreshToken.objects.filter(token_family__in=families),
        RefreshToken.objects.filter(revoked__lte=now - REFRESH_TOKEN_IDLE_LIFETIME),
        AccessToken.objects.filter(refresh_token__isnull=True, expires__lte=now),
        OAuthGrant.objects.filter(redeemed_at__isnull=True, expires__lte=now),
        forgotten,
        RefreshRetry.objects.filter(created_at__lte=now - RETRY_LIFETIME),
        RegistrationLog.objects.filter(created_at__lte=now - timedelta(seconds=window_seconds)),
        _unused_clients(now=now),
    ]
    return sum(rows.delete()[0] for rows in doomed)


def _idle_connections(*, now: datetime) -> QuerySet[OAuthConnection]:
    usable = RefreshToken.objects.filter(
        token_family=OuterRef("pk"), revoked__isnull=True, created__gt=now - REFRESH_TOKEN_IDLE_LIFETIME
    )
    # The age keeps a connection out that is being made at this moment.
    old = OAuthConnection.objects.filter(revoked_at__isnull=True, created_at__lte=now - REFRESH_TOKEN_IDLE_LIFETIME)
    return old.filter(~Exists(usable))


def _unused_clients(*, now: datetime) -> QuerySet[OAuthClient]:
    own = OAuthClient.RegistrationSource
    unused = OAuthClient.objects.filter(used_at__isnull=True, registered_at__lte=now - UNUSED_CLIENT_LIFETIME)
    return unused.filter(registration_source__in=[own.DCR, own.CIMD])
