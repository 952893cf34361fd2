"""What the fields of a card's schedule owe each other, said field by field for the author of an archive.

The same rules as the check constraints of `flashcards.models` and `review.scheduler.schedule_fault`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flashcards.models import CardState

_SCHEDULE = ("due_at", "fsrs_stability", "fsrs_difficulty", "fsrs_last_reviewed_at")
_STEPPING = (CardState.LEARNING, CardState.RELEARNING)


def schedule_faults(card: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Field and predicate for everything in the schedule of `card` that no review can have left behind."""
    state = CardState(card["fsrs_card_state"])
    if state is CardState.NEW:
        yield from _faults_of_new(card)
    else:
        yield from _faults_of_reviewed(card, state)
    if card["lapses"] > card["reps"]:
        yield "lapses", "must not be more than reps"


def _faults_of_new(card: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field in (*_SCHEDULE, "fsrs_step_index", "fsrs_scheduled_days"):
        if card[field] is not None:
            yield field, "must be null in state new"
    if card["reps"]:
        yield "reps", "must be 0 in state new"


def _faults_of_reviewed(card: Mapping[str, Any], state: CardState) -> Iterator[tuple[str, str]]:
    for field in _SCHEDULE:
        if card[field] is None:
            yield field, f"must be set in state {state}"
    yield from _faults_of_steps(card, state)
    reps_min = 2 if state is CardState.RELEARNING else 1
    if card["reps"] < reps_min:
        yield "reps", f"must be at least {reps_min} in state {state}"
    if state is CardState.RELEARNING and card["lapses"] < 1:
        yield "lapses", f"must be at least 1 in state {state}"
    due_at, last_reviewed_at = card["due_at"], card["fsrs_last_reviewed_at"]
    if due_at is not None and last_reviewed_at is not None and due_at <= last_reviewed_at:
        yield "due_at", "must be after fsrs_last_reviewed_at"


def _faults_of_steps(card: Mapping[str, Any], state: CardState) -> Iterator[tuple[str, str]]:
    step_index, scheduled_days = card["fsrs_step_index"], card["fsrs_scheduled_days"]
    if state in _STEPPING:
        if step_index is None:
            yield "fsrs_step_index", f"must be set in state {state}"
        if scheduled_days != 0:
            yield "fsrs_scheduled_days", f"must be 0 in state {state}"
        return
    if step_index is not None:
        yield "fsrs_step_index", f"must be null in state {state}"
    if not scheduled_days:
        yield "fsrs_scheduled_days", f"must be at least 1 in state {state}"
