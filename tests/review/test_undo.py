"""Taking back a rating."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from flashcards.errors import AppError
from flashcards.models import Card, whole_milliseconds
from review.errors import CardNotFound, ReviewEventConflict, ReviewNotFound, ReviewNotUndoable
from review.models import ReviewEvent
from review.scheduler import Rating
from review.services import Reviewed, Reviewer, Submission, submit_review, undo_review
from review.stored_schedule import schedule_of
from tests.agent import Agent
from tests.factories import make_card, make_review_event
from tests.review.rows import every_row

NOW = datetime(2026, 3, 8, 9, 0, 0, 123456, tzinfo=UTC)


def rate(
    agent: Agent, card: Card, rating: Rating = Rating.GOOD, *, review_id: UUID | None = None, at: datetime
) -> UUID:
    """The reviewId of a stored review."""
    review_id = review_id or uuid4()
    reviewer = Reviewer(agent.user.pk, agent.user.api_keys.get().pk)
    submit_review(Submission(card.pk, review_id, rating, "UTC"), workspace=agent.workspace, reviewer=reviewer, now=at)
    return review_id


def undo(agent: Agent, card: Card, review_id: UUID, *, at: datetime, **changes: Any) -> Reviewed:
    """Undo by the agent's user in the agent's workspace, but for `changes`."""
    who = {"workspace": agent.workspace, "user_id": agent.user.pk, **changes}
    return undo_review(card_id=card.pk, review_id=review_id, now=at, **who)


def refusal_of(agent: Agent, card: Card, review_id: UUID, *, at: datetime, **changes: Any) -> AppError:
    """The refusal of an undo, which must have left every row as it was."""
    before = every_row()
    with pytest.raises(AppError) as refused:
        undo(agent, card, review_id, at=at, **changes)
    assert every_row() == before
    return refused.value


def stored(card: Card) -> Card:
    """The card as the database has it."""
    return Card.objects.get(pk=card.pk)


@pytest.mark.parametrize("state", ["new", "learning", "review", "relearning"])
@pytest.mark.parametrize("rating", list(Rating))
def test_undo_restores_the_schedule_exactly_and_marks_the_event(alice: Agent, state: str, rating: Rating) -> None:
    due_at = NOW - timedelta(days=3, microseconds=7)
    scheduled = {} if state == "new" else {"due_at": due_at, "fsrs_stability": 1 / 3}
    card = make_card(alice.workspace, fsrs_card_state=state, **scheduled)
    before = every_row()
    review_id = rate(alice, card, rating, at=NOW)
    reviewed = undo(alice, card, review_id, at=NOW + timedelta(minutes=1))
    event = ReviewEvent.objects.get()
    after = every_row()
    assert after["Card"] == before["Card"]
    assert {**after, "ReviewEvent": []} == {**before, "ReviewEvent": []}
    assert event.undone_at == whole_milliseconds(NOW + timedelta(minutes=1))
    assert reviewed.event == event
    assert schedule_of(reviewed.card) == schedule_of(stored(card))


def test_undo_twice_is_undo_once(alice: Agent) -> None:
    card = make_card(alice.workspace)
    review_id = rate(alice, card, at=NOW)
    undo(alice, card, review_id, at=NOW + timedelta(minutes=1))
    before = every_row()
    undo(alice, card, review_id, at=NOW + timedelta(hours=5))
    assert every_row() == before


def test_repeating_an_undo_leaves_a_later_review_alone(alice: Agent) -> None:
    card = make_card(alice.workspace)
    review_id = rate(alice, card, at=NOW)
    undo(alice, card, review_id, at=NOW + timedelta(minutes=1))
    rate(alice, card, Rating.EASY, at=NOW + timedelta(minutes=2))
    before = every_row()
    undo(alice, card, review_id, at=NOW + timedelta(minutes=3))
    assert every_row() == before


def test_ratings_are_taken_back_one_by_one_from_the_newest(alice: Agent) -> None:
    card = make_card(alice.workspace)
    first = rate(alice, card, at=NOW)
    between = schedule_of(stored(card))
    second = rate(alice, card, at=NOW + timedelta(minutes=1))
    error = refusal_of(alice, card, first, at=NOW + timedelta(minutes=2))
    assert isinstance(error, ReviewNotUndoable)
    assert "reviewed again" in error.message
    undo(alice, card, second, at=NOW + timedelta(minutes=2))
    assert schedule_of(stored(card)) == between
    undo(alice, card, first, at=NOW + timedelta(minutes=2))
    assert stored(card).fsrs_card_state == "new"


def test_undo_is_possible_for_ten_minutes(alice: Agent) -> None:
    card = make_card(alice.workspace)
    review_id = rate(alice, card, at=NOW)
    reviewed_at = whole_milliseconds(NOW)
    error = refusal_of(alice, card, review_id, at=reviewed_at + timedelta(minutes=10, milliseconds=1))
    assert isinstance(error, ReviewNotUndoable)
    assert "ten minutes" in error.message
    undo(alice, card, review_id, at=reviewed_at + timedelta(minutes=10))
    assert stored(card).reps == 0


def test_a_used_review_id_stays_used_after_undo(alice: Agent) -> None:
    card = make_card(alice.workspace)
    review_id = rate(alice, card, at=NOW)
    undo(alice, card, review_id, at=NOW + timedelta(minutes=1))
    with pytest.raises(ReviewEventConflict) as refused:
        rate(alice, card, review_id=review_id, at=NOW + timedelta(minutes=2))
    assert refused.value.details["reviewSchedule"] == {
        "cardId": str(card.pk),
        "dueAt": None,
        "intervalSeconds": None,
        "scheduledDays": None,
        "state": "new",
        "reps": 0,
        "lapses": 0,
    }
    for surface in (refused.value.instructions.rest, refused.value.instructions.mcp):
        assert "new reviewId" in surface
        assert "is recorded" not in surface
    rate(alice, card, at=NOW + timedelta(minutes=2))
    assert stored(card).reps == 1


def test_a_card_is_fuzzed_alike_when_it_is_rated_again_after_undo(alice: Agent) -> None:
    card = make_card(alice.workspace, fsrs_card_state="review", due_at=NOW - timedelta(days=30), fsrs_stability=30.0)
    review_id = rate(alice, card, at=NOW)
    days = stored(card).fsrs_scheduled_days
    undo(alice, card, review_id, at=NOW + timedelta(seconds=1))
    rate(alice, card, at=NOW + timedelta(seconds=2))
    assert stored(card).fsrs_scheduled_days == days


def test_another_user_cannot_undo_even_in_a_shared_workspace(alice: Agent, bob: Agent) -> None:
    alice.workspace.memberships.create(user=bob.user)
    card = make_card(alice.workspace)
    review_id = rate(alice, card, at=NOW)
    error = refusal_of(alice, card, review_id, at=NOW + timedelta(minutes=1), user_id=bob.user.pk)
    assert isinstance(error, ReviewNotUndoable)


def test_bob_is_refused_alices_review_with_the_answer_of_one_that_does_not_exist(alice: Agent, bob: Agent) -> None:
    card = make_card(alice.workspace)
    review_id = rate(alice, card, at=NOW)
    foreign = refusal_of(bob, card, review_id, at=NOW)
    unknown = refusal_of(bob, Card(card_id=uuid4()), uuid4(), at=NOW)
    assert isinstance(foreign, CardNotFound)
    assert (type(foreign), foreign.message, foreign.details) == (type(unknown), unknown.message, unknown.details)


def test_an_unknown_review_and_one_of_another_card_are_not_found(alice: Agent) -> None:
    card, other = make_card(alice.workspace), make_card(alice.workspace)
    review_id = rate(alice, other, at=NOW)
    assert isinstance(refusal_of(alice, card, uuid4(), at=NOW), ReviewNotFound)
    assert isinstance(refusal_of(alice, card, review_id, at=NOW), ReviewNotFound)


def test_a_deleted_cards_review_stands(alice: Agent) -> None:
    card = make_card(alice.workspace)
    review_id = rate(alice, card, at=NOW)
    Card.objects.filter(pk=card.pk).update(deleted_at=NOW)
    assert isinstance(refusal_of(alice, card, review_id, at=NOW + timedelta(minutes=1)), CardNotFound)


def test_a_schedule_that_something_else_changed_is_not_overwritten(alice: Agent) -> None:
    card = make_card(alice.workspace)
    review_id = rate(alice, card, at=NOW)
    Card.objects.filter(pk=card.pk).update(due_at=NOW + timedelta(days=3))
    error = refusal_of(alice, card, review_id, at=NOW + timedelta(minutes=1))
    assert isinstance(error, ReviewNotUndoable)
    assert "changed since" in error.message


def test_an_imported_review_stands(alice: Agent) -> None:
    card = make_card(alice.workspace)
    review_id = uuid4()
    make_review_event(card, client_event_id=str(review_id), reviewed_at_server=NOW)
    assert isinstance(refusal_of(alice, card, review_id, at=NOW), ReviewNotUndoable)
