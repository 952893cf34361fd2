"""What the planner is told about the data, and when."""

from __future__ import annotations

import pytest
from django.db import connection

from flashcards.models import Card
from flashcards.statistics import ROWS_WORTH_IT, refresh_statistics
from tests.factories import make_card

pytestmark = pytest.mark.django_db


def known_rows() -> int:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'flashcards_card'")
            return max(0, int(cursor.fetchone()[0]))
        cursor.execute("SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_stat1'")
        if not cursor.fetchone()[0]:
            return 0
        cursor.execute(
            "SELECT max(CAST(stat AS INTEGER)) FROM sqlite_stat1 WHERE idx = 'sqlite_autoindex_flashcards_card_1'"
        )
        return cursor.fetchone()[0] or 0


def make_cards(agent, count: int) -> None:
    Card.objects.bulk_create([Card(workspace=agent.workspace, front_text=f"{number}") for number in range(count)])


def test_the_planner_learns_of_a_large_collection(alice):
    make_cards(alice, ROWS_WORTH_IT)
    refresh_statistics()
    assert known_rows() >= ROWS_WORTH_IT


def test_a_few_cards_are_no_statistics(alice):
    before = known_rows()
    make_card(alice.workspace)
    make_cards(alice, 10)
    refresh_statistics()
    assert known_rows() == before
