"""`flashcard` review_card: a rating as submit_review takes it, or a skip that stores nothing."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from flashcards.models import Card
from review.models import ReviewEvent
from tests.agent import Agent
from tests.factories import make_card
from tests.mcp_bridge.door import Door, door_of


@pytest.fixture
def flashcard(alice: Agent) -> Door:
    """Alice's client without the app, which asks for `flashcard`."""
    return door_of(alice, more_headers={"x-mcp-toolsets": "flashcard"})


def rating_of(card: Card, **changes: Any) -> dict[str, Any]:
    """The arguments of a rating."""
    arguments = {"action": "review_card", "cardId": str(card.card_id), "reviewId": str(uuid4()), "rating": "Good"}
    return {name: value for name, value in (arguments | changes).items() if value is not None}


def test_a_rating_is_stored_as_submit_review_stores_it(alice: Agent, flashcard: Door) -> None:
    twins = [make_card(alice.workspace), make_card(alice.workspace)]
    mine = flashcard.data("flashcard", **rating_of(twins[0], rating="Hard"))
    given = {**rating_of(twins[1], rating="Hard"), "reviewedTimeZone": "UTC"}
    theirs = flashcard.data("submit_review", **{name: value for name, value in given.items() if name != "action"})
    changing = {"cardId", "reviewId", "reviewEventId", "reviewedAt", "dueAt"}
    assert mine.keys() == theirs.keys()
    assert {name: mine[name] for name in mine.keys() - changing} == {
        name: theirs[name] for name in theirs.keys() - changing
    }
    event = ReviewEvent.objects.get(card_id=twins[0].pk)
    assert (event.rating, event.reviewed_by, event.client_event_id) == (1, alice.user.id, mine["reviewId"])


@pytest.mark.parametrize(
    ("account", "given", "stored"),
    [
        ("Asia/Tokyo", None, "Asia/Tokyo"),
        ("Asia/Tokyo", "Europe/Paris", "Europe/Paris"),
        ("UTC", None, "UTC"),
        ("Mars/Olympus", None, "UTC"),
        ("", None, "UTC"),
    ],
)
def test_the_time_zone_is_the_accounts_unless_named(
    alice: Agent, flashcard: Door, account: str, given: str | None, stored: str
) -> None:
    alice.user.time_zone = account
    alice.user.save()
    flashcard.data("flashcard", **rating_of(make_card(alice.workspace), reviewedTimeZone=given))
    assert ReviewEvent.objects.get().reviewed_time_zone == stored


def test_a_repeated_rating_is_the_conflict_of_submit_review(alice: Agent, flashcard: Door) -> None:
    arguments = rating_of(make_card(alice.workspace))
    flashcard.data("flashcard", **arguments)
    error = flashcard.error("flashcard", **(arguments | {"rating": "Again"}))
    assert error["code"] == "REVIEW_EVENT_CONFLICT"
    assert error["details"]["reviewSchedule"]["reps"] == 1
    assert ReviewEvent.objects.count() == 1


def test_a_review_id_of_another_card_is_refused(alice: Agent, flashcard: Door) -> None:
    first, second = make_card(alice.workspace), make_card(alice.workspace)
    arguments = rating_of(first)
    flashcard.data("flashcard", **arguments)
    error = flashcard.error("flashcard", **rating_of(second, reviewId=arguments["reviewId"]))
    assert error["code"] == "REVIEW_ID_CARD_MISMATCH"


@pytest.mark.parametrize("more", [{}, {"reviewId": str(uuid4())}])
def test_a_skip_stores_nothing(alice: Agent, flashcard: Door, more: dict[str, str]) -> None:
    card = make_card(alice.workspace, fsrs_card_state="review")
    before = Card.objects.values().get()
    data = flashcard.data("flashcard", action="review_card", cardId=str(card.card_id), skip=True, **more)
    assert data == {"workspaceId": str(alice.workspace.pk), "cardId": str(card.card_id), "skipped": True}
    assert Card.objects.values().get() == before
    assert not ReviewEvent.objects.exists()


def test_a_skip_of_no_card_is_refused(flashcard: Door) -> None:
    error = flashcard.error("flashcard", action="review_card", cardId=str(uuid4()), skip=True)
    assert error["code"] == "CARD_NOT_FOUND"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"cardId": None}, "cardId"),
        ({"reviewId": None}, "reviewId"),
        ({"rating": None}, "rating"),
        ({"rating": None, "skip": False}, "rating"),
        ({"skip": True}, "skip"),
        ({"rating": "good"}, "rating"),
        ({"rating": 3}, "rating"),
        ({"skip": "true"}, "skip"),
        ({"reviewId": "x"}, "reviewId"),
        ({"reviewedTimeZone": "europe/paris"}, "reviewedTimeZone"),
        ({"markdown": "- a\n  - b"}, "markdown"),
        ({"deckId": str(uuid4())}, "deckId"),
    ],
)
def test_wrong_and_misplaced_arguments_store_nothing(
    alice: Agent, flashcard: Door, changes: dict[str, Any], path: str
) -> None:
    error = flashcard.error("flashcard", **rating_of(make_card(alice.workspace), **changes))
    assert error["code"] == "REVIEW_INPUT_INVALID"
    assert error["details"]["validationIssues"][0]["path"] == path
    assert not ReviewEvent.objects.exists()
