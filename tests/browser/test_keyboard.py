"""A round by the keyboard, and where the focus is."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.chat import Chat, Learner
from tests.browser.conftest import OpenChat

pytestmark = [pytest.mark.server, pytest.mark.browser]


@pytest.fixture
def focused(chat: Chat) -> Chat:
    """The chat, with the learner's last click on an empty spot of the page."""
    expect(chat.front).to_have_text("Peru")
    chat.front.click()
    return chat


@pytest.mark.parametrize("key", ["Space", "Enter"])
def test_a_key_reveals_and_then_means_good(focused: Chat, learner: Learner, key: str) -> None:
    focused.page.keyboard.press(key)
    expect(focused.back).to_have_text("Lima")
    expect(focused.button("Good")).to_be_focused()
    focused.page.keyboard.press(key)
    expect(focused.front).to_have_text("Chile")
    expect(focused.front).to_be_focused()
    assert learner.reviews() == [("Peru", 2)]


@pytest.mark.parametrize(("key", "rating"), [("1", 0), ("2", 1), ("3", 2), ("4", 3)])
def test_digits_rate_after_the_reveal_only(focused: Chat, learner: Learner, key: str, rating: int) -> None:
    focused.page.keyboard.press(key)
    focused.page.wait_for_timeout(150)
    expect(focused.back).to_have_count(0)
    assert focused.saved_ratings() == []
    focused.page.keyboard.press("Space")
    focused.page.keyboard.press(key)
    expect(focused.front).to_have_text("Chile")
    assert learner.reviews() == [("Peru", rating)]


@pytest.mark.parametrize("key", ["Space", "Enter"])
def test_a_key_that_is_held_down_reveals_and_no_more(focused: Chat, key: str) -> None:
    for _ in range(5):  # every further `down` of the same key is a repetition
        focused.page.keyboard.down(key)
    focused.page.keyboard.up(key)
    expect(focused.back).to_have_text("Lima")
    focused.page.wait_for_timeout(200)
    expect(focused.front).to_have_text("Peru")
    assert focused.saved_ratings() == []


@pytest.mark.parametrize("key", ["Space", "Enter", "3"])
def test_a_key_that_is_held_down_rates_one_card(focused: Chat, learner: Learner, key: str) -> None:
    focused.page.keyboard.press("Space")
    expect(focused.button("Good")).to_be_focused()
    for _ in range(5):
        focused.page.keyboard.down(key)
    if key == "Space":
        focused.page.keyboard.up(key)  # it presses a button when it is let go
    expect(focused.front).to_have_text("Chile")
    for _ in range(5):
        focused.page.keyboard.down(key)
    focused.page.keyboard.up(key)
    focused.page.wait_for_timeout(200)
    assert learner.reviews() == [("Peru", 2)]


@pytest.mark.parametrize("key", ["Control+Enter", "Shift+Space", "Alt+Enter", "Meta+Space"])
def test_keys_with_a_modifier_belong_to_the_browser(focused: Chat, key: str) -> None:
    focused.page.keyboard.press(key)
    focused.page.wait_for_timeout(150)
    expect(focused.back).to_have_count(0)


def test_digits_with_a_modifier_rate_nothing(focused: Chat) -> None:
    focused.page.keyboard.press("Space")
    for key in ("Control+1", "Alt+2", "Shift+3", "Meta+4"):
        focused.page.keyboard.press(key)
    focused.page.wait_for_timeout(150)
    expect(focused.front).to_have_text("Peru")
    assert focused.saved_ratings() == []


def test_enter_on_another_button_is_that_button(focused: Chat, learner: Learner) -> None:
    focused.page.keyboard.press("Space")
    focused.page.keyboard.press("Shift+Tab")
    expect(focused.button("Hard")).to_be_focused()
    focused.page.keyboard.press("Enter")
    expect(focused.front).to_have_text("Chile")
    assert learner.reviews() == [("Peru", 1)]


def test_the_focus_is_not_taken_when_the_page_loads(chat: Chat) -> None:
    expect(chat.front).to_have_text("Peru")
    assert chat.frame.evaluate("document.activeElement === document.body")
    assert chat.page.evaluate("document.activeElement === document.body")


def test_the_focus_stays_in_the_chat_when_the_learner_went_there(chat: Chat) -> None:
    chat.button("Show answer").click()
    chat.page.evaluate("document.querySelector('main').after(document.createElement('input'))")
    chat.frame.evaluate("setTimeout(() => document.querySelector('.Good').click(), 300)")
    chat.page.locator("input").focus()
    expect(chat.front).to_have_text("Chile")
    expect(chat.page.locator("input")).to_be_focused()


def test_the_focus_is_on_the_heading_after_the_last_card(open_chat: OpenChat) -> None:
    chat = open_chat()
    chat.launch("Peru")
    chat.rate_all("Good")
    expect(chat.view.get_by_role("heading", name="Round finished")).to_be_focused()


def test_one_live_region_tells_what_happened(chat: Chat) -> None:
    status = chat.view.get_by_role("status")
    chat.rate("Good")
    expect(status).to_have_text("Saved: Good. Card 2 of 3")
    live = chat.view.locator("[role=status], [role=alert], [role=log], [aria-live]")
    expect(live).to_have_count(1)


def test_the_answer_is_the_description_of_the_button_that_gets_the_focus(chat: Chat) -> None:
    chat.button("Show answer").click()
    expect(chat.button("Good")).to_have_accessible_description("Lima")
