"""The page "MCP Apps", and what its two choices do from the next request on."""

from __future__ import annotations

from typing import Any

import pytest

from review.app.models import ReviewAppChoice
from review.models import ReviewEvent
from tests.agent import Agent
from tests.app.host import due_cards, host_of, open_round, open_session
from tests.app.test_gating import ASKED, assert_told_nothing, names
from tests.factories import make_card
from tests.mcp_bridge.door import Door, door_of
from tests.mcp_bridge.test_tools import TOOLS
from tests.oauth.app import Browser
from tests.oauth.test_consent import text_of

PAGE = "/settings/apps/"
PUBLIC_PAGE = "http://localhost:8000/settings/apps/"


@pytest.fixture
def browser(alice: Agent) -> Browser:
    """Alice's browser, signed in."""
    return Browser(alice.user)


def choose(browser: Browser, **ticked: str) -> Any:
    """Open the page, tick these boxes alone, and save."""
    return browser.press(PAGE, browser.get(PAGE), **ticked)


def boxes(browser: Browser) -> list[bool]:
    """Which of the two boxes are ticked."""
    return [
        " checked" in part.split(">")[0] for part in browser.get(PAGE).content.decode().split('type="checkbox"')[1:]
    ]


def test_both_are_on_until_somebody_says_otherwise(browser: Browser) -> None:
    assert boxes(browser) == [True, True]
    assert not ReviewAppChoice.objects.exists()


@pytest.mark.parametrize("ticked", [{}, {"enabled": "on"}, {"may_rate": "on"}, {"enabled": "on", "may_rate": "on"}])
def test_what_is_saved_is_shown_again(browser: Browser, ticked: dict[str, str]) -> None:
    answer = choose(browser, **ticked)
    assert (answer.status_code, answer["Location"]) == (303, PAGE)
    assert "Saved." in text_of(browser.get(PAGE))
    assert boxes(browser) == ["enabled" in ticked, "may_rate" in ticked]


def test_a_form_from_elsewhere_changes_nothing(browser: Browser) -> None:
    assert browser.http.post(PAGE, {}).status_code == 403
    assert boxes(browser) == [True, True]


def test_whoever_is_not_signed_in_is_sent_to_sign_in(db: None) -> None:
    answer = Browser().get(PAGE)
    assert (answer.status_code, answer["Location"]) == (302, "/login/?next=%2Fsettings%2Fapps%2F")


def test_the_choice_is_the_users_own(browser: Browser, bob: Agent) -> None:
    choose(browser)
    assert boxes(Browser(bob.user)) == [True, True]
    assert "flashcard_review_session" in names(host_of(bob))


@pytest.mark.parametrize(
    ("locale", "said"), [("en", "Show the review app"), ("zh", "显示复习应用"), ("ru", "Сохранить")]
)
def test_the_page_speaks_the_users_language(browser: Browser, alice: Agent, locale: str, said: str) -> None:
    alice.user.locale = locale
    alice.user.save()
    assert said in text_of(browser.get(PAGE))


# --- The app off


def test_switched_off_the_app_vanishes_with_the_next_request(browser: Browser, host: Door) -> None:
    assert names(host)[7:]
    choose(browser, may_rate="on")
    assert names(host) == list(TOOLS)
    assert host.ask("resources/list")["resources"] == []
    assert "error" in host.post("resources/read", {"uri": "ui://flashcards/review-v1.html"}).json()
    asked = host.ask("server/discover") if host.is_modern else host.initialize().json()["result"]
    assert "extensions" not in asked["capabilities"]
    choose(browser, enabled="on")
    assert names(host)[7:]


def test_a_call_from_an_old_list_names_the_page(browser: Browser, host: Door, alice: Agent) -> None:
    make_card(alice.workspace)
    offer, opened = due_cards(host), open_round(host)
    choose(browser)
    session = {
        "candidateToken": offer["candidateToken"],
        "cards": [{"cardId": offer["cards"][0]["cardId"]}],
        "selectionReason": "why",
    }
    errors = [
        host.error("flashcard", action="list_cards"),
        host.error("flashcard", action="get_decks"),
        host.error("flashcard_review_session", **session),
        *(opened.fail(action, 0) for action in ("review_card", "skip", "undo")),
        opened.fail("state"),
    ]
    for error in errors:
        assert error["code"] == "REVIEW_APP_SWITCHED_OFF"
        assert PUBLIC_PAGE in error["message"]
        assert error["details"] == {"settingsUrl": PUBLIC_PAGE}
    assert not ReviewEvent.objects.exists()


def test_flashcard_asked_for_by_header_stays(browser: Browser, alice: Agent) -> None:
    make_card(alice.workspace)
    choose(browser)
    assert_told_nothing(door_of(alice, more_headers=ASKED), known=("flashcard",))
    host = host_of(alice, **ASKED)
    assert names(host) == [*TOOLS, "flashcard"]
    data = host.data("flashcard", action="list_cards")
    assert data["cards"][0]["back"] == "Back"
    assert "candidateToken" not in data


# --- Ratings off


def test_without_leave_to_rate_the_app_opens_with_its_buttons_disabled(
    browser: Browser, host: Door, alice: Agent
) -> None:
    make_card(alice.workspace)
    choose(browser, enabled="on")
    opened = open_round(host)
    expected = {"ratingsAllowed": False, "ratingsReason": "switched_off", "settingsUrl": PUBLIC_PAGE}
    assert expected.items() <= opened.data.items()
    assert expected.items() <= opened.do("state").items()


def test_without_leave_to_rate_a_rating_is_refused_with_the_page_named(
    browser: Browser, host: Door, alice: Agent
) -> None:
    make_card(alice.workspace)
    opened = open_round(host)
    assert opened.data["ratingsAllowed"] is True
    choose(browser, enabled="on")
    for action in ("review_card", "undo"):
        error = opened.fail(action, 0)
        assert error["code"] == "REVIEW_APP_RATINGS_SWITCHED_OFF"
        assert PUBLIC_PAGE in error["message"]
    assert not ReviewEvent.objects.exists()
    assert opened.do("skip", 0)["card"]["status"] == "skipped"


def test_without_leave_to_rate_the_chat_may_still_submit(browser: Browser, host: Door, alice: Agent) -> None:
    card = make_card(alice.workspace)
    choose(browser, enabled="on")
    assert not open_session(host)["isError"]
    review_id = "b1d7c6f2-5e0a-4f38-9c21-7a4e8d3b6f05"
    rating = {"cardId": str(card.card_id), "reviewId": review_id, "rating": "Good", "reviewedTimeZone": "UTC"}
    assert host.data("submit_review", **rating)["reps"] == 1
