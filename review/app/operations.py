"""The launcher of the review session, which carries the page."""

from __future__ import annotations

from typing import Any, Literal

from django.utils import timezone
from pydantic import Field, field_validator

from accounts.auth import Principal
from flashcards.content import is_blank, refuse_unstorable
from flashcards.envelope import Reply, instant
from flashcards.errors import CommitOutcomeUnknown
from flashcards.operation import Call, Data, Effect, Params, Scope, UuidText, operation
from review.app.arguments import OptionalDeckId
from review.app.choice import require_app, settings_url
from review.app.errors import CandidateTokenInvalid, ReviewAppSwitchedOff, ReviewSessionEmpty
from review.app.models import ReviewAppChoice, ReviewSession
from review.app.sessions import OpenedCard, OpenedSession, omitted_data, open_session
from review.app.wording import CANDIDATE_RULES, PRESENTATION_MODE, language_of, model_instruction
from review.errors import ReviewInputInvalid

SESSION_CARDS_MAX = 20
REASON_LENGTH_MAX = 1000
RatingsReason = Literal["read_only_connection", "switched_off"]


class ChosenCard(Params):
    """One card to review."""

    card_id: UuidText = Field(description="A cardId of that answer.")
    deck_id: OptionalDeckId = Field(None, description="Left aside: a card has no one deck here.")


class SessionParams(Params):
    """The cards of a round, and why these."""

    candidate_token: str = Field(description="The candidateToken of flashcard list_cards, unchanged.")
    cards: list[ChosenCard] = Field(
        min_length=1,
        max_length=SESSION_CARDS_MAX,
        description="1 to 20 cards of that answer, in the order to review them.",
    )
    selection_reason: str = Field(
        max_length=REASON_LENGTH_MAX,
        description="Why these cards in this order, in a sentence for the learner; at most 1,000 characters.",
    )

    @field_validator("selection_reason")
    @classmethod
    def _not_blank(cls, reason: str) -> str:
        refuse_unstorable(reason)
        if is_blank(reason):
            raise ValueError("must not be blank")
        return reason.strip()


class Intervals(Data):
    """Seconds until the card would come back, by rating."""

    again: int = Field(alias="Again")
    hard: int = Field(alias="Hard")
    good: int = Field(alias="Good")
    easy: int = Field(alias="Easy")


class OmittedCard(Data):
    """A chosen card that is not in the session."""

    card_id: str
    reason: Literal["not_in_candidates", "unavailable", "content_unavailable"]


class PageCard(Data):
    """A card as the page shows it."""

    card_id: str
    review_id: str
    front_text: str
    back_text: str
    front_html: str
    back_html: str | None
    tags: list[str]
    intervals: Intervals | None


class SessionData(Data):
    """What the page opens with."""

    workspace_id: str
    session_id: str
    expires_at: str
    language: Literal["en", "zh", "ru"]
    ratings_allowed: bool
    ratings_reason: RatingsReason | None
    settings_url: str
    selection_reason: str
    requested_count: int
    selected_count: int
    duplicate_count: int
    omitted_cards: list[OmittedCard]
    cards: list[PageCard]
    presentation_mode: str
    message: str
    model_instruction: str


@operation(
    title="Open a review session",
    params=SessionParams,
    data=SessionData,
    effect=Effect.READ,
    refusal=ReviewInputInvalid,
    errors=(ReviewInputInvalid, ReviewAppSwitchedOff, CandidateTokenInvalid, ReviewSessionEmpty, CommitOutcomeUnknown),
    description="Opens a review of cards that flashcard offered, as a page inside the conversation, where the learner "
    "reveals answers and rates. First call flashcard with action list_cards, scope all and filter due. "
    f"{CANDIDATE_RULES} Then follow modelInstruction: answer only with the hand-off sentence. Do not start the first "
    "question in the chat, repeat cards, ask for answers, rate, or call a review tool, until the person asks for chat "
    "review or uses the page's own hand-off.",
)
def flashcard_review_session(call: Call[Principal], params: SessionParams) -> Reply:
    """The session, with its cards for the page, and the hand-off for the model."""
    principal = call.principal
    choice = require_app(principal.user)
    opened = open_session(
        params.candidate_token, [card.card_id for card in params.cards], user=principal.user, now=timezone.now()
    )
    language = language_of(principal.user.locale)
    hand_off = {"presentationMode": PRESENTATION_MODE, "modelInstruction": model_instruction(language)}
    data = {
        **session_data(opened.session, principal, choice),
        "language": language,
        "selectionReason": params.selection_reason,
        "requestedCount": opened.requested_count,
        "selectedCount": len(opened.cards),
        "duplicateCount": opened.duplicate_count,
        "omittedCards": omitted_data(opened.omitted),
        "cards": [_page_card(card) for card in opened.cards],
        "message": _message(opened),
        **hand_off,
    }
    return Reply(data, hand_off["modelInstruction"], beside=hand_off)


def session_data(session: ReviewSession, principal: Principal, choice: ReviewAppChoice) -> dict[str, Any]:
    """What the page knows of its session beside the cards, now and for this caller."""
    reason = _ratings_reason(principal, choice)
    return {
        "sessionId": str(session.session_id),
        "workspaceId": str(session.workspace_id),
        "expiresAt": instant(session.expires_at),
        "ratingsAllowed": reason is None,
        "ratingsReason": reason,
        "settingsUrl": settings_url(),
    }


def _ratings_reason(principal: Principal, choice: ReviewAppChoice) -> RatingsReason | None:
    if not principal.allows(Scope.ALL):
        return "read_only_connection"
    return None if choice.may_rate else "switched_off"


def _page_card(opened: OpenedCard) -> dict[str, Any]:
    card = opened.card
    return {
        "cardId": str(card.card_id),
        "reviewId": str(opened.review_id),
        "frontText": card.front_text,
        "backText": card.back_text,
        "frontHtml": opened.front_html,
        "backHtml": opened.back_html,
        "tags": card.tags,
        "intervals": opened.intervals,
    }


def _message(opened: OpenedSession) -> str:
    count, left_out = len(opened.cards), len(opened.omitted)
    cards = f"{count} card{'' if count == 1 else 's'}"
    return f"The review is open with {cards}." + (f" {left_out} of the chosen cards were left out." if left_out else "")
