"""How a round opens, does not open, or opens again."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.chat import Chat, Learner, guessed_id
from tests.browser.conftest import OpenChat

pytestmark = [pytest.mark.server, pytest.mark.browser]


def test_guessed_and_deleted_cards_are_left_out_and_named_once(open_chat: OpenChat, learner: Learner) -> None:
    chat = open_chat()
    token = chat.candidates()["candidateToken"]
    ids = [learner.cards["Peru"], guessed_id(), learner.cards["Chile"], learner.cards["Bolivia"], guessed_id()]
    learner.delete_card("Chile")
    chat.launch(candidateToken=token, cards=[{"cardId": card_id} for card_id in ids])
    expect(chat.count).to_have_text("Card 1 of 2")
    expect(chat.notes).to_have_text("Left out: 2 not on the list, 1 deleted or no longer accessible.")
    chat.rate("Good")
    expect(chat.front).to_have_text("Bolivia")
    expect(chat.view.get_by_text("Left out")).to_have_count(0)


def test_a_card_chosen_twice_is_asked_once(open_chat: OpenChat, learner: Learner) -> None:
    chat = open_chat()
    twice = [{"cardId": learner.cards["Chile"]}, {"cardId": learner.cards["Peru"]}, {"cardId": learner.cards["Chile"]}]
    chat.launch(cards=twice)
    expect(chat.count).to_have_text("Card 1 of 2")
    expect(chat.front).to_have_text("Chile")


COULD_NOT_OPEN = {
    "en-GB": ["The review could not open", "The list of these cards is too old.", "Ask for a new round in the chat."],
    "ru-RU": ["Не удалось открыть повторение", "Список этих карточек устарел.", "Попросите новый раунд в чате."],
}


@pytest.mark.parametrize("locale", COULD_NOT_OPEN)
def test_an_expired_token_says_in_words_for_people_that_the_review_could_not_open(
    open_chat: OpenChat, learner: Learner, locale: str
) -> None:
    chat = open_chat(locale=locale)
    token = chat.candidates()["candidateToken"]
    learner.expire("CandidateSnapshot")
    result = chat.launch(candidateToken=token)
    assert result["isError"]
    expect(chat.view.locator(".message > *")).to_have_text(COULD_NOT_OPEN[locale])


def test_another_refusal_is_told_in_its_own_words(open_chat: OpenChat) -> None:
    chat = open_chat()
    result = chat.launch(cards=[])
    assert result["isError"]
    message = result["structuredContent"]["error"]["message"]
    expect(chat.view.locator(".message p")).to_have_text([message, "Ask for a new round in the chat."])


def test_a_cancelled_call_says_so(open_chat: OpenChat) -> None:
    chat = open_chat()
    chat.page.evaluate("chat.launchAndCancel()")
    expect(chat.view.locator("h1")).to_have_text("The review was cancelled")
    expect(chat.view.get_by_role("status")).to_have_text("The review was cancelled")


def test_a_page_that_is_mounted_again_goes_on_where_it_was(chat: Chat, learner: Learner) -> None:
    chat.rate("Again")
    expect(chat.front).to_have_text("Chile")
    chat.button("Skip").click()
    expect(chat.front).to_have_text("Bolivia")
    chat.page.evaluate("chat.remount()")
    expect(chat.count).to_have_text("Card 3 of 3")
    expect(chat.front).to_have_text("Bolivia")
    expect(chat.back).to_have_count(0)
    chat.rate_all("Good")
    expect(chat.notes).to_contain_text("Skipped: 1")
    assert learner.reviews() == [("Peru", 0), ("Bolivia", 2)]


def test_a_finished_round_that_is_mounted_again_shows_its_summary(open_chat: OpenChat) -> None:
    chat = open_chat()
    chat.launch("Peru")
    chat.rate_all("Hard")
    chat.page.evaluate("chat.remount()")
    expect(chat.view.get_by_role("heading", name="Round finished")).to_be_visible()
    expect(chat.view.get_by_text("1Hard")).to_be_visible()


def test_the_id_that_an_undo_gave_survives_a_new_mount(chat: Chat, learner: Learner) -> None:
    chat.rate("Again")
    expect(chat.front).to_have_text("Chile")
    chat.button("Undo last rating").click()
    expect(chat.front).to_have_text("Peru")
    chat.page.evaluate("chat.remount()")
    expect(chat.front).to_have_text("Peru")
    chat.rate("Good")
    expect(chat.front).to_have_text("Chile")
    first, second = chat.saved_ratings()
    assert first["reviewId"] != second["reviewId"]


def test_a_card_reviewed_elsewhere_since_is_still_asked(open_chat: OpenChat, learner: Learner) -> None:
    chat = open_chat()
    token = chat.candidates()["candidateToken"]
    sent = {"cardId": learner.cards["Peru"], "reviewId": guessed_id(), "rating": "Easy", "reviewedTimeZone": "UTC"}
    assert learner.server.request("POST", "/v1/agent/reviews/submit", sent, key=learner.key).status == 200
    chat.launch("Peru", candidateToken=token)
    chat.rate_all("Good")
    assert learner.reviews() == [("Peru", 3), ("Peru", 2)]


def test_a_round_that_is_over_says_so_when_it_is_mounted_again(chat: Chat, learner: Learner) -> None:
    expect(chat.front).to_have_text("Peru")
    learner.expire("ReviewSession")
    chat.page.evaluate("chat.remount()")
    expect(chat.view.locator("h1")).to_have_text("This round is over")


def test_a_result_that_comes_twice_changes_nothing(chat: Chat) -> None:
    chat.rate("Good")
    expect(chat.front).to_have_text("Chile")
    chat.button("Show answer").click()
    chat.page.evaluate("chat.bridge.sendToolResult(chat.result)")
    chat.page.wait_for_timeout(200)
    expect(chat.back).to_have_text("Santiago")
    assert [call["action"] for call in chat.read("calls")] == ["state", "review_card"]
