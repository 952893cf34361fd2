"""Refusals of the review app and of the tool `flashcard`."""

from __future__ import annotations

from flashcards.errors import Advice, AppError

_LIST_AGAIN = "call flashcard with action list_cards, scope all and filter due, and use the token of that answer"
_SETTINGS_PAGE = "Tell the user; error.details.settingsUrl is the page where they can switch it on. Do not retry. "


def _alike(text: str) -> Advice:
    return Advice(rest=text, mcp=text)


class CandidateTokenInvalid(AppError):
    """A candidateToken that is unknown, older than ten minutes, or another user's; one answer for all."""

    code = "CANDIDATE_TOKEN_INVALID"
    status = 404
    advice = _alike(f"List again: {_LIST_AGAIN} unchanged.")


class ReviewSessionEmpty(AppError):
    """None of the chosen cards can be reviewed; `details.omittedCards` says why."""

    code = "REVIEW_SESSION_EMPTY"
    status = 409
    advice = _alike(f"No session was opened. List again: {_LIST_AGAIN}, with cards of it.")


class ReviewSessionNotFound(AppError):
    """No review session of that id for this user: unknown, over after 24 hours, or its workspace is out of reach."""

    code = "REVIEW_SESSION_NOT_FOUND"
    status = 404
    advice = _alike("Nothing was stored. Open a new session with flashcard_review_session.")


class ReviewSessionCardNotFound(AppError):
    """The session has no such cardId, or this reviewId is not that card's."""

    code = "REVIEW_SESSION_CARD_NOT_FOUND"
    status = 404
    advice = _alike("Nothing was stored. Take cardId and reviewId from the action state of this session.")


class ReviewAppSwitchedOff(AppError):
    """The user switched the review app off; `details.settingsUrl` is the page to switch it on."""

    code = "REVIEW_APP_SWITCHED_OFF"
    status = 403
    advice = _alike(f"{_SETTINGS_PAGE}Reviewing in the chat with next_review_card works all the same.")


class ReviewAppRatingsSwitchedOff(AppError):
    """The user does not let the review app save ratings; `details.settingsUrl` is the page to allow it."""

    code = "REVIEW_APP_RATINGS_SWITCHED_OFF"
    status = 403
    advice = _alike(f"Nothing was stored. {_SETTINGS_PAGE}Cards can be looked at and skipped.")


class ConfirmationRequired(AppError):
    """Cards would be removed and `confirm` is not true; `details.cards` lists them."""

    code = "CONFIRMATION_REQUIRED"
    status = 409
    advice = _alike(
        "Nothing was removed. Show the user the cards of error.details.cards and, if they agree, make the same call "
        "with confirm: true."
    )
