"""The benchmark measures right answers: its data is what it says, and each operation says what it must."""

from __future__ import annotations

import io
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from django.utils import timezone

from bench.bare import QUERIES
from bench.dataset import NOTHING_DUE_WITHIN, TAG_OF_A_HUNDRED, Facts, write_archive
from bench.plans import plan_of, statements_of
from bench.workload import CLEAN_UP, PAGE, WORK, values_of
from review.archive import import_archive
from tests.agent import Agent

SIZE = 1000


def invented(size: int = SIZE, now: datetime | None = None) -> tuple[str, Facts]:
    file = io.StringIO()
    facts = write_archive(file, size=size, now=now or timezone.now())
    return file.getvalue(), facts


def test_the_same_size_gives_the_same_data():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert invented(200, now) == invented(200, now)


def test_the_data_has_the_shape_that_it_says():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    text, facts = invented(now=now)
    document = json.loads(text)
    cards = document["cards"]
    states = Counter(card.get("fsrs_card_state", "new") for card in cards)
    assert states == {"new": 300, "review": 500, "learning": 200}
    assert len(document["review_events"]) == facts.events == 5 * SIZE
    assert sum(TAG_OF_A_HUNDRED in card["tags"] for card in cards) == 100
    assert {len(set(card["tags"])) for card in cards} == {3}
    assert (facts.common, facts.rare, facts.phrase) == (25, 5, 5)
    due = [datetime.fromisoformat(card["due_at"]) for card in cards if "due_at" in card]
    assert not [moment for moment in due if now <= moment < now + NOTHING_DUE_WITHIN]
    assert sum(moment < now for moment in due) == facts.due
    reviewed = [datetime.fromisoformat(card["fsrs_last_reviewed_at"]) for card in cards if "due_at" in card]
    assert max(reviewed) < now
    assert any(moment > now - timedelta(hours=1) for moment in reviewed)


@pytest.fixture
def loaded(alice: Agent) -> Facts:
    text, facts = invented()
    import_archive(io.BytesIO(text.encode()), email=alice.user.email, now=timezone.now())
    return facts


def test_every_operation_gets_the_answer_that_the_data_holds(alice: Agent, loaded: Facts):
    for work in WORK:
        for values in islice(values_of(loaded), 2):
            data = alice.post(work.path, work.body(values)).data
            assert work.is_right(data, loaded), work.name
            if work.leaves:
                cleaned = alice.sql(CLEAN_UP, loaded.workspace_id)
                assert cleaned.data["affectedCount"] == 100


def test_the_yardstick_finds_what_the_data_holds(alice: Agent, loaded: Facts):
    values = next(values_of(loaded))
    found = {work.name: QUERIES[work.name](values) for work in WORK}
    assert found["q6"] == loaded.due
    counts = {name: len(found[name]) for name in ("q1", "q2", "q3", "q3r", "q4", "q5", "q7")}
    expected = {"q2": loaded.two_tags, "q3": loaded.common, "q3r": loaded.rare, "q4": loaded.phrase, "q7": PAGE}
    assert counts == {"q1": 1, "q5": 100} | {name: min(PAGE, count) for name, count in expected.items()}
    assert (found["q8"], found["q9"], found["q10"], bool(found["q11"])) == (100, 1, 100, True)


def test_the_statements_behind_each_request_are_shown_with_their_plans(alice: Agent, loaded: Facts):
    values = next(values_of(loaded))
    for work in WORK[1:]:
        statements = statements_of(work, values, alice.key)
        assert statements, work.name
        assert all(list(plan_of(sql)) for sql in statements)
    assert alice.sql("SELECT COUNT(*) AS n FROM cards", loaded.workspace_id).data["rows"] == [{"n": SIZE}]
