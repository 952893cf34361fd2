"""What the page does when a rating is not saved, and what a second attempt stores."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.chat import Chat, Learner
from tests.browser.conftest import OpenChat

pytestmark = [pytest.mark.server, pytest.mark.browser]


@pytest.mark.parametrize("fault", ["lost", "unanswered"])
def test_a_failed_save_keeps_the_card_and_retries_with_the_same_id(chat: Chat, learner: Learner, fault: str) -> None:
    chat.fail_next(fault)
    chat.rate("Good")
    expect(chat.notes).to_contain_text("Not saved.")
    expect(chat.front).to_have_text("Peru")
    expect(chat.back).to_have_text("Lima")
    expect(chat.button("Try again")).to_be_focused()
    chat.button("Try again").click()
    expect(chat.front).to_have_text("Chile")
    first, second = chat.saved_ratings()
    assert first == second
    assert learner.reviews() == [("Peru", 2)]


def test_another_rating_after_a_lost_answer_shows_the_one_that_was_stored(chat: Chat, learner: Learner) -> None:
    chat.fail_next("unanswered")
    chat.rate("Again")
    expect(chat.notes).to_contain_text("Not saved.")
    chat.button("Easy").click()
    expect(chat.front).to_have_text("Chile")
    expect(chat.view.get_by_role("status")).to_contain_text("Saved: Again.")
    assert len({call["reviewId"] for call in chat.saved_ratings()}) == 1
    assert learner.reviews() == [("Peru", 0)]


def test_a_card_that_cannot_be_saved_can_be_skipped(chat: Chat, learner: Learner) -> None:
    chat.fail_next("lost", "lost", "lost")
    chat.rate("Good")
    chat.button("Try again").click()
    expect(chat.button("Try again")).to_be_visible()
    chat.button("Skip").click()
    expect(chat.front).to_have_text("Chile")
    chat.rate("Good")
    expect(chat.front).to_have_text("Bolivia")
    assert learner.reviews() == [("Chile", 2)]


def test_the_keys_rate_again_after_a_failure(chat: Chat) -> None:
    chat.fail_next("lost")
    chat.rate("Good")
    expect(chat.button("Try again")).to_be_focused()
    chat.page.keyboard.press("Enter")
    expect(chat.front).to_have_text("Chile")


def test_a_card_that_was_deleted_in_between_is_named_and_skipped(chat: Chat, learner: Learner) -> None:
    chat.button("Show answer").click()
    learner.delete_card("Peru")
    chat.button("Good").click()
    expect(chat.notes).to_contain_text("This card was deleted.")
    expect(chat.button("Try again")).to_have_count(0)
    expect(chat.button("Skip")).to_be_focused()
    chat.button("Skip").click()
    expect(chat.front).to_have_text("Chile")


def test_an_undo_that_fails_leaves_the_rating_and_can_be_repeated(chat: Chat) -> None:
    chat.rate("Good")
    expect(chat.front).to_have_text("Chile")
    chat.fail_next("unanswered")
    chat.button("Undo last rating").click()
    expect(chat.notes).to_have_text("Not undone.")
    expect(chat.front).to_have_text("Chile")
    chat.button("Try again").click()
    expect(chat.front).to_have_text("Peru")


def test_a_rating_that_is_older_than_ten_minutes_stands(chat: Chat, learner: Learner) -> None:
    chat.rate("Good")
    expect(chat.front).to_have_text("Chile")
    learner.age_reviews(minutes=11)
    chat.button("Undo last rating").click()
    expect(chat.notes).to_contain_text("That rating can no longer be undone.")
    chat.rate("Good")
    expect(chat.front).to_have_text("Bolivia")
    assert learner.reviews() == [("Peru", 2), ("Chile", 2)]


def test_a_session_that_is_over_says_so(chat: Chat, learner: Learner) -> None:
    chat.button("Show answer").click()
    learner.expire("ReviewSession")
    chat.button("Good").click()
    expect(chat.view.locator("h1")).to_have_text("This round is over")
    expect(chat.view.get_by_text("Ask for a new round in the chat.")).to_be_visible()
    assert learner.reviews() == []


def test_ratings_switched_off_during_a_round_disable_the_buttons_and_name_the_page(
    chat: Chat, learner: Learner
) -> None:
    chat.button("Show answer").click()
    learner.allow(enabled="on")
    chat.button("Good").click()
    expect(chat.notes).to_contain_text("Saving ratings from this card is switched off")
    expect(chat.button("Good")).to_be_disabled()
    chat.button("Open settings").click()
    chat.page.wait_for_function("chat.links.length")
    assert chat.read("links") == [f"{learner.server.url}/settings/apps/"]


def test_a_host_that_opens_no_links_gets_the_address_of_the_settings(open_chat: OpenChat, learner: Learner) -> None:
    learner.allow(enabled="on")
    chat = open_chat(without=["openLinks"])
    chat.launch()
    chat.button("Open settings").click()
    expect(chat.notes).to_have_text(f"{learner.server.url}/settings/apps/")
    expect(chat.button("Open settings")).to_be_focused()


def test_an_app_that_is_switched_off_during_a_round_says_so(chat: Chat, learner: Learner) -> None:
    chat.button("Show answer").click()
    learner.allow()
    chat.button("Good").click()
    expect(chat.notes).to_contain_text("Saving ratings from this card is switched off")
    expect(chat.button("Open settings")).to_be_visible()


def test_a_connection_that_may_only_read_opens_the_round_with_disabled_buttons(
    open_chat: OpenChat, learner: Learner
) -> None:
    chat = open_chat(key=learner.read_only_token())
    chat.launch()
    expect(chat.notes).to_have_text("This connection may only read, so ratings are off.")
    chat.button("Show answer").click()
    expect(chat.button("Good")).to_be_disabled()
    expect(chat.button("Open settings")).to_have_count(0)
    for front in ("Chile", "Bolivia"):
        chat.button("Next card").click()
        expect(chat.front).to_have_text(front)
    chat.page.evaluate("chat.remount()")
    expect(chat.front).to_have_text("Bolivia")


def test_a_host_without_tools_shows_the_cards_and_why_nothing_is_saved(open_chat: OpenChat) -> None:
    chat = open_chat(without=["serverTools"])
    chat.launch()
    expect(chat.notes).to_contain_text("This chat app cannot save ratings.")
    chat.button("Show answer").click()
    expect(chat.button("Good")).to_be_disabled()
    expect(chat.button("Next card")).to_be_focused()
    chat.button("Next card").click()
    expect(chat.front).to_have_text("Chile")


def test_ratings_switched_off_open_the_round_with_disabled_buttons(open_chat: OpenChat, learner: Learner) -> None:
    learner.allow(enabled="on")
    chat = open_chat()
    chat.launch()
    expect(chat.notes).to_contain_text("Saving ratings from this card is switched off")
    chat.button("Show answer").click()
    for rating in ("Again", "Hard", "Good", "Easy"):
        expect(chat.button(rating)).to_be_disabled()
    chat.page.keyboard.press("3")
    chat.page.wait_for_timeout(150)
    assert chat.saved_ratings() == []
    chat.button("Next card").click()
    expect(chat.front).to_have_text("Chile")
