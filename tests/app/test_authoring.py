"""`flashcard` create_card and remove_card."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from flashcards.models import Card, CardTag, new_metadata
from tests.agent import Agent
from tests.factories import LONG_AGO, make_card, make_deck
from tests.mcp_bridge.door import Door, door_of

MARKDOWN = "# Capitals\n\n## France\n\nParis\n\n## Japan\n\n- Tokyo\n- once Kyoto\n"


@pytest.fixture
def flashcard(alice: Agent) -> Door:
    """Alice's client without the app, which asks for `flashcard`."""
    return door_of(alice, more_headers={"x-mcp-toolsets": "flashcard"})


def create(door: Door, markdown: str = MARKDOWN, **more: Any) -> dict[str, Any]:
    """The data of making cards."""
    return door.data("flashcard", action="create_card", markdown=markdown, **more)


def test_blocks_become_cards_in_their_order(alice: Agent, flashcard: Door) -> None:
    data = create(flashcard)
    assert [(card["line"], card["front"], card["back"]) for card in data["cards"]] == [
        (3, "France", "Paris"),
        (7, "Japan", "- Tokyo\n- once Kyoto"),
    ]
    assert (data["createdCount"], data["dryRun"]) == (2, False)
    stored = Card.objects.in_workspace(alice.workspace).order_by("created_at")
    assert [str(card.card_id) for card in stored] == [card["cardId"] for card in data["cards"]]
    assert [card.front_text for card in stored] == ["France", "Japan"]
    queued = flashcard.data("flashcard", action="list_cards")["cards"]
    assert [card["front"] for card in queued] == ["France", "Japan"]


def test_a_made_card_is_as_one_that_sql_made(alice: Agent, flashcard: Door) -> None:
    create(flashcard, "- Q\n  - A", tags=["t", " t ", "u"])
    alice.sql("INSERT INTO cards (front_text, back_text, tags) VALUES ('Q', '- A', ('t', 'u'))")
    own = {"card_id", "created_at", "updated_at", "metadata"}
    first, second = [{k: v for k, v in row.items() if k not in own} for row in Card.objects.values()]
    assert first == second
    tags = CardTag.objects.in_workspace(alice.workspace)
    assert sorted(tags.values_list("tag", "folded", "position")) == [("t", "t", 0)] * 2 + [("u", "u", 1)] * 2
    for card in Card.objects.all():
        assert card.metadata == new_metadata(card.created_at)
    assert len(alice.rows("SELECT card_id FROM cards WHERE MATCH('q')")) == 2


def test_the_deck_gives_its_tags_so_that_it_selects_the_cards(alice: Agent, flashcard: Door) -> None:
    deck = make_deck(alice.workspace, tags=["geo", "Capitals"])
    data = create(flashcard, deckId=str(deck.deck_id), tags=["new", "geo"])
    assert {tuple(card["tags"]) for card in data["cards"]} == {("new", "geo", "Capitals")}
    selected = flashcard.data("flashcard", action="get_cards", deckId=str(deck.deck_id))
    assert len(selected["cards"]) == 2


def test_an_empty_deck_id_is_one_left_out(flashcard: Door) -> None:
    assert create(flashcard, deckId="")["cards"][0]["tags"] == []


@pytest.mark.parametrize("gone", [False, True])
def test_without_a_live_deck_nothing_is_made(alice: Agent, flashcard: Door, gone: bool) -> None:
    deck_id = make_deck(alice.workspace, deleted_at=LONG_AGO).deck_id if gone else uuid4()
    error = flashcard.error("flashcard", action="create_card", markdown=MARKDOWN, deckId=str(deck_id))
    assert error["code"] == "DECK_NOT_FOUND"
    assert not Card.objects.exists()


def test_a_dry_run_shows_the_cards_and_makes_none(alice: Agent, flashcard: Door) -> None:
    deck = make_deck(alice.workspace, tags=["geo"])
    shown = create(flashcard, deckId=str(deck.deck_id), dryRun=True)
    assert (shown["createdCount"], shown["dryRun"]) == (0, True)
    assert not Card.objects.exists()
    made = create(flashcard, deckId=str(deck.deck_id), dryRun=False)
    assert [{**card, "cardId": None} for card in made["cards"]] == [{**card, "cardId": None} for card in shown["cards"]]
    assert all("cardId" not in card for card in shown["cards"])


def test_blocks_at_fault_are_refused_by_line_and_nothing_is_made(flashcard: Door) -> None:
    markdown = "- fine\n  - back\n- childless\n- \x00\n  - back\n"
    error = flashcard.error("flashcard", action="create_card", markdown=markdown)
    assert error["code"] == "REVIEW_INPUT_INVALID"
    assert error["message"].startswith("Line 3: “childless” has nothing under it")
    assert [issue["line"] for issue in error["details"]["validationIssues"]] == [3, 4]
    assert {issue["path"] for issue in error["details"]["validationIssues"]} == {"markdown"}
    assert not Card.objects.exists()


def test_a_hundred_cards_go_in_one_call_and_no_more(flashcard: Door) -> None:
    block = "- front\n  - back\n"
    assert create(flashcard, block * 100)["createdCount"] == 100
    error = flashcard.error("flashcard", action="create_card", markdown=block * 101)
    assert error["details"]["validationIssues"][0]["line"] == 201
    assert Card.objects.count() == 100


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"markdown": ""}, "markdown"),
        ({"markdown": "   \n"}, "markdown"),
        ({"markdown": 5}, "markdown"),
        ({"markdown": None}, "markdown"),
        ({"markdown": MARKDOWN, "tags": [" "]}, "tags"),
        ({"markdown": MARKDOWN, "tags": ["x" * 101]}, "tags"),
        ({"markdown": MARKDOWN, "tags": "geo"}, "tags"),
        ({"markdown": MARKDOWN, "tags": [f"t{n}" for n in range(51)]}, "tags"),
        ({"markdown": MARKDOWN, "confirm": True}, "confirm"),
        ({"markdown": MARKDOWN, "cardIds": [str(uuid4())]}, "cardIds"),
    ],
)
def test_wrong_and_misplaced_arguments_make_nothing(flashcard: Door, arguments: dict[str, Any], path: str) -> None:
    given = {name: value for name, value in arguments.items() if value is not None}
    error = flashcard.error("flashcard", action="create_card", **given)
    assert error["code"] == "REVIEW_INPUT_INVALID"
    assert error["details"]["validationIssues"][0]["path"] == path
    assert not Card.objects.exists()


def test_more_tags_than_a_card_may_have_are_refused_with_the_decks_counted(alice: Agent, flashcard: Door) -> None:
    deck = make_deck(alice.workspace, tags=[f"d{n}" for n in range(30)])
    error = flashcard.error(
        "flashcard",
        action="create_card",
        markdown=MARKDOWN,
        deckId=str(deck.deck_id),
        tags=[f"t{n}" for n in range(21)],
    )
    assert error["details"]["validationIssues"][0]["path"] == "tags"
    assert not Card.objects.exists()


def test_a_lone_surrogate_is_refused(flashcard: Door) -> None:
    error = flashcard.error("flashcard", action="create_card", markdown="- \ud800\n  - b")
    assert error["code"] == "REVIEW_INPUT_INVALID"


# --- remove_card


def remove(door: Door, *cards: Card, **more: Any) -> dict[str, Any]:
    """The result of removing cards."""
    return door.call("flashcard", action="remove_card", cardIds=[str(card.card_id) for card in cards], **more)


@pytest.mark.parametrize("confirm", [{}, {"confirm": False}, {"confirm": None}])
def test_without_confirm_the_error_lists_what_would_go_and_nothing_is_removed(
    alice: Agent, flashcard: Door, confirm: dict[str, Any]
) -> None:
    first, second = make_card(alice.workspace, front_text="one", tags=["t"]), make_card(alice.workspace)
    error = remove(flashcard, first, second, first, **confirm)["structuredContent"]["error"]
    assert error["code"] == "CONFIRMATION_REQUIRED"
    assert error["details"]["cards"] == [
        {"cardId": str(first.card_id), "front": "one", "tags": ["t"], "reps": 0},
        {"cardId": str(second.card_id), "front": "Front", "tags": [], "reps": 0},
    ]
    assert Card.objects.in_workspace(alice.workspace).live().count() == 2


def test_confirmed_the_cards_go_to_the_trash_as_sql_delete_sends_them(alice: Agent, flashcard: Door) -> None:
    removed, deleted, kept = (make_card(alice.workspace, tags=["t"]) for _ in range(3))
    result = remove(flashcard, removed, confirm=True)
    assert result["structuredContent"]["data"]["removedCardIds"] == [str(removed.card_id)]
    alice.sql(f"DELETE FROM cards WHERE card_id = '{deleted.card_id}'")
    rows = Card.objects.in_bulk([removed.pk, deleted.pk])
    for row in rows.values():
        assert row.deleted_at is not None
        assert row.updated_at == row.deleted_at
    own = {"card_id", "deleted_at", "updated_at"}
    first, second = [
        {k: v for k, v in row.items() if k not in own} for row in Card.objects.filter(deleted_at__isnull=False).values()
    ]
    assert first == second
    assert [row.card_id for row in CardTag.objects.in_workspace(alice.workspace)] == [kept.card_id]
    assert flashcard.error("reveal_answer", cardId=str(removed.card_id))["code"] == "CARD_NOT_FOUND"


def test_with_one_card_that_does_not_exist_none_is_removed(alice: Agent, flashcard: Door) -> None:
    there, gone = make_card(alice.workspace), make_card(alice.workspace, deleted_at=LONG_AGO)
    error = remove(flashcard, there, gone, confirm=True)["structuredContent"]["error"]
    assert (error["code"], error["details"]) == ("CARD_NOT_FOUND", {"cardIds": [str(gone.card_id)]})
    assert Card.objects.in_workspace(alice.workspace).live().get() == there


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"cardIds": []}, "cardIds"),
        ({"cardIds": [str(uuid4())] * 101}, "cardIds"),
        ({}, "cardIds"),
        ({"cardIds": ["x"]}, "cardIds.0"),
        ({"cardIds": [str(uuid4())], "confirm": "yes"}, "confirm"),
        ({"cardIds": [str(uuid4())], "confirm": 1}, "confirm"),
        ({"cardIds": [str(uuid4())], "cardId": str(uuid4())}, "cardId"),
    ],
)
def test_wrong_arguments_remove_nothing(flashcard: Door, arguments: dict[str, Any], path: str) -> None:
    error = flashcard.error("flashcard", action="remove_card", **arguments)
    assert error["code"] == "REVIEW_INPUT_INVALID"
    assert error["details"]["validationIssues"][0]["path"] == path
