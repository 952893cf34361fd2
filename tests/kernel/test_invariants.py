"""What the database itself refuses, whoever writes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from flashcards.models import Card, CardTag
from tests.agent import Agent
from tests.factories import LONG_AGO, make_card, make_review_event

REVIEWED = {"fsrs_card_state": "review"}


@pytest.mark.parametrize(
    "fields",
    [
        {"reps": 1},
        {"due_at": LONG_AGO},
        {"fsrs_card_state": "studying"},
        {"card_type": "essay"},
        {**REVIEWED, "fsrs_scheduled_days": 0},
        {**REVIEWED, "fsrs_scheduled_days": 36501},
        {**REVIEWED, "fsrs_scheduled_days": None},
        {**REVIEWED, "fsrs_step_index": 0},
        {**REVIEWED, "reps": 0, "lapses": 0},
        {**REVIEWED, "reps": 1, "lapses": 2},
        {**REVIEWED, "fsrs_stability": 0.0001},
        {**REVIEWED, "fsrs_stability": None},
        {**REVIEWED, "fsrs_difficulty": 10.5},
        {**REVIEWED, "fsrs_last_reviewed_at": LONG_AGO + timedelta(days=10)},
        {"fsrs_card_state": "learning", "fsrs_step_index": None},
        {"fsrs_card_state": "learning", "fsrs_scheduled_days": 1},
        {"fsrs_card_state": "relearning", "reps": 1},
        {"fsrs_card_state": "relearning", "lapses": 0},
    ],
)
def test_a_schedule_that_contradicts_itself_is_not_stored(alice: Agent, fields: dict) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make_card(alice.workspace, **fields)
    assert not Card.objects.exists()


@pytest.mark.parametrize("state", ["new", "learning", "review", "relearning"])
def test_a_sound_schedule_of_each_state_is_stored(alice: Agent, state: str) -> None:
    assert make_card(alice.workspace, fsrs_card_state=state).pk


def test_a_review_id_is_stored_once_in_a_workspace(alice: Agent, bob: Agent) -> None:
    make_review_event(make_card(alice.workspace), client_event_id="one")
    make_review_event(make_card(bob.workspace), client_event_id="one")
    with pytest.raises(IntegrityError), transaction.atomic():
        make_review_event(make_card(alice.workspace), client_event_id="one")


@pytest.mark.parametrize("fields", [{"desired_retention": 0.5}, {"maximum_interval_days": 0}, {"algorithm": "sm-2"}])
def test_a_workspace_setting_out_of_range_is_not_stored(alice: Agent, fields: dict) -> None:
    for name, value in fields.items():
        setattr(alice.workspace, name, value)
    with pytest.raises(IntegrityError), transaction.atomic():
        alice.workspace.save()


def test_tag_rows_follow_the_cards_tags_and_leave_with_it(alice: Agent) -> None:
    card = make_card(alice.workspace, tags=["Geo", "new york"])
    rows = CardTag.objects.in_workspace(alice.workspace).order_by("position")
    assert list(rows.values_list("tag", "folded")) == [("Geo", "geo"), ("new york", "new york")]
    card.tags = ["new york"]
    CardTag.objects.sync([card])
    assert list(rows.values_list("tag", flat=True)) == ["new york"]
    card.deleted_at = LONG_AGO
    CardTag.objects.sync([card])
    assert not rows.exists()
