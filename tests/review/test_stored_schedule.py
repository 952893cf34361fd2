"""Schedules on cards and in the records of events."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta

import pytest

from flashcards.models import Card
from review.scheduler import NEW, Schedule, Settings, State
from review.stored_schedule import (
    read_schedule_record,
    schedule_of,
    schedule_record,
    set_schedule,
    settings_of,
    settings_record,
)
from tests.factories import make_card

AT = datetime(2026, 3, 8, 9, 0, 0, 123456, tzinfo=UTC)
SCHEDULES = [
    NEW,
    Schedule(State.LEARNING, 1, 0.212, 6.4133, AT + timedelta(minutes=1), AT, 0, reps=1),
    Schedule(State.REVIEW, None, 1 / 3, 10.0, AT + timedelta(days=1), AT, 1, reps=9, lapses=2),
    Schedule(State.RELEARNING, 0, 1e9, 1.0, AT + timedelta(minutes=10), AT, 0, reps=2, lapses=1),
]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda schedule: schedule.state)
def test_a_schedule_comes_back_from_its_record_whole(schedule):
    record = schedule_record(schedule)
    assert set(record) == {field.name for field in fields(Schedule)}
    assert read_schedule_record(record) == schedule


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda schedule: schedule.state)
def test_a_schedule_comes_back_from_the_database_whole(alice, schedule):
    card = make_card(alice.workspace)
    card.save(update_fields=set_schedule(card, schedule))
    assert schedule_of(Card.objects.get(pk=card.pk)) == schedule


def test_the_settings_of_a_workspace_are_recorded_under_its_column_names(alice):
    assert settings_of(alice.workspace) == Settings()
    assert settings_record(Settings()) == {
        "algorithm": "fsrs-6",
        "desired_retention": 0.9,
        "learning_steps_minutes": [1, 10],
        "relearning_steps_minutes": [10],
        "maximum_interval_days": 36500,
        "enable_fuzz": True,
    }
