"""Refusals of the review loop."""

from __future__ import annotations

from flashcards.errors import Advice, AppError, InputRefused


class ReviewInputInvalid(InputRefused):
    """A missing, malformed or unknown argument, both filters at once, or a tag that no card uses."""

    code = "REVIEW_INPUT_INVALID"
    advice = Advice(
        rest="Nothing was stored. Correct the request as error.details.validationIssues says and send it again.",
        mcp="Nothing was stored. Correct the arguments as error.details.validationIssues says and call the tool again.",
    )


class CardNotFound(AppError):
    """No live card of that id in the workspace; the same answer for a foreign, a deleted and an unknown one."""

    code = "CARD_NOT_FOUND"
    status = 404
    advice = Advice(
        rest="Nothing was stored. Take a cardId from POST /v1/agent/reviews/next, and send the workspaceId that it "
        "answered with.",
        mcp="Nothing was stored. Take a cardId from next_review_card, and pass the workspaceId that it answered with.",
    )


class DeckNotFound(AppError):
    """No live deck of that id in the workspace; the same answer for a foreign, a deleted and an unknown one."""

    code = "DECK_NOT_FOUND"
    status = 404
    advice = Advice(
        rest="Take a deckId from POST /v1/agent/sql/query with `SELECT deck_id, name FROM decks`, or leave deckId out.",
        mcp="Take a deckId from sql_query with `SELECT deck_id, name FROM decks`, or leave deckId out.",
    )


class ReviewEventConflict(AppError):
    """This reviewId already recorded a review of this card; `details.reviewSchedule` is the schedule as stored now."""

    code = "REVIEW_EVENT_CONFLICT"
    status = 409
    advice = Advice(
        rest="The review is recorded, with the rating that arrived first; do not send it again, not even to change the "
        "rating. Go on from error.details.reviewSchedule: POST /v1/agent/reviews/next for the next card.",
        mcp="The review is recorded, with the rating that arrived first; do not submit it again, not even to change "
        "the rating. Go on from error.details.reviewSchedule: call next_review_card for the next card.",
    )


class ReviewIdCardMismatch(AppError):
    """This reviewId recorded a review of another card."""

    code = "REVIEW_ID_CARD_MISMATCH"
    status = 409
    advice = Advice(
        rest="Nothing was stored. Make a new random UUID as reviewId for this card and send the request again.",
        mcp="Nothing was stored. Make a new random UUID as reviewId for this card and call submit_review again.",
    )


class ReviewStale(AppError):
    """The stored last review is at or after the server's now."""

    code = "REVIEW_STALE"
    status = 409
    advice = Advice(
        rest="Nothing was stored: the card was reviewed elsewhere in the meantime. Review another card: POST "
        "/v1/agent/reviews/next.",
        mcp="Nothing was stored: the card was reviewed elsewhere in the meantime. Review another card: call "
        "next_review_card.",
    )


class CardScheduleInvalid(AppError):
    """The stored schedule of the card breaks the rules of its state; nothing is repaired silently."""

    code = "CARD_FSRS_STATE_INVALID"
    status = 500
    advice = Advice(
        rest="Nothing was stored, and a retry will not help. Tell the user that this card's stored schedule is broken "
        "and give the operator the cardId and requestId. Go on with another card.",
        mcp="Nothing was stored, and a retry will not help. Tell the user that this card's stored schedule is broken "
        "and to give the operator the cardId and requestId. Go on with another card.",
    )


class ReviewNotFound(AppError):
    """No review of that card under that reviewId in the workspace, to undo."""

    code = "REVIEW_NOT_FOUND"
    status = 404
    advice = Advice(
        rest="Nothing was undone. Undo names the cardId and reviewId of a review that was stored.",
        mcp="Nothing was undone. Undo names the cardId and reviewId of a review that was stored.",
    )


class ReviewNotUndoable(AppError):
    """The review stands: it is too old, not the newest of its card, another user's, or the card changed since."""

    code = "REVIEW_NOT_UNDOABLE"
    status = 409
    advice = Advice(
        rest="Nothing was undone. Only the newest review of a card can be undone, within ten minutes and by the user "
        "who gave it. Go on with the next card.",
        mcp="Nothing was undone. Only the newest review of a card can be undone, within ten minutes and by the user "
        "who gave it. Go on with the next card.",
    )
