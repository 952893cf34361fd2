"""How often a sign-in code may be asked for: per e-mail address and per IP address, right under parallel requests.

The counters are the rows of `SendLog`; the windows are settings. To look and then to write is a race, so whoever counts
holds `hold_names` for the addresses concerned until their transaction ends.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Max, QuerySet

from accounts.models import SendLog
from flashcards.configuration import Window
from flashcards.errors import RateLimited


def hold_names(*names: str) -> None:
    """Wait until no other transaction holds one of `names`, then hold them until this transaction ends.

    PostgreSQL: transaction-level advisory locks on a hash of each name (two names of one hash merely wait for each
    other), taken in one order so that nobody deadlocks; nothing is stored and nothing needs pruning. SQLite: a
    transaction begins with BEGIN IMMEDIATE, so it is the only writer already. Call it inside a transaction, before
    the first read that it is to protect.
    """
    if connection.vendor != "postgresql":
        return
    digests = (hashlib.sha256(name.encode()).digest() for name in names)
    with connection.cursor() as cursor:
        for number in sorted({int.from_bytes(digest[:8], signed=True) for digest in digests}):
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def seconds_until_free(newest_first: Sequence[datetime], windows: Sequence[Window], *, now: datetime) -> int:
    """Whole seconds until one more event fits into every window; 0 when it fits now.

    `newest_first` holds the earlier events, at least as many as the largest window counts.
    """
    waits = [
        newest_first[window.limit - 1] + timedelta(seconds=window.seconds) - now
        for window in windows
        if len(newest_first) >= window.limit
    ]
    return max(0, math.ceil(max(waits, default=timedelta()).total_seconds()))


def refuse_busy_address(client_address: str, email: str, *, now: datetime) -> None:
    """Raise RateLimited when the IP address asked too often, or for too many distinct e-mail addresses.

    Windows: LIMIT_IP_SENDS and LIMIT_IP_ADDRESSES. An e-mail address asked for before is not counted against itself.
    """
    asked = SendLog.objects.filter(client_address=client_address)
    moments = asked.order_by("-created_at").values_list("created_at", flat=True)
    others = asked.filter(created_at__gt=_start(settings.LIMIT_IP_ADDRESSES, now)).exclude(email=email)
    latest = others.values("email").annotate(latest=Max("created_at")).order_by("-latest")
    wait_seconds = max(
        seconds_until_free(_newest(moments, settings.LIMIT_IP_SENDS), settings.LIMIT_IP_SENDS, now=now),
        seconds_until_free(
            _newest(latest.values_list("latest", flat=True), settings.LIMIT_IP_ADDRESSES),
            settings.LIMIT_IP_ADDRESSES,
            now=now,
        ),
    )
    if wait_seconds:
        raise rate_limited("Too many sign-in codes were asked for from this network address.", wait_seconds)


def seconds_until_mail(email: str, *, now: datetime) -> int:
    """Seconds until another code may be mailed to `email` (LIMIT_EMAIL_SENDS); 0 when one may go now."""
    sent = SendLog.objects.filter(email=email, new_code=True).order_by("-created_at")
    moments = sent.values_list("created_at", flat=True)
    return seconds_until_free(_newest(moments, settings.LIMIT_EMAIL_SENDS), settings.LIMIT_EMAIL_SENDS, now=now)


def rate_limited(message: str, wait_seconds: int) -> RateLimited:
    """The refusal with its `Retry-After`."""
    return RateLimited(message, details={"retryAfterSeconds": wait_seconds}, headers={"Retry-After": str(wait_seconds)})


def send_log_start(*, now: datetime) -> datetime:
    """Rows of `SendLog` older than this count nowhere any more."""
    return _start((*settings.LIMIT_EMAIL_SENDS, *settings.LIMIT_IP_SENDS, *settings.LIMIT_IP_ADDRESSES), now)


def _start(windows: Sequence[Window], now: datetime) -> datetime:
    return now - timedelta(seconds=max(window.seconds for window in windows))


def _newest(moments: QuerySet[Any, datetime], windows: Sequence[Window]) -> Sequence[datetime]:
    return list(moments[: max(window.limit for window in windows)])
