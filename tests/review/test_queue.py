"""The order of the queue, on the database and as a rule."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from django.db import connection

from flashcards.models import Card
from review.queue import DueCounts, buckets, due_counts, new_cards, next_card, queue, queue_place
from review.selection import FEW_CARDS_MAX, Selection
from tests.factories import LONG_AGO, make_card

CASES = json.loads((Path(__file__).parent / "cases" / "queue.json").read_text())["cases"]
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
TIMES = {"due_at": "due_at", "last_reviewed_at": "fsrs_last_reviewed_at"}


def moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def fields_of(row: dict) -> dict:
    """A case's card as fields of the model; what is not set is left to the factory."""
    scheduled = {column: moment(row[name]) for name, column in TIMES.items() if row[name] is not None}
    return {
        "card_id": UUID(row["card_id"]),
        "front_text": row["label"],
        "fsrs_card_state": row["state"],
        "created_at": moment(row["created_at"]),
        "deleted_at": moment(row["deleted_at"]),
        "suspended": row.get("suspended", False),
        **scheduled,
    }


def labels(cards: list[Card]) -> list[str]:
    return [card.front_text for card in cards]


def in_order(cards: list[Card], *, now: datetime) -> list[Card]:
    """The queue by the rule alone."""
    placed = {queue_place(card, now=now): card for card in cards}
    return [placed[place] for place in sorted(place for place in placed if place is not None)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_rule_orders_every_case(case):
    cards = [Card(**fields_of(row)) for row in case["cards"]]
    assert labels(in_order(cards, now=moment(case["now"]))) == case["expected_order"]


@pytest.mark.parametrize("case", [case for case in CASES if not case.get("pure")], ids=lambda case: case["name"])
def test_the_database_orders_every_case(alice, case):
    for row in case["cards"]:
        make_card(alice.workspace, **fields_of(row))
    now, expected = moment(case["now"]), case["expected_order"]
    assert labels(queue(alice.workspace, now=now, limit=100)) == expected
    for limit in range(1, len(expected) + 1):
        assert labels(queue(alice.workspace, now=now, limit=limit)) == expected[:limit]


@pytest.mark.parametrize("case", [case for case in CASES if not case.get("pure")], ids=lambda case: case["name"])
def test_the_next_card_is_the_first_of_every_case_until_none_is_left(alice, case):
    for row in case["cards"]:
        make_card(alice.workspace, **fields_of(row))
    seen = []
    while card := next_card(alice.workspace, now=moment(case["now"])):
        seen.append(card.front_text)
        Card.objects.filter(pk=card.pk).update(suspended=True)
    assert seen == case["expected_order"]


def some_cards(workspace, seed: int) -> list[Card]:
    """Cards of every kind, many of them at the same times."""
    draw = random.Random(seed)
    cards = []
    for _ in range(60):
        fields = {
            "created_at": LONG_AGO + timedelta(minutes=draw.randrange(5)),
            "suspended": draw.random() < 0.1,
            "deleted_at": NOW if draw.random() < 0.1 else None,
            "tags": draw.sample(["a", "B", "c"], draw.randrange(3)),
            "fsrs_card_state": draw.choice(["new", "learning", "review", "relearning"]),
        }
        if fields["fsrs_card_state"] != "new":
            last = NOW - timedelta(minutes=draw.choice([1, 2, 59, 60, 61, 100]))
            due = {"due_at": last + timedelta(minutes=draw.randrange(1, 90))}
            fields |= {**due, "fsrs_last_reviewed_at": last}
        cards.append(make_card(workspace, **fields))
    return cards


@pytest.mark.parametrize("seed", range(4))
def test_the_database_agrees_with_the_rule(alice, bob, seed):
    cards = some_cards(alice.workspace, seed)
    some_cards(bob.workspace, seed + 100)
    expected = in_order(cards, now=NOW)
    assert queue(alice.workspace, now=NOW, limit=100) == expected
    for limit in (1, 3, 10, len(expected)):
        assert queue(alice.workspace, now=NOW, limit=limit) == expected[:limit]
    left_out = [card.card_id for card in expected[::2]]
    assert queue(alice.workspace, now=NOW, limit=100, without=left_out) == expected[1::2]
    new = [card for card in expected if card.due_at is None]
    assert new_cards(alice.workspace, limit=100) == new
    assert due_counts(alice.workspace, now=NOW) == DueCounts(due=len(expected) - len(new), new=len(new))


@pytest.mark.parametrize("few_cards_max", [FEW_CARDS_MAX, 0], ids=["few", "many"])
@pytest.mark.parametrize("tags", [("a",), ("b",), ("a", "b"), ("none",), ()], ids=str)
def test_a_selection_takes_the_same_queue_with_the_other_cards_left_out(alice, monkeypatch, tags, few_cards_max):
    monkeypatch.setattr("review.selection.FEW_CARDS_MAX", few_cards_max)
    cards = [card for card in some_cards(alice.workspace, 7) if {tag.lower() for tag in card.tags} & set(tags)]
    expected = in_order(cards, now=NOW)
    selection = Selection(tags)
    assert queue(alice.workspace, now=NOW, limit=100, selection=selection) == expected
    assert next_card(alice.workspace, now=NOW, selection=selection) == (expected[0] if expected else None)
    counts = due_counts(alice.workspace, now=NOW, selection=selection)
    assert counts.due + counts.new == len(expected)


def test_a_selection_never_reaches_into_another_workspace(alice, bob):
    make_card(alice.workspace, tags=["shared"])
    assert next_card(bob.workspace, now=NOW, selection=Selection(("shared",))) is None
    assert queue(bob.workspace, now=NOW, limit=10, selection=Selection(("shared",))) == []


def fill(workspace, count: int) -> None:
    """Cards as a long-used workspace has them: most of them due, some due later, few reviewed this hour."""
    cards = []
    for number in range(count):
        last = NOW - (timedelta(minutes=5) if number % 500 == 0 else timedelta(days=2 + number % 90))
        reviewed = {
            "fsrs_card_state": "review",
            "fsrs_last_reviewed_at": last,
            "due_at": last + timedelta(days=1 + number % 100),
            "fsrs_scheduled_days": 1,
            "fsrs_stability": 2.0,
            "fsrs_difficulty": 5.0,
            "reps": 1,
        }
        fields = {} if number % 3 == 0 else reviewed
        cards.append(Card(workspace=workspace, front_text="Front", created_at=LONG_AGO, updated_at=LONG_AGO, **fields))
    Card.objects.bulk_create(cards)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "postgresql" else "SELECT 1")


def test_each_bucket_is_read_through_its_index(alice):
    fill(alice.workspace, 3000)
    recent, due, new = (bucket[:1].explain() for bucket in buckets(Selection().cards(alice.workspace), now=NOW))
    assert "card_last_reviewed" in recent
    assert "card_queue_due" in due
    assert "card_queue_new" in new
    for plan in (due, new):
        assert "Sort" not in plan
        assert "TEMP B-TREE" not in plan


def test_the_next_card_takes_one_look_up_for_each_bucket_that_is_empty(alice, django_assert_num_queries):
    make_card(alice.workspace)
    with django_assert_num_queries(3):
        assert next_card(alice.workspace, now=NOW)
    make_card(alice.workspace, fsrs_card_state="review", due_at=NOW - timedelta(days=1))
    with django_assert_num_queries(2):
        assert next_card(alice.workspace, now=NOW)
    make_card(alice.workspace, fsrs_card_state="learning", due_at=NOW)
    with django_assert_num_queries(1):
        assert next_card(alice.workspace, now=NOW)


def test_a_list_takes_as_many_queries_for_many_cards_as_for_few(alice, django_assert_num_queries):
    for seed in (1, 2):
        some_cards(alice.workspace, seed)
        with django_assert_num_queries(3):
            queue(alice.workspace, now=NOW, limit=100)
        with django_assert_num_queries(2):
            queue(alice.workspace, now=NOW, limit=2)
