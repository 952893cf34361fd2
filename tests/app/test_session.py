"""Opening a review session: the token, the cases of the chosen cards, and what page and model are told."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import Membership
from accounts.oauth.tokens import checksum
from flashcards.models import Card
from flashcards.operation import Scope
from review.app.models import CandidateSnapshot, ReviewSession, ReviewSessionCard
from review.app.page import PAGE_BYTES_MAX
from review.models import ReviewEvent
from tests.agent import Agent
from tests.app.host import PAGE_URI, due_cards, host_of, open_round, open_session
from tests.factories import LONG_AGO, make_api_key, make_card, make_deck
from tests.mcp_bridge.door import Door
from tests.mcp_bridge.test_scopes import token_of

HAND_OFF = {
    "en": "The review is open. Please finish this round in the card.",
    "zh": "复习界面已打开，请在卡片中完成本轮。",
    "ru": "Повторение открыто. Завершите этот раунд в карточке.",
}


def launch(host: Door, token: str, *card_ids: Any, **changes: Any) -> dict[str, Any]:
    """The result of the launcher."""
    cards = [{"cardId": str(card_id)} for card_id in card_ids]
    arguments = {"candidateToken": token, "cards": cards, "selectionReason": "why", **changes}
    return host.call("flashcard_review_session", **arguments)


def opened(result: dict[str, Any]) -> dict[str, Any]:
    """The data of a session that opened."""
    assert not result["isError"], result
    data: dict[str, Any] = result["structuredContent"]["data"]
    return data


def refused(result: dict[str, Any]) -> dict[str, Any]:
    """The error of a session that did not open."""
    assert result["isError"], result
    error: dict[str, Any] = result["structuredContent"]["error"]
    return error


def ids(cards: list[dict[str, Any]]) -> list[str]:
    return [card["cardId"] for card in cards]


# --- The token


def test_a_token_is_good_any_number_of_times_and_its_time_does_not_slide(alice: Agent, host: Door) -> None:
    card = make_card(alice.workspace)
    before = timezone.now()
    offer = due_cards(host)
    expires_at = datetime.fromisoformat(offer["expiresAt"])
    minutes_later = timedelta(minutes=10)
    assert before + minutes_later - timedelta(milliseconds=1) <= expires_at <= timezone.now() + minutes_later
    sessions = [opened(launch(host, offer["candidateToken"], card.pk)) for _ in range(3)]
    assert len({session["sessionId"] for session in sessions}) == 3
    assert len({session["cards"][0]["reviewId"] for session in sessions}) == 3
    assert abs(CandidateSnapshot.objects.get().expires_at - expires_at) < timedelta(milliseconds=1)


def test_only_the_hash_of_a_token_is_stored(alice: Agent, host: Door) -> None:
    make_card(alice.workspace)
    token = due_cards(host)["candidateToken"]
    row = CandidateSnapshot.objects.get()
    assert bytes(row.token_hash).hex() == checksum(token)
    assert token not in str(CandidateSnapshot.objects.values().get())


def test_tokens_differ(alice: Agent, modern_host: Door) -> None:
    make_card(alice.workspace)
    assert len({due_cards(modern_host)["candidateToken"] for _ in range(5)}) == 5


def test_unknown_expired_and_foreign_tokens_get_the_same_error(alice: Agent, bob: Agent, host: Door) -> None:
    card = make_card(alice.workspace)
    make_card(bob.workspace)
    foreign = due_cards(host_of(bob))["candidateToken"]
    expired = due_cards(host)["candidateToken"]
    CandidateSnapshot.objects.filter(user=alice.user).update(expires_at=timezone.now())
    tokens = [foreign, expired, "", "x", "é", "\ud800", "x" * 100_000, expired[:-1], f" {expired}"]
    errors = [refused(launch(host, token, card.pk)) for token in tokens]
    assert {json.dumps(error) for error in errors} == {json.dumps(errors[0])}
    assert errors[0]["code"] == "CANDIDATE_TOKEN_INVALID"
    advice = launch(host, "x", card.pk)["structuredContent"]["instructions"]
    assert "list_cards" in advice
    assert not ReviewSession.objects.exists()


def test_a_token_is_the_users_whatever_their_connection(alice: Agent, host: Door) -> None:
    card = make_card(alice.workspace)
    token = due_cards(host)["candidateToken"]
    other = host_of(alice, key=make_api_key(alice.user, label="another"))
    assert opened(launch(other, token, card.pk))["selectedCount"] == 1


def test_a_token_covers_exactly_the_cards_of_its_answer(alice: Agent, host: Door) -> None:
    first, second = (make_card(alice.workspace, created_at=LONG_AGO + timedelta(days=n)) for n in range(2))
    offer = due_cards(host, limit=1)
    data = opened(launch(host, offer["candidateToken"], second.pk, first.pk))
    assert ids(data["cards"]) == [str(first.pk)]
    assert data["omittedCards"] == [{"cardId": str(second.pk), "reason": "not_in_candidates"}]


def test_expired_offers_and_sessions_are_cleared(alice: Agent, modern_host: Door, capsys: Any) -> None:
    make_card(alice.workspace)
    for _ in range(2):
        open_session(modern_host)
    dead_offer, dead_session = CandidateSnapshot.objects.first(), ReviewSession.objects.first()
    for row in (dead_offer, dead_session):
        row.expires_at = timezone.now()
        row.save()
    call_command("prune")
    assert dead_offer not in CandidateSnapshot.objects.all()
    assert dead_session not in ReviewSession.objects.all()
    left = (CandidateSnapshot.objects.count(), ReviewSession.objects.count(), ReviewSessionCard.objects.count())
    assert left == (1, 1, 1)
    assert "offers and sessions of the review app" in capsys.readouterr().out


# --- The cases of the chosen cards


def test_the_order_of_the_cards_is_kept(alice: Agent, host: Door) -> None:
    cards = [make_card(alice.workspace) for _ in range(6)]
    offer = due_cards(host)
    wanted = [str(card.pk) for card in sorted(cards, key=lambda card: str(card.pk))]
    assert ids(opened(launch(host, offer["candidateToken"], *wanted))["cards"]) == wanted


@pytest.mark.parametrize(
    "changes",
    [
        {"cards": []},
        {"cards": [{"cardId": str(uuid4())} for _ in range(21)]},
        {"cards": [{"cardId": "3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4"}] * 21},
        {"cards": None},
        {"cards": [{"cardId": "x"}]},
        {"cards": [{}]},
        {"cards": ["3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4"]},
        {"cards": [{"cardId": "3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4", "deckId": "Geo"}]},
        {"cards": [{"cardId": "3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4", "front": "F"}]},
        {"selectionReason": ""},
        {"selectionReason": " \u200b\n"},
        {"selectionReason": "x" * 1001},
        {"selectionReason": "nul \x00"},
        {"selectionReason": None},
        {"candidateToken": None},
        {"candidateToken": 5},
        {"workspaceId": str(uuid4())},
        {"limit": 5},
    ],
)
def test_a_malformed_call_is_refused_before_the_token_is_looked_at(
    alice: Agent, host: Door, changes: dict[str, Any], django_assert_num_queries: Any
) -> None:
    host.data("list_workspaces")
    # The key alone: neither the user's choice nor the offer nor a card is read.
    with django_assert_num_queries(1):
        error = refused(launch(host, "unknown", uuid4(), **changes))
    assert error["code"] in ("REVIEW_INPUT_INVALID", "WORKSPACE_ID_INVALID")


def test_twenty_cards_open_and_a_reason_may_be_long(alice: Agent, host: Door) -> None:
    cards = [make_card(alice.workspace) for _ in range(20)]
    offer = due_cards(host)
    data = opened(launch(host, offer["candidateToken"], *(card.pk for card in cards), selectionReason="я" * 1000))
    assert (data["selectedCount"], data["selectionReason"]) == (20, "я" * 1000)


def test_duplicates_are_folded_and_the_first_kept(alice: Agent, host: Door) -> None:
    first, second = make_card(alice.workspace), make_card(alice.workspace)
    token = due_cards(host)["candidateToken"]
    data = opened(launch(host, token, second.pk, first.pk, str(second.pk).upper(), first.pk, first.pk))
    assert ids(data["cards"]) == [str(second.pk), str(first.pk)]
    assert (data["requestedCount"], data["selectedCount"], data["duplicateCount"]) == (5, 2, 3)
    assert data["omittedCards"] == []


def test_a_deck_id_is_accepted_and_left_aside(alice: Agent, host: Door) -> None:
    card = make_card(alice.workspace)
    token = due_cards(host)["candidateToken"]
    deck_ids = [str(make_deck(alice.workspace, tags=["other"]).deck_id), str(uuid4()), "", None]
    for deck_id in deck_ids:
        assert opened(launch(host, token, cards=[{"cardId": str(card.pk), "deckId": deck_id}]))["selectedCount"] == 1


def test_cards_that_cannot_be_opened_are_omitted_with_the_reason(alice: Agent, bob: Agent, host: Door) -> None:
    kept, deleted, blanked = (make_card(alice.workspace) for _ in range(3))
    late, foreign = make_card(alice.workspace, due_at=None), make_card(bob.workspace)
    token = due_cards(host, reviewedCards=[str(late.pk)])["candidateToken"]
    alice.sql(f"DELETE FROM cards WHERE card_id = '{deleted.pk}'")
    alice.sql(f"UPDATE cards SET front_text = '![](x.png)' WHERE card_id = '{blanked.pk}'")
    unknown = uuid4()
    chosen = [foreign.pk, deleted.pk, kept.pk, unknown, blanked.pk, late.pk, deleted.pk]
    data = opened(launch(host, token, *chosen))
    assert ids(data["cards"]) == [str(kept.pk)]
    assert data["omittedCards"] == [
        {"cardId": str(foreign.pk), "reason": "not_in_candidates"},
        {"cardId": str(deleted.pk), "reason": "unavailable"},
        {"cardId": str(unknown), "reason": "not_in_candidates"},
        {"cardId": str(blanked.pk), "reason": "content_unavailable"},
        {"cardId": str(late.pk), "reason": "not_in_candidates"},
    ]
    assert (data["requestedCount"], data["selectedCount"], data["duplicateCount"]) == (7, 1, 1)


def test_an_answer_beyond_the_measure_comes_whole_and_unrendered(alice: Agent, modern_host: Door) -> None:
    long = "**a** " + "word " * 19_000
    cards = [make_card(alice.workspace, back_text=long.strip()) for _ in range(4)]
    token = due_cards(modern_host)["candidateToken"]
    shown = opened(launch(modern_host, token, *(card.pk for card in cards)))["cards"]
    assert [card["frontHtml"] for card in shown] == ["<p>Front</p>"] * 4
    assert [card["backHtml"] is not None for card in shown] == [True, True, False, False]
    assert shown[0]["backHtml"].startswith("<p><strong>a</strong> word")
    assert {card["backText"] for card in shown} == {long.strip()}


def test_a_front_beyond_the_measure_is_shown_as_it_stands(alice: Agent, modern_host: Door) -> None:
    cards = [make_card(alice.workspace) for _ in range(11)]
    token = due_cards(modern_host)["candidateToken"]
    long = "**a** <b>\n" * 1_999
    for card in cards:
        Card.objects.filter(pk=card.pk).update(front_text=long, back_text=long)
    data = opened(launch(modern_host, token, *(card.pk for card in cards)))
    rendered, plain = data["cards"][0], data["cards"][10]
    assert rendered["frontHtml"].startswith("<p><strong>a</strong> &lt;b&gt;<br>")
    assert plain["frontHtml"].startswith("<p>**a** &lt;b&gt;<br>\n**a** ")
    assert (plain["frontText"], plain["backText"], plain["backHtml"]) == (long, long, None)


def test_a_card_reviewed_elsewhere_or_suspended_since_is_kept(alice: Agent, host: Door) -> None:
    reviewed, suspended = make_card(alice.workspace), make_card(alice.workspace)
    token = due_cards(host)["candidateToken"]
    rating = {"cardId": str(reviewed.pk), "reviewId": str(uuid4()), "rating": "Easy", "reviewedTimeZone": "UTC"}
    host.data("submit_review", **rating)
    alice.sql(f"UPDATE cards SET suspended = TRUE WHERE card_id = '{suspended.pk}'")
    data = opened(launch(host, token, reviewed.pk, suspended.pk))
    assert ids(data["cards"]) == [str(reviewed.pk), str(suspended.pk)]
    assert due_cards(host)["cards"] == []


def test_a_card_edited_since_shows_its_current_text(alice: Agent, host: Door) -> None:
    card = make_card(alice.workspace, front_text="old")
    token = due_cards(host)["candidateToken"]
    alice.sql(f"UPDATE cards SET front_text = 'new *front*', back_text = 'new **back**' WHERE card_id = '{card.pk}'")
    (shown,) = opened(launch(host, token, card.pk))["cards"]
    assert (shown["frontText"], shown["frontHtml"]) == ("new *front*", "<p>new <em>front</em></p>")
    assert (shown["backText"], shown["backHtml"]) == ("new **back**", "<p>new <strong>back</strong></p>")


def test_none_left_is_an_error_that_says_why(alice: Agent, host: Door) -> None:
    card = make_card(alice.workspace)
    token = due_cards(host)["candidateToken"]
    alice.sql(f"DELETE FROM cards WHERE card_id = '{card.pk}'")
    error = refused(launch(host, token, card.pk, card.pk))
    assert error["code"] == "REVIEW_SESSION_EMPTY"
    assert error["details"]["omittedCards"] == [{"cardId": str(card.pk), "reason": "unavailable"}]
    assert not ReviewSession.objects.exists()


def test_without_membership_every_card_is_unavailable(alice: Agent, host: Door) -> None:
    card = make_card(alice.workspace)
    token = due_cards(host)["candidateToken"]
    Membership.objects.filter(user=alice.user).delete()
    error = refused(launch(host, token, card.pk))
    assert error["details"]["omittedCards"] == [{"cardId": str(card.pk), "reason": "unavailable"}]


# --- What page and model are told


def test_the_result_is_the_envelope_with_everything_the_page_needs(alice: Agent, host: Door) -> None:
    card = make_card(alice.workspace, front_text="$x^2$?", back_text="", tags=["a"])
    result = open_session(host, selectionReason=" One <b>reason</b>. ")
    envelope = result["structuredContent"]
    assert envelope["ok"] is True
    data = envelope["data"]
    (shown,) = data.pop("cards")
    session = ReviewSession.objects.get()
    assert data == {
        "workspaceId": str(alice.workspace.pk),
        "sessionId": str(session.session_id),
        "expiresAt": session.expires_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "language": "en",
        "ratingsAllowed": True,
        "ratingsReason": None,
        "settingsUrl": "http://localhost:8000/settings/apps/",
        "selectionReason": "One <b>reason</b>.",
        "requestedCount": 1,
        "selectedCount": 1,
        "duplicateCount": 0,
        "omittedCards": [],
        "presentationMode": "mcp-app-only",
        "message": "The review is open with 1 card.",
        "modelInstruction": envelope["modelInstruction"],
    }
    assert envelope["presentationMode"] == "mcp-app-only"
    assert session.expires_at - session.created_at == timedelta(hours=24)
    assert shown == {
        "cardId": str(card.pk),
        "reviewId": session.cards.get().review_ids[0],
        "frontText": "$x^2$?",
        "backText": "",
        "frontHtml": shown["frontHtml"],
        "backHtml": "",
        "tags": ["a"],
        "intervals": {"Again": 60, "Hard": 330, "Good": 600, "Easy": shown["intervals"]["Easy"]},
    }
    assert "<math" in shown["frontHtml"]


def test_the_text_block_has_the_same_summary_without_cards(alice: Agent, host: Door) -> None:
    make_card(alice.workspace, front_text="SECRETFRONT", back_text="SECRETBACK")
    result = open_session(host)
    (block,) = result["content"]
    text = json.loads(block["text"])
    envelope = result["structuredContent"]
    assert "SECRET" not in block["text"]
    assert text == {**envelope, "data": {name: value for name, value in envelope["data"].items() if name != "cards"}}
    assert text["modelInstruction"] == envelope["instructions"]


@pytest.mark.parametrize(
    ("locale", "language"),
    [("en", "en"), ("zh", "zh"), ("ru", "ru"), ("de", "en"), ("", "en"), ("zh-hans", "zh"), ("RU_ru", "ru")],
)
def test_the_hand_off_is_in_the_users_language(alice: Agent, host: Door, locale: str, language: str) -> None:
    alice.user.locale = locale
    alice.user.save()
    make_card(alice.workspace)
    envelope = open_session(host)["structuredContent"]
    assert envelope["data"]["language"] == language
    assert HAND_OFF[language] in envelope["modelInstruction"]
    assert sum(sentence in envelope["modelInstruction"] for sentence in HAND_OFF.values()) == 1
    for forbidden in ("start the first question", "repeat cards", "ask for answers", "rate", "call a review tool"):
        assert forbidden in envelope["modelInstruction"]


def test_the_preview_is_what_a_rating_then_stores(alice: Agent, host: Door) -> None:
    due_at = timezone.now() - timedelta(days=3)
    make_card(
        alice.workspace,
        fsrs_card_state="review",
        due_at=due_at,
        fsrs_last_reviewed_at=due_at - timedelta(days=20),
        fsrs_scheduled_days=20,
        fsrs_stability=20.0,
    )
    round_ = open_round(host)
    stored = round_.do("review_card", 0, rating="Good")
    assert stored["intervalSeconds"] == round_.cards[0]["intervals"]["Good"]


def test_long_texts_are_never_cut(alice: Agent, modern_host: Door) -> None:
    make_card(alice.workspace, front_text="f" * 20_000, back_text="ж" * 100_000)
    (card,) = open_round(modern_host).cards
    assert (len(card["frontText"]), len(card["backText"]), card["backHtml"].count("ж")) == (20_000, 100_000, 100_000)


def test_hostile_text_reaches_the_page_as_text(alice: Agent, modern_host: Door) -> None:
    hostile = "<img src=x onerror=alert(1)><script>alert(1)</script>[x](javascript:alert(1))"
    make_card(alice.workspace, front_text=hostile, back_text=hostile)
    (card,) = open_round(modern_host).cards
    for html in (card["frontHtml"], card["backHtml"]):
        assert "<img" not in html
        assert "<script" not in html
        assert "href" not in html
    assert card["frontText"] == hostile


def test_a_reading_connection_opens_with_its_buttons_disabled(alice: Agent) -> None:
    make_card(alice.workspace)
    reader = host_of(alice, key=token_of(alice, Scope.READ))
    round_ = open_round(reader)
    expected = {"ratingsAllowed": False, "ratingsReason": "read_only_connection"}
    assert expected.items() <= round_.data.items()
    assert expected.items() <= round_.do("state").items()


def test_opening_changes_no_card_and_no_event(alice: Agent, modern_host: Door) -> None:
    make_card(alice.workspace, fsrs_card_state="review")
    before = Card.objects.values().get()
    open_session(modern_host)
    assert Card.objects.values().get() == before
    assert not ReviewEvent.objects.exists()


@pytest.mark.parametrize("count", [1, 20])
def test_opening_takes_as_many_queries_for_one_card_as_for_twenty(
    alice: Agent, modern_host: Door, count: int, django_assert_num_queries: Any
) -> None:
    for _ in range(count):
        make_card(alice.workspace)
    offer = due_cards(modern_host)
    # The key, the choice, the offer, the cards; the session and its cards within a transaction.
    with django_assert_num_queries(8):
        launch(modern_host, offer["candidateToken"], *ids(offer["cards"]))


# --- The page


def test_the_page_is_one_document_below_forty_kilobytes(host: Door) -> None:
    (content,) = host.ask("resources/read", {"uri": PAGE_URI})["contents"]
    assert content["mimeType"] == "text/html;profile=mcp-app"
    assert content["text"].lstrip().lower().startswith("<!doctype html>")
    assert len(content["text"].encode()) < PAGE_BYTES_MAX <= 40_000


def test_the_page_asks_for_no_domain(host: Door) -> None:
    (content,) = host.ask("resources/read", {"uri": PAGE_URI})["contents"]
    assert not any(content["_meta"]["ui"]["csp"].values())
    assert "domain" not in content["_meta"]["ui"]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"cardID": "x"}, "Unknown field 'cards.0.cardID'. Known fields: cardId, deckId."),
        ("x", "cards.0: must be an object."),
        (None, "cards.0: must be an object."),
        ({}, "cards.0.cardId is required."),
    ],
)
def test_a_wrong_card_of_the_list_is_told_what_a_card_of_it_has(host: Door, chosen: Any, message: str) -> None:
    error = host.error("flashcard_review_session", candidateToken="x", cards=[chosen], selectionReason="why")
    assert (error["code"], error["message"]) == ("REVIEW_INPUT_INVALID", message)
