"""Bob and what is Alice's: every action refuses it with the answer of what does not exist."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from flashcards.models import Card
from review.app.models import ReviewSessionCard
from review.models import ReviewEvent
from tests.agent import Agent
from tests.app.host import Round, due_cards, host_of, open_round
from tests.factories import make_card, make_deck
from tests.mcp_bridge.door import Door

TOOL = "flashcard_review_app_action"


@pytest.fixture
def bobs(bob: Agent) -> Door:
    """Bob's host."""
    return host_of(bob)


def test_bob_is_refused_alices_deck(alice: Agent, bobs: Door) -> None:
    deck = make_deck(alice.workspace)
    calls: list[dict[str, Any]] = [
        {"action": "list_cards", "scope": "deck"},
        {"action": "get_cards"},
        {"action": "create_card", "markdown": "- a\n  - b"},
        {"action": "create_card", "markdown": "- a\n  - b", "dryRun": True},
    ]
    for arguments in calls:
        foreign = bobs.error("flashcard", **arguments, deckId=str(deck.deck_id))
        assert foreign == bobs.error("flashcard", **arguments, deckId=str(uuid4()))
        assert foreign["code"] == "DECK_NOT_FOUND"
    assert bobs.data("flashcard", action="get_decks")["decks"] == []


def test_bob_sees_none_of_alices_cards(alice: Agent, bobs: Door) -> None:
    card = make_card(alice.workspace)
    for which in ("due", "new", "any"):
        data = bobs.data("flashcard", action="list_cards", filter=which)
        assert (data["cards"], data["cardCount"], data["dueCount"], data["newCount"]) == ([], 0, 0, 0)
    data = bobs.data("flashcard", action="get_cards", cardIds=[str(card.pk)])
    assert (data["cards"], data["missingCardIds"]) == ([], [str(card.pk)])


def test_bob_cannot_rate_skip_or_remove_alices_card(alice: Agent, bobs: Door) -> None:
    card = make_card(alice.workspace)
    for foreign, unknown in [
        (
            bobs.error("flashcard", action="review_card", cardId=card_id[0], **more),
            bobs.error("flashcard", action="review_card", cardId=card_id[1], **more),
        )
        for card_id in [(str(card.pk), str(uuid4()))]
        for more in ({"reviewId": str(uuid4()), "rating": "Good"}, {"skip": True})
    ]:
        assert foreign == unknown
        assert foreign["code"] == "CARD_NOT_FOUND"
    for confirm in (True, False):
        error = bobs.error("flashcard", action="remove_card", cardIds=[str(card.pk)], confirm=confirm)
        assert (error["code"], error["details"]) == ("CARD_NOT_FOUND", {"cardIds": [str(card.pk)]})
    assert Card.objects.in_workspace(alice.workspace).live().get().reps == 0


@pytest.mark.parametrize("action", ["list_cards", "get_decks"])
def test_bob_is_refused_alices_workspace(alice: Agent, bobs: Door, action: str) -> None:
    foreign = bobs.error("flashcard", action=action, workspaceId=str(alice.workspace.pk))
    assert foreign == bobs.error("flashcard", action=action, workspaceId=str(uuid4()))
    assert foreign["code"] == "WORKSPACE_NOT_FOUND"


def test_alices_token_opens_nothing_for_bob(alice: Agent, bobs: Door) -> None:
    card = make_card(alice.workspace)
    token = due_cards(host_of(alice))["candidateToken"]
    arguments = {"cards": [{"cardId": str(card.pk)}], "selectionReason": "why"}
    foreign = bobs.error("flashcard_review_session", candidateToken=token, **arguments)
    assert foreign == bobs.error("flashcard_review_session", candidateToken="unknown", **arguments)


def test_alices_card_is_not_opened_by_bobs_token(alice: Agent, bob: Agent, bobs: Door) -> None:
    hers, his = make_card(alice.workspace), make_card(bob.workspace)
    token = due_cards(bobs)["candidateToken"]
    chosen = [{"cardId": str(hers.pk)}, {"cardId": str(uuid4())}, {"cardId": str(his.pk)}]
    data = bobs.data("flashcard_review_session", candidateToken=token, cards=chosen, selectionReason="why")
    assert [card["cardId"] for card in data["cards"]] == [str(his.pk)]
    assert {omitted["reason"] for omitted in data["omittedCards"]} == {"not_in_candidates"}


@pytest.mark.parametrize("action", ["review_card", "skip", "undo", "state"])
def test_bob_is_refused_alices_session(alice: Agent, bobs: Door, action: str) -> None:
    hers = open_round(host_of(alice), make_card(alice.workspace))
    if action == "undo":
        hers.do("review_card", 0)
    position = None if action == "state" else 0
    as_bob = Round(bobs, hers.data)
    foreign = as_bob.fail(action, position)
    assert foreign == as_bob.fail(action, position, sessionId=str(uuid4()))
    assert foreign["code"] == "REVIEW_SESSION_NOT_FOUND"
    assert ReviewEvent.objects.filter(undone_at=None).count() == (1 if action == "undo" else 0)
    assert not ReviewSessionCard.objects.get().skipped


@pytest.mark.parametrize("action", ["review_card", "skip", "undo"])
def test_alices_ids_mean_nothing_in_bobs_session(alice: Agent, bob: Agent, bobs: Door, action: str) -> None:
    hers = open_round(host_of(alice), make_card(alice.workspace))
    his = open_round(bobs, make_card(bob.workspace))
    hers.do("review_card", 0)
    theft = [
        {"cardId": hers.cards[0]["cardId"], "reviewId": hers.cards[0]["reviewId"]},
        {"cardId": hers.cards[0]["cardId"]},
        {"reviewId": hers.cards[0]["reviewId"]},
    ]
    unknown = his.fail(action, 0, cardId=str(uuid4()))
    for ids in theft:
        assert his.fail(action, 0, **ids) == unknown
    assert ReviewEvent.objects.get().undone_at is None
