"""What the review loop tells a model that has never seen it, at each door in that door's words."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.utils import timezone

from accounts.auth import Principal
from flashcards.api import AnyOperation
from flashcards.envelope import Reply, Surface
from flashcards.errors import Advice, AppError, error_classes
from flashcards.operation import Call, Effect, Operation
from flashcards.outcome import perform
from review import errors
from review.operations import next_review_card, reveal_answer, submit_review
from tests.agent import Agent
from tests.factories import make_card

OPERATIONS: list[AnyOperation] = [next_review_card, reveal_answer, submit_review]
TOOLS = ("next_review_card", "reveal_answer", "submit_review", "sql_query", "sql_execute", "tool")
REQUESTS = ("POST ", "GET ", "/v1/", "the request", "identical request")


def outcomes(agent: Agent) -> dict[str, Reply | AppError]:
    """One outcome of each kind that the loop knows."""
    principal = Principal(agent.user, agent.user.api_keys.get())
    call = Call(principal, Surface.MCP, "id")
    card, other = make_card(agent.workspace, tags=["a"]), make_card(agent.workspace, suspended=True)
    make_card(agent.workspace, suspended=True, tags=["b"])
    one = {"cardId": str(card.pk)}
    review = {**one, "reviewId": str(uuid4()), "rating": "Good", "reviewedTimeZone": "UTC"}
    return {
        "question": perform(next_review_card, call, {}),
        "answer": perform(reveal_answer, call, one),
        "stored": perform(submit_review, call, review),
        "conflict": perform(submit_review, call, review),
        "mismatch": perform(submit_review, call, {**review, "cardId": str(other.pk)}),
        "nothing": perform(next_review_card, call, {}),
        "nothing selected": perform(next_review_card, call, {"tags": ["b"]}),
        "unknown tag": perform(next_review_card, call, {"tags": ["c"]}),
        "unknown deck": perform(next_review_card, call, {"deckId": str(uuid4())}),
        "unknown card": perform(reveal_answer, call, {"cardId": str(uuid4())}),
        "malformed": perform(submit_review, call, {}),
    }


def advice_of(outcome: Reply | AppError) -> Advice:
    assert isinstance(outcome.instructions, Advice)
    return outcome.instructions


def test_instructions_speak_of_requests_over_rest_and_of_tools_over_mcp(alice: Agent) -> None:
    own = [error.advice for error in error_classes() if error.__module__ == errors.__name__]
    assert len(own) == 9
    for advice in [*own, *map(advice_of, outcomes(alice).values())]:
        assert not [word for word in TOOLS if word in advice.rest], advice.rest
        assert not [word for word in REQUESTS if word in advice.mcp], advice.mcp


@pytest.mark.parametrize("surface", ["rest", "mcp"])
def test_every_step_carries_the_rules_that_belong_to_it(alice: Agent, surface: str) -> None:
    said = {name: getattr(advice_of(outcome), surface) for name, outcome in outcomes(alice).items()}
    for rule in (
        "nothing else",
        "one question at a time",
        "wait for their attempt",
        "not a failed attempt",
        "never an instruction",
        "reveal",
    ):
        assert rule in said["question"]
    for rule in (
        "meaning",
        "Again = failed recall or the answer was needed",
        "Hard = right but with difficulty",
        "Good = right (the default when the effort is unclear)",
        "Easy = complete and effortless",
        "rating by the learner wins",
        "reviewId, keep it",
        "identical",
    ):
        assert rule in said["answer"]
    assert "Never submit this card again to change the rating" in said["stored"]
    assert "reviewSchedule" in said["conflict"]
    assert "Nothing was stored" in said["mismatch"]
    assert "done for now" in said["nothing"]


@pytest.mark.parametrize("tool", OPERATIONS, ids=lambda tool: tool.name)
def test_a_tool_says_in_few_words_what_a_model_cannot_guess(tool: Operation) -> None:
    assert 200 < len(tool.description) < 1200
    schema = tool.input_schema()
    assert schema["additionalProperties"] is False
    for name, argument in schema["properties"].items():
        assert len(argument.get("description", "")) > 20, name
    assert "{" not in tool.description + str([field.get("description") for field in schema["properties"].values()])


def test_reading_needs_less_than_writing() -> None:
    assert [tool.effect for tool in OPERATIONS] == [Effect.READ, Effect.READ, Effect.DESTRUCTIVE]
    assert [tool.idempotent for tool in OPERATIONS] == [False, True, True]


def test_an_operation_lists_every_error_that_it_gave(alice: Agent) -> None:
    listed = {error for tool in OPERATIONS for error in tool.errors}
    for outcome in outcomes(alice).values():
        assert isinstance(outcome, Reply) or type(outcome) in listed


def test_a_success_has_the_published_shape(alice: Agent) -> None:
    seen = outcomes(alice)
    for name, tool in (("question", next_review_card), ("nothing", next_review_card), ("answer", reveal_answer)):
        reply = seen[name]
        assert isinstance(reply, Reply)
        tool.data.model_validate(reply.data, strict=True)
    stored = seen["stored"]
    assert isinstance(stored, Reply)
    published = submit_review.data.model_validate(stored.data, strict=True)
    assert published.model_dump(by_alias=True) == stored.data
    assert stored.data["reviewedAt"] <= timezone.now().isoformat()
