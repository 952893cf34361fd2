"""What the review page calls: ratings, skips, undo, and where its session stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from django.utils import timezone
from pydantic import Field

from accounts.auth import Principal
from flashcards.envelope import Reply, instant_or_none
from flashcards.errors import CommitOutcomeUnknown
from flashcards.operation import Call, Data, Effect, Params, UuidText, operation
from review.app.actions import Action, needed, reviewer_of, submission_of
from review.app.choice import require_app, require_ratings
from review.app.errors import (
    ReviewAppRatingsSwitchedOff,
    ReviewAppSwitchedOff,
    ReviewSessionCardNotFound,
    ReviewSessionNotFound,
)
from review.app.models import ReviewAppChoice, ReviewSession
from review.app.operations import Intervals, RatingsReason, session_data
from review.app.sessions import SessionCard, find_session, rate_card, session_cards, skip_card, undo_rating
from review.errors import (
    CardNotFound,
    CardScheduleInvalid,
    ReviewEventConflict,
    ReviewIdCardMismatch,
    ReviewInputInvalid,
    ReviewNotFound,
    ReviewNotUndoable,
    ReviewStale,
)
from review.operations import RatingWord, StateWord, TimeZoneName, review_data

ACTIONS = {
    action.name: action
    for action in (
        Action(
            "review_card",
            takes=("card_id", "review_id", "rating", "reviewed_time_zone"),
            needs=("card_id", "review_id", "rating"),
        ),
        Action("skip", takes=("card_id", "review_id"), needs=("card_id",)),
        Action("undo", takes=("card_id", "review_id"), needs=("card_id", "review_id")),
        Action("state"),
    )
}


class AppActionParams(Params):
    """What the page asks for."""

    action: Literal["review_card", "skip", "undo", "state"] = Field(description="What to do.")
    session_id: UuidText = Field(description="The session's id.")
    card_id: UuidText | None = Field(None, description="review_card, skip, undo: a card of the session.")
    review_id: UuidText | None = Field(
        None, description="review_card, undo: the reviewId that the session has for this card."
    )
    rating: RatingWord | None = Field(None, description="review_card: Again, Hard, Good or Easy.")
    reviewed_time_zone: TimeZoneName | None = Field(
        None, description="review_card: the learner's IANA time zone; by default the one of their account."
    )


class StateCard(Data):
    """Where a card of the session stands."""

    card_id: str
    review_id: str
    status: Literal["open", "rated", "skipped", "unavailable"]
    rating: RatingWord | None
    reviewed_at: str | None
    due_at: str | None
    intervals: Intervals | None


class AppActionData(Data):
    """What the actions answer, each its own part of it: none answers all of these."""

    session_id: str
    workspace_id: str
    expires_at: str
    ratings_allowed: bool
    ratings_reason: RatingsReason | None
    settings_url: str
    card: StateCard
    cards: list[StateCard]
    card_id: str
    review_id: str
    review_event_id: str
    rating: RatingWord
    reviewed_at: str
    due_at: str
    interval_seconds: int
    scheduled_days: int
    state: StateWord
    reps: int
    lapses: int


@operation(
    title="Review page action",
    params=AppActionParams,
    data=AppActionData,
    effect=Effect.DESTRUCTIVE,
    refusal=ReviewInputInvalid,
    writing_actions=("review_card", "undo"),
    errors=(
        ReviewInputInvalid,
        ReviewAppSwitchedOff,
        ReviewAppRatingsSwitchedOff,
        ReviewSessionNotFound,
        ReviewSessionCardNotFound,
        CardNotFound,
        ReviewEventConflict,
        ReviewIdCardMismatch,
        ReviewStale,
        CardScheduleInvalid,
        ReviewNotFound,
        ReviewNotUndoable,
        CommitOutcomeUnknown,
    ),
    description="For the review page alone, not for you: stores the learner's own ratings, skips, takes back the last "
    "rating, and tells the page where its session stands.",
)
def flashcard_review_app_action(call: Call[Principal], params: AppActionParams) -> Reply:
    """What the chosen action answers, for a session of the caller's own."""
    ACTIONS[params.action].check(params)
    choice = require_app(call.principal.user)
    session = find_session(params.session_id, user=call.principal.user, now=timezone.now())
    data = _RUN[params.action](call.principal, session, params, choice)
    ids = {"sessionId": str(session.session_id), "workspaceId": str(session.workspace_id)}
    return Reply({**ids, **data}, _FOR_THE_PAGE)


def _review_card(
    principal: Principal, session: ReviewSession, params: AppActionParams, choice: ReviewAppChoice
) -> dict[str, Any]:
    require_ratings(choice)
    submission, reviewer = submission_of(params, principal), reviewer_of(principal)
    return review_data(rate_card(session, submission, reviewer=reviewer, now=timezone.now()))


def _skip(
    _principal: Principal, session: ReviewSession, params: AppActionParams, _choice: ReviewAppChoice
) -> dict[str, Any]:
    skipped = skip_card(session, needed(params.card_id), review_id=params.review_id, now=timezone.now())
    return {"card": _state_card(skipped)}


def _undo(
    principal: Principal, session: ReviewSession, params: AppActionParams, choice: ReviewAppChoice
) -> dict[str, Any]:
    require_ratings(choice)
    undone = undo_rating(
        session,
        needed(params.card_id),
        review_id=needed(params.review_id),
        user=principal.user,
        now=timezone.now(),
    )
    return {"card": _state_card(undone)}


def _state(
    principal: Principal, session: ReviewSession, _params: AppActionParams, choice: ReviewAppChoice
) -> dict[str, Any]:
    cards = session_cards(session, now=timezone.now())
    return {**session_data(session, principal, choice), "cards": [_state_card(card) for card in cards]}


_RUN: Mapping[str, Callable[[Principal, ReviewSession, AppActionParams, ReviewAppChoice], dict[str, Any]]] = {
    "review_card": _review_card,
    "skip": _skip,
    "undo": _undo,
    "state": _state,
}
_FOR_THE_PAGE = "This answer is for the review page. Do not comment on it, and do not rate for the learner."


def _state_card(card: SessionCard) -> dict[str, Any]:
    return {
        "cardId": str(card.card_id),
        "reviewId": str(card.review_id),
        "status": card.status.value,
        "rating": card.rating.word if card.rating else None,
        "reviewedAt": instant_or_none(card.reviewed_at),
        "dueAt": instant_or_none(card.due_at),
        "intervals": card.intervals,
    }
