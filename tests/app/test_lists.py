"""`flashcard`: lists of cards and decks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from flashcards.models import Card, Workspace
from review.app.rendering import render_markdown
from tests.agent import Agent
from tests.app.host import due_cards
from tests.factories import LONG_AGO, make_card, make_deck, make_workspace
from tests.mcp_bridge.door import Door, door_of

SCHEDULING = {"cardId", "dueAt", "state", "reps", "lapses", "lastReviewedAt"}


@pytest.fixture
def flashcard(alice: Agent) -> Door:
    """Alice's client without the app, which asks for `flashcard`."""
    return door_of(alice, more_headers={"x-mcp-toolsets": "flashcard"})


def fronts(data: dict[str, Any]) -> list[str]:
    """The fronts of the listed cards."""
    return [card["front"] for card in data["cards"]]


def queue_of_each_kind(workspace: Workspace) -> None:
    """Cards of every part of the queue and beyond it, none made in the order of the queue."""
    now = timezone.now()
    make_card(workspace, front_text="new", created_at=LONG_AGO)
    make_card(
        workspace, front_text="later", fsrs_card_state="review", due_at=now + timedelta(days=1), tags=["geo", "x"]
    )
    make_card(workspace, front_text="suspended", suspended=True)
    make_card(workspace, front_text="due", fsrs_card_state="review", due_at=LONG_AGO, tags=["Geo"])
    make_card(workspace, front_text="deleted", deleted_at=now)
    make_card(
        workspace,
        front_text="just reviewed",
        fsrs_card_state="learning",
        due_at=now - timedelta(minutes=1),
        fsrs_last_reviewed_at=now - timedelta(minutes=10),
    )


# --- list_cards


def test_due_is_the_queue_in_its_order_and_the_default(alice: Agent, flashcard: Door) -> None:
    queue_of_each_kind(alice.workspace)
    asked = flashcard.data("flashcard", action="list_cards", scope="all", filter="due", limit=50)
    assert fronts(asked) == ["just reviewed", "due", "new"]
    assert flashcard.data("flashcard", action="list_cards") == asked


def test_new_is_the_new_cards_of_the_queue(alice: Agent, flashcard: Door) -> None:
    queue_of_each_kind(alice.workspace)
    assert fronts(flashcard.data("flashcard", action="list_cards", filter="new")) == ["new"]


def test_any_is_every_live_card_newest_first(alice: Agent, flashcard: Door) -> None:
    queue_of_each_kind(alice.workspace)
    make_card(alice.workspace, front_text="newest", created_at=LONG_AGO + timedelta(days=1))
    found = fronts(flashcard.data("flashcard", action="list_cards", filter="any"))
    assert found[0] == "newest"
    assert set(found) == {"newest", "new", "later", "suspended", "due", "just reviewed"}


@pytest.mark.parametrize("which", ["due", "new", "any"])
def test_the_counts_are_of_the_whole_scope(alice: Agent, flashcard: Door, which: str) -> None:
    queue_of_each_kind(alice.workspace)
    data = flashcard.data("flashcard", action="list_cards", filter=which, limit=1)
    assert (data["cardCount"], data["dueCount"], data["newCount"]) == (5, 2, 1)


def test_a_card_has_front_and_back_apart_and_its_schedule(alice: Agent, flashcard: Door) -> None:
    card = make_card(alice.workspace, fsrs_card_state="relearning", tags=["a", "b"])
    (shown,) = flashcard.data("flashcard", action="list_cards")["cards"]
    assert shown == {
        "cardId": str(card.card_id),
        "front": "Front",
        "back": "Back",
        "tags": ["a", "b"],
        "dueAt": "2025-01-11T08:00:00.000Z",
        "state": "relearning",
        "reps": 2,
        "lapses": 1,
        "lastReviewedAt": "2025-01-11T07:50:00.000Z",
    }


def test_a_deck_narrows_the_list_and_its_counts(alice: Agent, flashcard: Door) -> None:
    queue_of_each_kind(alice.workspace)
    deck = make_deck(alice.workspace, tags=["GEO"])
    data = flashcard.data("flashcard", action="list_cards", scope="deck", deckId=str(deck.deck_id))
    assert (fronts(data), data["scope"]) == (["due"], "deck")
    assert (data["cardCount"], data["dueCount"], data["newCount"]) == (2, 1, 0)


def test_a_deck_without_tags_selects_every_card(alice: Agent, flashcard: Door) -> None:
    queue_of_each_kind(alice.workspace)
    deck = make_deck(alice.workspace)
    data = flashcard.data("flashcard", action="list_cards", scope="deck", deckId=str(deck.deck_id))
    assert fronts(data) == ["just reviewed", "due", "new"]


@pytest.mark.parametrize("which", ["due", "new", "any"])
def test_cards_handled_this_round_are_left_out(alice: Agent, flashcard: Door, which: str) -> None:
    kept, handled = make_card(alice.workspace, front_text="kept"), make_card(alice.workspace)
    reviewed = [str(handled.card_id), str(uuid4())]
    data = flashcard.data("flashcard", action="list_cards", filter=which, reviewedCards=reviewed)
    assert [card["cardId"] for card in data["cards"]] == [str(kept.card_id)]


def test_limit_and_has_more(alice: Agent, flashcard: Door) -> None:
    for _ in range(60):
        make_card(alice.workspace)
    by_default = flashcard.data("flashcard", action="list_cards")
    assert (len(by_default["cards"]), by_default["hasMore"]) == (50, True)
    every = flashcard.data("flashcard", action="list_cards", limit=60)
    assert (len(every["cards"]), every["hasMore"]) == (60, False)


def test_texts_are_never_cut(alice: Agent, flashcard: Door) -> None:
    front, back = "f" * 20_000, "ж" * 100_000
    make_card(alice.workspace, front_text=front, back_text=back)
    (card,) = flashcard.data("flashcard", action="list_cards")["cards"]
    assert (card["front"], card["back"]) == (front, back)


def test_a_list_ends_before_it_is_too_much_to_take_in(alice: Agent, flashcard: Door) -> None:
    for _ in range(4):
        make_card(alice.workspace, back_text="b" * 90_000)
    data = flashcard.data("flashcard", action="list_cards")
    assert (len(data["cards"]), data["hasMore"], data["cardCount"]) == (2, True, 4)


# --- get_decks


def test_decks_come_with_their_counts_newest_first(alice: Agent, flashcard: Door) -> None:
    queue_of_each_kind(alice.workspace)
    geo = make_deck(alice.workspace, name="Geo", tags=["GEO", "x", "unused"], created_at=LONG_AGO)
    everything = make_deck(alice.workspace, name="All", created_at=LONG_AGO + timedelta(days=1))
    make_deck(alice.workspace, name="Gone", deleted_at=LONG_AGO)
    assert flashcard.data("flashcard", action="get_decks")["decks"] == [
        {
            "deckId": str(everything.deck_id),
            "name": "All",
            "tags": [],
            "cardCount": 5,
            "dueCount": 2,
            "newCount": 1,
        },
        {
            "deckId": str(geo.deck_id),
            "name": "Geo",
            "tags": ["GEO", "x", "unused"],
            "cardCount": 2,
            "dueCount": 1,
            "newCount": 0,
        },
    ]


@pytest.mark.parametrize("tag", ["straße", "İstanbul", "ЁЛКА", "a\x01b", "𐐀", "ǅ", "ẞ", "tab\there"])
def test_a_deck_counts_what_it_selects_whatever_its_tag(alice: Agent, flashcard: Door, tag: str) -> None:
    for variant in (tag, tag.upper(), tag.lower(), tag.title(), "other"):
        make_card(alice.workspace, tags=[variant])
    deck = make_deck(alice.workspace, tags=[tag])
    selected = flashcard.data("flashcard", action="get_cards", deckId=str(deck.deck_id))
    (counted,) = flashcard.data("flashcard", action="get_decks")["decks"]
    assert 1 <= counted["cardCount"] == len(selected["cards"]) < 5


@pytest.mark.django_db
def test_decks_are_read_by_one_query_however_many_there_are(
    alice: Agent, flashcard: Door, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_card(alice.workspace, tags=["t1"])
    flashcard.data("flashcard", action="get_decks")
    for number in range(20):
        make_deck(alice.workspace, tags=[f"t{number}"])
    # The key, the user's workspaces, the decks.
    with django_assert_num_queries(3):
        decks = flashcard.data("flashcard", action="get_decks")["decks"]
    assert sum(deck["cardCount"] for deck in decks) == 1


# --- get_cards


def test_cards_of_a_deck_come_page_by_page(alice: Agent, flashcard: Door) -> None:
    for number in range(5):
        make_card(alice.workspace, front_text=f"f{number}", tags=["geo"], created_at=LONG_AGO + timedelta(days=number))
    deck = make_deck(alice.workspace, tags=["Geo"])
    pages = [
        flashcard.data("flashcard", action="get_cards", deckId=str(deck.deck_id), limit=2, offset=offset)
        for offset in (0, 2, 4)
    ]
    assert [fronts(page) for page in pages] == [["f4", "f3"], ["f2", "f1"], ["f0"]]
    assert [page["hasMore"] for page in pages] == [True, True, False]


def test_cards_by_id_come_in_the_order_of_the_ids_and_missing_ones_are_named(alice: Agent, flashcard: Door) -> None:
    first, second = make_card(alice.workspace, suspended=True), make_card(alice.workspace)
    gone = make_card(alice.workspace, deleted_at=LONG_AGO)
    ids = [str(second.card_id), str(gone.card_id), str(first.card_id), str(second.card_id)]
    data = flashcard.data("flashcard", action="get_cards", cardIds=ids)
    assert [card["cardId"] for card in data["cards"]] == [str(second.card_id), str(first.card_id)]
    assert data["missingCardIds"] == [str(gone.card_id)]


@pytest.mark.parametrize("side", ["front_text", "back_text"])
def test_where_a_text_cannot_be_rendered_the_scheduling_fields_stand_alone(
    alice: Agent, flashcard: Door, side: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = make_card(alice.workspace, **{side: "deep"})
    fine = make_card(alice.workspace)
    break_rendering_of(monkeypatch, "deep")
    ids = [str(card.card_id), str(fine.card_id)]
    broken, whole = flashcard.data("flashcard", action="get_cards", cardIds=ids)["cards"]
    assert broken.keys() == SCHEDULING
    assert whole.keys() == SCHEDULING | {"front", "back", "tags"}


def break_rendering_of(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let the renderer give up on exactly this text: no text is known on which today's version does."""

    def render(given: str) -> str:
        if given == text:
            raise ValueError
        return render_markdown(given)

    monkeypatch.setattr("review.app.card_lists.render_markdown", render)


# --- Candidates


def test_candidates_have_no_answers_and_a_token_with_guidance(alice: Agent, host: Door) -> None:
    make_card(alice.workspace, tags=["t"])
    data = due_cards(host)
    (card,) = data["cards"]
    assert card.keys() == SCHEDULING | {"front", "tags"}
    assert len(data["candidateToken"]) >= 22
    assert data["expiresAt"].endswith("Z")
    assert "flashcard_review_session" in data["guidance"]
    assert "Back" not in str(data)


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "list_cards", "filter": "new"},
        {"action": "list_cards", "filter": "any"},
        {"action": "list_cards", "scope": "deck"},
        {"action": "list_cards", "scope": "deck", "filter": "new"},
        {"action": "get_cards"},
        {"action": "get_decks"},
        {"action": "create_card", "markdown": "- a\n  - b"},
    ],
)
def test_no_other_call_gives_a_token(alice: Agent, host: Door, arguments: dict[str, Any]) -> None:
    make_card(alice.workspace)
    deck = make_deck(alice.workspace)
    takes_deck = arguments.get("scope") == "deck" or arguments["action"] == "get_cards"
    result = host.call("flashcard", **arguments, **({"deckId": str(deck.deck_id)} if takes_deck else {}))
    data = result["structuredContent"]["data"]
    assert not {"candidateToken", "expiresAt", "guidance"} & data.keys()
    assert all("back" in card for card in data.get("cards", ()))


@pytest.mark.parametrize(
    ("front", "readable"),
    [
        ("plain", True),
        ("![a picture](x.png)", True),
        ("$x^2$", True),
        ("$$\\frac{1}{2}$$", True),
        ("![](x.png)", False),
        ("[](x)", False),
        ("---", False),
        ("> ", False),
        ("[a]: https://example.com", False),
        ("&#8203;", False),
        ("`x`", True),
        ("<b>", True),
    ],
)
def test_a_candidate_has_something_to_read_on_its_front(alice: Agent, host: Door, front: str, readable: bool) -> None:
    make_card(alice.workspace, front_text=front)
    make_card(alice.workspace, front_text="another")
    assert set(fronts(due_cards(host))) == ({front, "another"} if readable else {"another"})


def test_unreadable_cards_do_not_hide_the_readable_ones_behind_them(alice: Agent, modern_host: Door) -> None:
    for _ in range(12):
        make_card(alice.workspace, front_text="![](x.png)")
    make_card(alice.workspace, front_text="behind", created_at=LONG_AGO + timedelta(days=1))
    data = due_cards(modern_host, limit=4)
    assert (fronts(data), data["hasMore"]) == (["behind"], False)


def test_many_unreadable_cards_hide_nothing_either(alice: Agent, modern_host: Door) -> None:
    markdown = "".join(f"- ![](picture-{n}.png)\n  - back\n" for n in range(100))
    for _ in range(4):
        modern_host.data("flashcard", action="create_card", markdown=markdown)
    modern_host.data("flashcard", action="create_card", markdown="- behind\n  - back")
    data = due_cards(modern_host, limit=4)
    assert (fronts(data), data["hasMore"]) == (["behind"], False)


def test_a_list_of_candidates_ends_before_it_grows_past_what_a_client_takes(alice: Agent, modern_host: Door) -> None:
    for _ in range(12):
        make_card(alice.workspace, front_text="word " * 3_999)
    data = due_cards(modern_host)
    assert (len(data["cards"]), data["hasMore"]) == (10, True)


def test_a_queue_that_begins_with_too_much_to_look_through_is_not_called_empty(alice: Agent, modern_host: Door) -> None:
    for _ in range(11):
        make_card(alice.workspace, front_text="[a]: https://example.com/" + "x" * 19_000)
    make_card(alice.workspace, front_text="behind", created_at=LONG_AGO + timedelta(days=1))
    data = due_cards(modern_host)
    assert (data["cards"], data["hasMore"], data["candidateToken"]) == ([], True, None)
    assert "next_review_card" in data["guidance"]


def test_a_prompt_that_cannot_be_rendered_is_no_candidate(
    alice: Agent, modern_host: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_card(alice.workspace, front_text="deep")
    break_rendering_of(monkeypatch, "deep")
    assert due_cards(modern_host)["cards"] == []


def test_without_a_card_to_offer_there_is_no_token(host: Door) -> None:
    data = due_cards(host)
    assert (data["cards"], data["candidateToken"], data["expiresAt"]) == ([], None, None)


# --- Arguments

A_UUID = "3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4"


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({}, "action"),
        ({"action": "delete"}, "action"),
        ({"action": ["list_cards"]}, "action"),
        ({"action": "list_cards", "scope": "deck"}, "deckId"),
        ({"action": "list_cards", "scope": "deck", "deckId": ""}, "deckId"),
        ({"action": "list_cards", "scope": "all", "deckId": A_UUID}, "deckId"),
        ({"action": "list_cards", "deckId": A_UUID}, "deckId"),
        ({"action": "list_cards", "scope": "deck", "deckId": "Geo"}, "deckId"),
        ({"action": "list_cards", "scope": "tags"}, "scope"),
        ({"action": "list_cards", "filter": "overdue"}, "filter"),
        ({"action": "list_cards", "limit": 0}, "limit"),
        ({"action": "list_cards", "limit": 101}, "limit"),
        ({"action": "list_cards", "limit": "5"}, "limit"),
        ({"action": "list_cards", "reviewedCards": ["x"]}, "reviewedCards.0"),
        ({"action": "list_cards", "offset": 1}, "offset"),
        ({"action": "list_cards", "cardIds": [A_UUID]}, "cardIds"),
        ({"action": "list_cards", "confirm": False}, "confirm"),
        ({"action": "get_decks", "limit": 5}, "limit"),
        ({"action": "get_decks", "deckId": A_UUID}, "deckId"),
        ({"action": "get_cards"}, "cardIds"),
        ({"action": "get_cards", "deckId": ""}, "cardIds"),
        ({"action": "get_cards", "deckId": A_UUID, "cardIds": [A_UUID]}, "cardIds"),
        ({"action": "get_cards", "cardIds": []}, "cardIds"),
        ({"action": "get_cards", "cardIds": [A_UUID] * 101}, "cardIds"),
        ({"action": "get_cards", "cardIds": [A_UUID], "offset": -1}, "offset"),
        ({"action": "get_cards", "cardIds": [A_UUID], "filter": "any"}, "filter"),
        ({"action": "list_cards", "cards": []}, "cards"),
    ],
)
def test_wrong_and_misplaced_arguments_are_refused_by_name(
    flashcard: Door, arguments: dict[str, Any], path: str
) -> None:
    error = flashcard.error("flashcard", **arguments)
    assert error["code"] == "REVIEW_INPUT_INVALID"
    assert error["details"]["validationIssues"][0]["path"] == path


def test_an_empty_deck_id_is_one_left_out(alice: Agent, flashcard: Door) -> None:
    make_card(alice.workspace)
    every = flashcard.data("flashcard", action="list_cards", scope="all", deckId="")
    assert len(every["cards"]) == 1
    some = flashcard.data("flashcard", action="get_cards", deckId="", cardIds=[every["cards"][0]["cardId"]])
    assert len(some["cards"]) == 1


def test_null_is_left_out_too(alice: Agent, flashcard: Door) -> None:
    make_card(alice.workspace)
    names = ("scope", "deckId", "cardIds", "markdown", "confirm", "rating", "workspaceId")
    assert flashcard.data("flashcard", action="list_cards", **dict.fromkeys(names))["cards"]


def test_the_workspace_is_resolved_as_everywhere(alice: Agent, flashcard: Door) -> None:
    second = make_workspace(alice.user, name="Second")
    make_card(second, front_text="there")
    assert flashcard.error("flashcard", action="list_cards")["code"] == "WORKSPACE_SELECTION_REQUIRED"
    named = flashcard.data("flashcard", action="list_cards", workspaceId=str(second.workspace_id))
    assert (fronts(named), named["workspaceId"]) == (["there"], str(second.workspace_id))
    assert flashcard.error("flashcard", action="get_decks", workspaceId="Personal")["code"] == "WORKSPACE_ID_INVALID"


def test_a_list_writes_nothing_about_cards(alice: Agent, modern_host: Door) -> None:
    make_card(alice.workspace, fsrs_card_state="review")
    before = Card.objects.values().get()
    due_cards(modern_host)
    assert Card.objects.values().get() == before
