"""A round from the first prompt to the summary, in both protocol eras."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.chat import RATINGS, REASON, Chat, Learner
from tests.browser.conftest import OpenChat

pytestmark = [pytest.mark.server, pytest.mark.browser]


@pytest.mark.parametrize(("era", "revision"), [("legacy", "2025-11-25"), ("modern", "2026-07-28")])
def test_a_round_is_reviewed_to_its_end(open_chat: OpenChat, learner: Learner, era: str, revision: str) -> None:
    chat = open_chat(era=era)
    assert chat.revision == revision
    chat.launch()
    expect(chat.count).to_have_text("Card 1 of 3")
    expect(chat.view.get_by_text(REASON)).to_be_visible()
    expect(chat.front).to_have_text("Peru")
    chat.rate("Good")
    expect(chat.count).to_have_text("Card 2 of 3")
    expect(chat.front).to_have_text("Chile")
    chat.rate("Again")
    expect(chat.front).to_have_text("Bolivia")
    chat.rate_all("Easy")
    counts = chat.view.get_by_role("listitem").filter(has_text=re.compile("Again|Hard|Good|Easy"))
    expect(counts).to_have_text(["1Again", "0Hard", "1Good", "1Easy"])
    expect(chat.view.get_by_text("Worth another look")).to_be_visible()
    assert learner.reviews() == [("Peru", 2), ("Chile", 0), ("Bolivia", 3)]


def test_the_answer_is_not_in_the_document_before_it_is_revealed(chat: Chat) -> None:
    expect(chat.front).to_have_text("Peru")
    for answer in ("Lima", "Santiago", "Sucre"):
        assert answer not in chat.frame.content()
    chat.button("Show answer").click()
    expect(chat.back).to_have_text("Lima")
    assert "Santiago" not in chat.frame.content()


def test_the_ratings_carry_their_intervals_in_words(chat: Chat) -> None:
    chat.button("Show answer").click()
    names = ("Again 1 minute", r"Hard \d minutes", "Good 10 minutes", r"Easy \d+ days")
    for rating, name in zip(RATINGS, names, strict=True):
        expect(chat.button(rating)).to_have_accessible_name(re.compile(f"^{name}$"))


def test_the_progress_bar_tells_how_many_are_done(chat: Chat) -> None:
    bar = chat.view.get_by_role("progressbar", name="Progress of the round")
    expect(bar).to_have_attribute("aria-valuenow", "0")
    chat.rate("Good")
    expect(bar).to_have_attribute("aria-valuenow", "1")
    expect(bar).to_have_attribute("aria-valuemax", "3")


def test_the_time_zone_of_the_host_is_stored(chat: Chat, learner: Learner) -> None:
    chat.rate("Good")
    expect(chat.front).to_have_text("Chile")
    assert chat.saved_ratings()[0]["reviewedTimeZone"] == "Europe/Vienna"


def test_the_zone_of_the_browser_serves_where_the_host_names_none_it_knows(open_chat: OpenChat) -> None:
    chat = open_chat(timeZone="Mars/Olympus")
    chat.launch()
    chat.rate("Good")
    expect(chat.front).to_have_text("Chile")
    assert chat.saved_ratings()[0]["reviewedTimeZone"] == "Asia/Tokyo"


def test_a_skipped_card_is_passed_over_and_can_be_taken_up_again(chat: Chat, learner: Learner) -> None:
    chat.button("Skip").click()
    expect(chat.front).to_have_text("Chile")
    chat.rate("Good")
    expect(chat.front).to_have_text("Bolivia")
    chat.rate_all("Good")
    expect(chat.notes).to_contain_text("Skipped: 1")
    chat.button("Return to skipped").click()
    expect(chat.front).to_have_text("Peru")
    chat.rate_all("Hard")
    assert learner.reviews() == [("Chile", 2), ("Bolivia", 2), ("Peru", 1)]


def test_a_round_of_which_nothing_was_rated_offers_no_message(chat: Chat) -> None:
    for front in ("Peru", "Chile", "Bolivia"):
        expect(chat.front).to_have_text(front)
        chat.button("Skip").click()
    expect(chat.view.get_by_text("No card was rated.")).to_be_visible()
    expect(chat.button("Ask AI")).to_have_count(0)


def test_the_last_rating_can_be_taken_back(chat: Chat, learner: Learner) -> None:
    chat.rate("Again")
    expect(chat.front).to_have_text("Chile")
    chat.button("Undo last rating").click()
    expect(chat.front).to_have_text("Peru")
    expect(chat.back).to_have_text("Lima")
    expect(chat.view.get_by_role("status")).to_have_text("The rating was taken back.")
    assert learner.sql("SELECT reps FROM cards ORDER BY created_at LIMIT 1")["rows"] == [{"reps": 0}]
    chat.button("Easy").click()
    expect(chat.front).to_have_text("Chile")
    first, second = chat.saved_ratings()
    assert first["reviewId"] != second["reviewId"]
    assert learner.sql("SELECT reps FROM cards ORDER BY created_at LIMIT 1")["rows"] == [{"reps": 1}]


def test_the_last_rating_can_be_taken_back_from_the_summary(chat: Chat) -> None:
    chat.rate("Good")
    chat.rate("Good")
    chat.rate_all("Again")
    chat.button("Undo last rating").click()
    expect(chat.front).to_have_text("Bolivia")
    expect(chat.count).to_have_text("Card 3 of 3")


def test_a_double_click_on_show_answer_rates_nothing(chat: Chat) -> None:
    chat.button("Show answer").dblclick(position={"x": 80, "y": 30})
    expect(chat.back).to_have_text("Lima")
    chat.page.wait_for_timeout(200)
    assert chat.saved_ratings() == []


def test_a_double_click_on_a_rating_stores_one_and_leaves_the_next_answer_hidden(chat: Chat, learner: Learner) -> None:
    chat.button("Show answer").click()
    box = chat.button("Good").bounding_box()
    assert box
    x, y = box["x"] + 20, box["y"] + 20
    chat.page.mouse.click(x, y)
    expect(chat.front).to_have_text("Chile")
    chat.page.mouse.down(click_count=2)  # by now "Show answer" is there
    chat.page.mouse.up(click_count=2)
    chat.page.wait_for_timeout(200)
    expect(chat.back).to_have_count(0)
    assert learner.reviews() == [("Peru", 2)]


def test_a_card_without_an_answer_says_so(open_chat: OpenChat, learner: Learner) -> None:
    learner.add_card("Only a prompt", "")
    chat = open_chat()
    chat.launch("Only a prompt")
    chat.button("Show answer").click()
    expect(chat.back).to_have_text("This card has no answer text.")


@pytest.mark.parametrize(
    ("locale", "words"), [("en-GB", "Show answer"), ("zh-CN", "显示答案"), ("ru-RU", "Показать ответ")]
)
def test_the_page_speaks_the_language_of_the_learner(
    open_chat: OpenChat, learner: Learner, locale: str, words: str
) -> None:
    learner.speak(locale[:2])
    chat = open_chat(locale="de-AT")
    chat.launch()
    expect(chat.button(words)).to_be_visible()
    assert chat.frame.evaluate("document.documentElement.lang") == locale[:2]
