"""Asking for the next card and for an answer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from tests.agent import Agent
from tests.factories import make_card, make_deck, make_workspace
from tests.review.rows import every_row

NEXT = "/v1/agent/reviews/next"
REVEAL = "/v1/agent/reviews/reveal"


def issues(answer: Any) -> list[tuple[str, str]]:
    """Where and why the answer refuses the input."""
    assert (answer.status, answer.error["code"]) == (400, "REVIEW_INPUT_INVALID")
    return [(issue["path"], issue["code"]) for issue in answer.error["details"]["validationIssues"]]


# next


def test_next_shows_the_front_alone(alice: Agent) -> None:
    card = make_card(alice.workspace, front_text="Capital of France?", back_text="Paris")
    answer = alice.post(NEXT)
    assert answer.status == 200
    assert answer.data == {
        "workspaceId": str(alice.workspace.pk),
        "card": {"cardId": str(card.pk), "frontText": "Capital of France?"},
    }
    assert "Paris" not in str(answer.body)
    assert "/v1/agent/reviews/reveal" in answer.body["instructions"]


def test_next_takes_an_empty_body(alice: Agent) -> None:
    card = make_card(alice.workspace)
    answer = alice.client.generic("POST", NEXT, headers={"authorization": f"ApiKey {alice.key}"})
    assert answer.status_code == 200
    assert answer.json()["data"]["card"]["cardId"] == str(card.pk)


def test_next_of_an_empty_queue_is_null_and_says_that_the_learner_is_done(alice: Agent) -> None:
    make_card(alice.workspace, suspended=True)
    make_card(alice.workspace, fsrs_card_state="review", due_at=timezone.now() + timedelta(hours=1))
    answer = alice.post(NEXT)
    assert answer.data["card"] is None
    assert "done for now" in answer.body["instructions"]


def test_next_of_an_empty_selection_says_that_other_cards_may_be_due(alice: Agent) -> None:
    make_card(alice.workspace, tags=["a"], suspended=True)
    make_card(alice.workspace)
    answer = alice.post(NEXT, {"tags": ["a"]})
    assert answer.data["card"] is None
    assert "without tags and deckId" in answer.body["instructions"]


def test_next_prefers_the_card_that_was_just_reviewed(alice: Agent) -> None:
    now = timezone.now()
    make_card(alice.workspace, fsrs_card_state="review", due_at=now - timedelta(days=9))
    recent = make_card(alice.workspace, fsrs_card_state="learning", due_at=now - timedelta(minutes=1))
    assert alice.post(NEXT).data["card"]["cardId"] == str(recent.pk)


def test_next_takes_cards_that_carry_any_of_the_tags_whatever_their_case(alice: Agent) -> None:
    make_card(alice.workspace, tags=["other"])
    card = make_card(alice.workspace, tags=["Straße", "Verbs"])
    for tags in (["verbs"], ["VERBS"], ["  verbs\n"], ["STRAßE"], ["straße", "verbs"]):
        assert alice.post(NEXT, {"tags": tags}).data["card"]["cardId"] == str(card.pk)


def test_no_tags_select_nothing(alice: Agent) -> None:
    make_card(alice.workspace)
    assert alice.post(NEXT, {"tags": []}).data["card"] is None


def test_a_tag_that_only_a_deleted_card_carries_is_not_in_use(alice: Agent) -> None:
    make_card(alice.workspace, tags=["gone"], deleted_at=timezone.now())
    assert issues(alice.post(NEXT, {"tags": ["gone"]})) == [("tags.0", "unknown_tag")]


def test_a_tag_that_only_a_suspended_card_carries_is_in_use(alice: Agent) -> None:
    make_card(alice.workspace, tags=["paused"], suspended=True)
    assert alice.post(NEXT, {"tags": ["paused"]}).data["card"] is None


def test_unknown_tags_are_named_up_to_five(alice: Agent, bob: Agent) -> None:
    make_card(alice.workspace, tags=["known"])
    make_card(bob.workspace, tags=["bobs"])
    answer = alice.post(NEXT, {"tags": ["bobs", "known", "b", "B", "c", "d", "e", "f", "g"]})
    named = [("tags.0", "unknown_tag"), ("tags.2", "unknown_tag")]
    assert issues(answer) == [*named, *((f"tags.{index}", "unknown_tag") for index in (4, 5, 6))]
    assert answer.error["message"] == 'No card carries the tags "bobs", "b", "c", "d", "e" and 2 more.'
    assert "SELECT tag" in answer.body["instructions"]


def test_a_single_unknown_tag_is_named_and_cut_short(alice: Agent) -> None:
    assert alice.post(NEXT, {"tags": ["a"]}).error["message"] == 'No card carries the tag "a".'
    assert len(alice.post(NEXT, {"tags": ["x" * 5000]}).error["message"]) < 120


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"tags": [" "]}, "tags.0", "invalid_value"),
        ({"tags": ["ok", ""]}, "tags.1", "invalid_value"),
        ({"tags": ["a\x00b"]}, "tags.0", "invalid_value"),
        ({"tags": ["\ud800"]}, "tags.0", "invalid_value"),
        ({"tags": [1]}, "tags.0", "invalid_value"),
        ({"tags": [None]}, "tags.0", "invalid_value"),
        ({"tags": "verbs"}, "tags", "invalid_value"),
        ({"tags": {"0": "verbs"}}, "tags", "invalid_value"),
        ({"tags": [f"t{number}" for number in range(101)]}, "tags", "invalid_value"),
        ({"deckId": "Spanish"}, "deckId", "invalid_value"),
        ({"deckId": 5}, "deckId", "invalid_value"),
        ({"deckId": ""}, "deckId", "invalid_value"),
        ({"deck_id": str(uuid4())}, "deck_id", "unknown_field"),
        ({"workspaceid": str(uuid4())}, "workspaceid", "unknown_field"),
    ],
)
def test_next_refuses_arguments_that_are_not_of_their_form(alice: Agent, body: Any, path: str, code: str) -> None:
    make_card(alice.workspace, tags=["verbs"])
    assert issues(alice.post(NEXT, body)) == [(path, code)]


@pytest.mark.parametrize("tags", [["verbs"], []])
def test_next_refuses_tags_together_with_a_deck(alice: Agent, tags: list[str]) -> None:
    make_card(alice.workspace, tags=["verbs"])
    deck = make_deck(alice.workspace)
    answer = alice.post(NEXT, {"tags": tags, "deckId": str(deck.pk)})
    assert issues(answer) == [("body", "invalid_value")]
    assert "exclude each other" in answer.error["message"]


def test_a_hundred_tags_are_taken(alice: Agent) -> None:
    tags = [f"tag {number}" for number in range(100)]
    for half in (tags[:50], tags[50:]):
        make_card(alice.workspace, tags=half)
    assert alice.post(NEXT, {"tags": tags}).data["card"]


def test_a_malformed_body_is_refused_under_the_review_code(alice: Agent) -> None:
    answer = alice.client.post(
        NEXT, "{", content_type="application/json", headers={"authorization": f"ApiKey {alice.key}"}
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "REVIEW_INPUT_INVALID")


def test_a_deck_selects_by_its_tags_and_its_own_unused_ones_are_no_error(alice: Agent) -> None:
    make_card(alice.workspace, tags=["other"])
    card = make_card(alice.workspace, tags=["Verbs"])
    deck = make_deck(alice.workspace, tags=["verbs", "unused"])
    assert alice.post(NEXT, {"deckId": str(deck.pk).upper()}).data["card"]["cardId"] == str(card.pk)
    unused = make_deck(alice.workspace, tags=["unused"])
    assert alice.post(NEXT, {"deckId": str(unused.pk)}).data["card"] is None


def test_a_deck_without_tags_selects_every_card(alice: Agent) -> None:
    card = make_card(alice.workspace, tags=["other"])
    deck = make_deck(alice.workspace, tags=[])
    assert alice.post(NEXT, {"deckId": str(deck.pk)}).data["card"]["cardId"] == str(card.pk)


def test_bob_is_refused_alices_deck_with_the_answer_of_one_that_does_not_exist(alice: Agent, bob: Agent) -> None:
    foreign = make_deck(alice.workspace)
    deleted = make_deck(bob.workspace, deleted_at=timezone.now())
    answers = [bob.post(NEXT, {"deckId": str(deck_id)}) for deck_id in (foreign.pk, deleted.pk, uuid4())]
    assert {answer.status for answer in answers} == {404}
    assert {answer.error["code"] for answer in answers} == {"DECK_NOT_FOUND"}
    same = [{**answer.body, "requestId": ""} for answer in answers]
    assert same[0] == same[1] == same[2]


def test_bob_never_gets_alices_card(alice: Agent, bob: Agent) -> None:
    make_card(alice.workspace)
    assert bob.post(NEXT).data["card"] is None
    answer = bob.post(NEXT, {"workspaceId": str(alice.workspace.pk)})
    assert (answer.status, answer.error["code"]) == (404, "WORKSPACE_NOT_FOUND")
    unknown = bob.post(NEXT, {"workspaceId": str(uuid4())})
    assert {**answer.body, "requestId": ""} == {**unknown.body, "requestId": ""}


def test_next_works_in_the_workspace_that_is_named(alice: Agent) -> None:
    second = make_workspace(alice.user, name="Second")
    card = make_card(second)
    assert alice.post(NEXT, {"workspaceId": str(second.pk)}).data["card"]["cardId"] == str(card.pk)
    assert alice.post(NEXT).error["code"] == "WORKSPACE_SELECTION_REQUIRED"
    assert alice.post(NEXT, {"workspaceId": "second"}).error["code"] == "WORKSPACE_ID_INVALID"


# reveal


def test_reveal_shows_the_answer_and_how_to_rate(alice: Agent) -> None:
    card = make_card(alice.workspace, back_text="Paris")
    answer = alice.post(REVEAL, {"cardId": str(card.pk)})
    assert answer.data == {"workspaceId": str(alice.workspace.pk), "cardId": str(card.pk), "backText": "Paris"}
    for word in ("Again =", "Hard =", "Good =", "Easy =", "/v1/agent/reviews/submit", "reviewId"):
        assert word in answer.body["instructions"]


def test_a_suspended_card_is_revealed(alice: Agent) -> None:
    card = make_card(alice.workspace, suspended=True)
    assert alice.post(REVEAL, {"cardId": str(card.pk)}).status == 200


def test_bob_is_refused_alices_answer_with_that_of_a_card_that_does_not_exist(alice: Agent, bob: Agent) -> None:
    foreign = make_card(alice.workspace, back_text="a secret")
    deleted = make_card(bob.workspace, deleted_at=timezone.now())
    answers = [bob.post(REVEAL, {"cardId": str(card_id)}) for card_id in (foreign.pk, deleted.pk, uuid4())]
    assert {(answer.status, answer.error["code"]) for answer in answers} == {(404, "CARD_NOT_FOUND")}
    same = [{**answer.body, "requestId": ""} for answer in answers]
    assert same[0] == same[1] == same[2]
    answer = bob.post(REVEAL, {"cardId": str(foreign.pk), "workspaceId": str(alice.workspace.pk)})
    assert answer.error["code"] == "WORKSPACE_NOT_FOUND"


@pytest.mark.parametrize(
    "body", [{}, {"cardId": None}, {"cardId": "7"}, {"cardId": "3f2b8c1e9a4d4c7b8f102d6e5a90b1c4"}]
)
def test_reveal_refuses_what_is_no_card_id(alice: Agent, body: Any) -> None:
    assert [path for path, _ in issues(alice.post(REVEAL, body))] == ["cardId"]


# both


def test_next_and_reveal_change_no_row(alice: Agent) -> None:
    card = make_card(alice.workspace, tags=["a"], fsrs_card_state="learning", due_at=timezone.now())
    deck = make_deck(alice.workspace, tags=["a"])
    before = every_row()
    for _ in range(2):
        alice.post(NEXT)
        alice.post(NEXT, {"tags": ["a"]})
        alice.post(NEXT, {"tags": ["unknown"]})
        alice.post(NEXT, {"deckId": str(deck.pk)})
        alice.post(REVEAL, {"cardId": str(card.pk)})
        alice.post(REVEAL, {"cardId": str(uuid4())})
    assert every_row() == before


@pytest.mark.parametrize("path", [NEXT, REVEAL])
def test_a_caller_without_a_key_is_refused(alice: Agent, path: str) -> None:
    alice.key = ""
    assert alice.post(path).error["code"] == "AUTHENTICATION_REQUIRED"


@pytest.mark.parametrize("path", [NEXT, REVEAL])
def test_reading_by_get_is_refused(alice: Agent, path: str) -> None:
    answer = alice.get(path)
    assert (answer.status, answer.error["code"]) == (405, "METHOD_NOT_ALLOWED")


def test_next_and_reveal_take_a_fixed_number_of_queries(alice: Agent, django_assert_num_queries: Any) -> None:
    card = make_card(alice.workspace, tags=["a"])
    deck = make_deck(alice.workspace, tags=["a"])
    alice.post(NEXT)
    key_and_workspace, buckets = 2, 3
    with django_assert_num_queries(key_and_workspace + buckets):
        alice.post(NEXT)
    with django_assert_num_queries(key_and_workspace + 2 + buckets):
        alice.post(NEXT, {"tags": ["a", "A"]})
    with django_assert_num_queries(key_and_workspace + 2 + buckets):
        alice.post(NEXT, {"deckId": str(deck.pk)})
    with django_assert_num_queries(key_and_workspace + 1):
        alice.post(REVEAL, {"cardId": str(card.pk)})
