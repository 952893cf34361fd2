"""Whole rows, to tell whether a call left everything as it was."""

from __future__ import annotations

from typing import Any

from django.db import connection

from accounts.models import ApiKey, Membership, User
from flashcards.models import Card, CardTag, Deck, Workspace
from review.models import ReviewEvent

MODELS = (User, Workspace, Membership, ApiKey, Card, CardTag, Deck, ReviewEvent)


def every_row() -> dict[str, list[dict[str, Any]]]:
    """All columns of all rows, but for the time when a key was last used."""
    return {
        model.__name__: [
            {name: value for name, value in row.items() if name != "last_used_at"}
            for row in model._default_manager.order_by("pk").values()
        ]
        for model in MODELS
    }


def drop_schedule_constraints() -> None:
    """Let the rest of this test store schedules that contradict themselves."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = ON")
            return
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for name in ("card_schedule_of_state", "card_stability", "card_difficulty", "card_lapses"):
            cursor.execute(f"ALTER TABLE flashcards_card DROP CONSTRAINT {name}")


def restore_schedule_constraints() -> None:
    """Undo `drop_schedule_constraints` where the test's rollback does not."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA ignore_check_constraints = OFF")
