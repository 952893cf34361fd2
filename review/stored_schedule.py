"""A schedule as a card's columns hold it, as an event keeps it, and as an answer shows it."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from flashcards.envelope import instant_or_none
from flashcards.models import Card, Workspace
from review.scheduler import ALGORITHM, Schedule, ScheduleInvalid, Settings, State

_COLUMNS = {
    "state": "fsrs_card_state",
    "step_index": "fsrs_step_index",
    "stability": "fsrs_stability",
    "difficulty": "fsrs_difficulty",
    "due_at": "due_at",
    "last_reviewed_at": "fsrs_last_reviewed_at",
    "scheduled_days": "fsrs_scheduled_days",
    "reps": "reps",
    "lapses": "lapses",
}
_TIMES = ("due_at", "last_reviewed_at")


def settings_of(workspace: Workspace) -> Settings:
    """How `workspace` schedules now."""
    return Settings(
        desired_retention=workspace.desired_retention,
        learning_steps_minutes=tuple(workspace.learning_steps_minutes),
        relearning_steps_minutes=tuple(workspace.relearning_steps_minutes),
        maximum_interval_days=workspace.maximum_interval_days,
        enable_fuzz=workspace.enable_fuzz,
    )


def schedule_of(card: Card) -> Schedule:
    """Where `card` stands, as stored; ScheduleInvalid for a state that does not exist."""
    if card.fsrs_card_state not in set(State):
        raise ScheduleInvalid("there is no such state")
    values = {name: getattr(card, column) for name, column in _COLUMNS.items()}
    return Schedule(**{**values, "state": State(card.fsrs_card_state)})


def set_schedule(card: Card, schedule: Schedule) -> list[str]:
    """Put `schedule` onto `card`, which the caller stores; returns the columns to name in `update_fields`."""
    for name, column in _COLUMNS.items():
        setattr(card, column, getattr(schedule, name))
    card.fsrs_card_state = schedule.state.value
    return list(_COLUMNS.values())


def schedule_record(schedule: Schedule) -> dict[str, Any]:
    """`schedule` as JSON, with nothing lost: times to the microsecond, numbers as they are."""
    record = asdict(schedule)
    times = {name: _written(getattr(schedule, name)) for name in _TIMES}
    return {**record, **times, "state": schedule.state.value}


def read_schedule_record(record: dict[str, Any]) -> Schedule:
    """The schedule that `schedule_record` wrote; ValueError, TypeError or KeyError for anything else."""
    times = {name: None if record[name] is None else datetime.fromisoformat(record[name]) for name in _TIMES}
    return Schedule(**{**record, **times, "state": State(record["state"])})


def settings_record(settings: Settings) -> dict[str, Any]:
    """`settings` as JSON, under the names of the workspace's columns."""
    steps = {
        "learning_steps_minutes": list(settings.learning_steps_minutes),
        "relearning_steps_minutes": list(settings.relearning_steps_minutes),
    }
    return {"algorithm": ALGORITHM, **asdict(settings), **steps}


def schedule_data(card: Card) -> dict[str, Any]:
    """The schedule of `card` as answers show it, as stored: nothing is checked or computed but the interval."""
    due_at, last = card.due_at, card.fsrs_last_reviewed_at
    return {
        "cardId": str(card.card_id),
        "dueAt": instant_or_none(due_at),
        "intervalSeconds": None if due_at is None or last is None else int((due_at - last).total_seconds()),
        "scheduledDays": card.fsrs_scheduled_days,
        "state": card.fsrs_card_state,
        "reps": card.reps,
        "lapses": card.lapses,
    }


def _written(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
