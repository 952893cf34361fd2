"""Pruning by itself: every process of the service looks now and then whether it is due, and one of them does it."""

from __future__ import annotations

import logging
import threading
import time
from datetime import datetime, timedelta

from django.db import connections
from django.utils import timezone

from flashcards.management.pruning import prune_all
from flashcards.models import Upkeep

PRUNE = "prune"
PRUNED_EVERY = timedelta(hours=1)
# A server that is only tried, or stopped again at once, is left alone.
FIRST_LOOK_SECONDS = 5.0
LOOK_EVERY_SECONDS = 600.0

logger = logging.getLogger(__name__)


def start_upkeep() -> None:
    """Look after the data from a thread of this process for as long as it lives."""
    threading.Thread(target=_keep, name="upkeep", daemon=True).start()


def _keep() -> None:
    time.sleep(FIRST_LOOK_SECONDS)
    while True:
        prune_if_due(now=timezone.now())
        time.sleep(LOOK_EVERY_SECONDS)


def prune_if_due(*, now: datetime) -> bool:
    """Prune unless some process began to within the hour; returns whether this one did. A failure is logged."""
    try:
        if not _claim(PRUNE, now=now):
            return False
        deleted = sum(count for _, count in prune_all(now=now))
    except Exception:
        # The database may be away; the thread lives on and the next hour brings the next attempt.
        logger.exception("pruning failed")
        return False
    else:
        logger.info("pruned rows=%d", deleted)
        return True
    finally:
        connections.close_all()


def _claim(task: str, *, now: datetime) -> bool:
    """Whether the task is due and this caller's to do: the row's time is moved by one of those who ask at once."""
    if Upkeep.objects.filter(task=task, began_at__lte=now - PRUNED_EVERY).update(began_at=now):
        return True
    return Upkeep.objects.get_or_create(task=task, defaults={"began_at": now})[1]
