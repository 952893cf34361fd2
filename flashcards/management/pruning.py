"""Everything that is deleted once it has no effect any more: each app's prune service, in one list."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol

from django.contrib.sessions.models import Session

from accounts.login import prune_login
from accounts.oauth.pruning import prune_oauth
from flashcards.statistics import refresh_statistics
from review.app.pruning import prune_review_app


class Prune(Protocol):
    """A service that deletes what nobody can use any more and returns how many rows that were."""

    def __call__(self, *, now: datetime) -> int: ...


def prune_sessions(*, now: datetime) -> int:
    """Delete the sessions of people who signed in to the pages and stayed away; returns how many."""
    return Session.objects.filter(expire_date__lt=now).delete()[0]


PRUNES: dict[str, Prune] = {
    "sign-in codes and requests": prune_login,
    "sessions of people": prune_sessions,
    "offers and sessions of the review app": prune_review_app,
    "apps nobody let in, connections that ended": prune_oauth,
}


def prune_all(*, now: datetime) -> Iterator[tuple[str, int]]:
    """Run every service; its name and how many rows it deleted, as each is done. Then count what is left."""
    for name, prune in PRUNES.items():
        yield name, prune(now=now)
    refresh_statistics()
