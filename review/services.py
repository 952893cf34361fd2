"""Submit and undo: what changes a card's schedule, under the card's lock, in one transaction."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from flashcards.errors import Advice
from flashcards.models import Card, Workspace, whole_milliseconds
from flashcards.outcome import committed
from review.errors import (
    CardNotFound,
    CardScheduleInvalid,
    ReviewEventConflict,
    ReviewIdCardMismatch,
    ReviewNotFound,
    ReviewNotUndoable,
    ReviewStale,
)
from review.models import ReviewEvent
from review.scheduler import (
    SCHEDULER_VERSION,
    NotAfterLastReview,
    Rating,
    Schedule,
    ScheduleInvalid,
    preview,
    review_card,
)
from review.stored_schedule import (
    read_schedule_record,
    schedule_data,
    schedule_of,
    schedule_record,
    set_schedule,
    settings_of,
    settings_record,
)

log = logging.getLogger(__name__)

UNDO_WINDOW = timedelta(minutes=10)
_AFTER_UNDO = Advice(
    rest="Nothing was stored: this reviewId recorded a review that was undone. To rate the card again, send the "
    "learner's rating with a new reviewId.",
    mcp="Nothing was stored: this reviewId recorded a review that was undone. To rate the card again, submit the "
    "learner's rating with a new reviewId.",
)


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who rates: the user, and the connection they use (on web pages the user's own id stands for it)."""

    user_id: UUID
    replica_id: UUID


@dataclass(frozen=True, slots=True)
class Submission:
    """One rating as it comes in."""

    card_id: UUID
    review_id: UUID
    rating: Rating
    reviewed_time_zone: str


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A review as stored, and the card with the schedule that it has now."""

    event: ReviewEvent
    card: Card


def find_card(workspace: Workspace, card_id: UUID) -> Card:
    """The live card of that id, suspended or not; raises CardNotFound."""
    return _found(Card.objects.in_workspace(workspace).live().filter(card_id=card_id).first())


def preview_ratings(card: Card, *, workspace: Workspace, now: datetime) -> Mapping[Rating, Schedule]:
    """What each rating would lead to now: what a submit at `now` would store. Raises as a submit does."""
    with _faults_translated(card):
        return preview(card.card_id, schedule_of(card), at=now, settings=settings_of(workspace))


def submit_review(submission: Submission, *, workspace: Workspace, reviewer: Reviewer, now: datetime) -> Reviewed:
    """Store one rating and the card's new schedule; whatever happens twice under one reviewId is stored once.

    Raises CardNotFound, ReviewEventConflict, ReviewIdCardMismatch, ReviewStale, CardScheduleInvalid, or
    CommitOutcomeUnknown.
    """
    try:
        with committed():
            return _store_review(submission, workspace=workspace, reviewer=reviewer, now=now)
    except IntegrityError:
        # The same reviewId for another card, at the same instant: the lock is each card's own, so only the unique
        # constraint sees both. What it kept out is rolled back; what it kept is what the caller is told.
        _refuse_used_review_id(submission, workspace=workspace)
        raise


def _store_review(submission: Submission, *, workspace: Workspace, reviewer: Reviewer, now: datetime) -> Reviewed:
    card = _locked_card(workspace, submission.card_id)
    _refuse_used_review_id(submission, workspace=workspace, card=card)
    settings = settings_of(workspace)
    with _faults_translated(card):
        before = schedule_of(card)
        after = review_card(card.card_id, before, submission.rating, at=now, settings=settings)
    event = ReviewEvent(
        workspace=workspace,
        replica_id=reviewer.replica_id,
        reviewed_by=reviewer.user_id,
        settings=settings_record(settings),
        scheduler_version=SCHEDULER_VERSION,
        **_asked(submission),
        **_scheduled(before, after, at=whole_milliseconds(now)),
    )
    event.save(force_insert=True)
    card.save(update_fields=set_schedule(card, after))
    return Reviewed(event, card)


def _asked(submission: Submission) -> dict[str, Any]:
    return {
        "card_id": submission.card_id,
        "client_event_id": str(submission.review_id),
        "rating": submission.rating.stored,
        "reviewed_time_zone": submission.reviewed_time_zone,
    }


def _scheduled(before: Schedule, after: Schedule, *, at: datetime) -> dict[str, Any]:
    return {
        "reviewed_at_client": at,
        "reviewed_at_server": at,
        "state_before": before.state.value,
        "scheduled_days": after.scheduled_days,
        "elapsed_days": before.elapsed_days(at=at),
        "schedule_before": schedule_record(before),
        "schedule_after": schedule_record(after),
    }


def _found(card: Card | None) -> Card:
    if card is None:
        raise CardNotFound("There is no such card in this workspace.")
    return card


def _locked_card(workspace: Workspace, card_id: UUID) -> Card:
    # SQLite has no row locks and ignores the clause; there the transaction itself began as the only writer.
    return _found(Card.objects.in_workspace(workspace).live().select_for_update().filter(card_id=card_id).first())


def _refuse_used_review_id(submission: Submission, *, workspace: Workspace, card: Card | None = None) -> None:
    event = ReviewEvent.objects.of_review_id(workspace, submission.review_id)
    if event is None:
        return
    if event.card_id != submission.card_id:
        raise ReviewIdCardMismatch("This reviewId was used for a review of another card.")
    card = card or find_card(workspace, submission.card_id)
    undone = event.undone_at is not None
    raise ReviewEventConflict(
        f"This reviewId already recorded a review of this card{', which was undone' if undone else ''}.",
        details={"reviewSchedule": schedule_data(card)},
        instructions=_AFTER_UNDO if undone else None,
    )


@contextmanager
def _faults_translated(card: Card) -> Iterator[None]:
    try:
        yield
    except NotAfterLastReview:
        raise ReviewStale("The card was already reviewed at this moment or later.") from None
    except ScheduleInvalid as fault:
        raise _broken(card, fault) from None


def _broken(card: Card, fault: ScheduleInvalid) -> CardScheduleInvalid:
    log.error("card %s has a broken schedule: %s", card.card_id, fault)
    return CardScheduleInvalid("The stored schedule of this card is broken.")


def undo_review(*, workspace: Workspace, card_id: UUID, review_id: UUID, user_id: UUID, now: datetime) -> Reviewed:
    """Take back the newest review of a card: its earlier schedule comes back and the event is marked undone.

    No row is added or removed, and the reviewId stays used. Repeating it changes nothing and succeeds. Raises
    CardNotFound, ReviewNotFound, ReviewNotUndoable, or CommitOutcomeUnknown.
    """
    with committed():
        card = _locked_card(workspace, card_id)
        event = ReviewEvent.objects.of_review_id(workspace, review_id)
        if event is None or event.card_id != card.card_id:
            raise ReviewNotFound("There is no such review of this card.")
        if event.reviewed_by != user_id:
            raise ReviewNotUndoable("Another user gave this rating.")
        if event.undone_at is None:
            _restore(card, event, now=now)
        return Reviewed(event, card)


def _restore(card: Card, event: ReviewEvent, *, now: datetime) -> None:
    if now - event.reviewed_at_server > UNDO_WINDOW:
        raise ReviewNotUndoable("The rating is older than ten minutes.")
    newest = ReviewEvent.objects.newest_standing(card)
    if newest is None or newest.pk != event.pk or event.schedule_before is None:
        raise ReviewNotUndoable("The card was reviewed again since.")
    if event.schedule_after != schedule_record(schedule_of(card)):
        raise ReviewNotUndoable("The card's schedule was changed since.")
    event.undone_at = whole_milliseconds(now)
    event.save(update_fields=["undone_at"])
    card.save(update_fields=set_schedule(card, read_schedule_record(event.schedule_before)))
