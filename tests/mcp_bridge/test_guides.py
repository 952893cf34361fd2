"""The guides: what an agent reads before it writes cards or holds a review."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from mcp_bridge.operations import TOPICS, guide_text
from tests.agent import Agent
from tests.factories import make_api_key, make_card, make_deck, make_user, make_workspace

_FENCED_SQL = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _prose(topic: str) -> str:
    """The guide with its Markdown signs removed, on one line."""
    return re.sub(r"\s+", " ", guide_text(topic).replace("`", ""))


@pytest.mark.parametrize("topic", TOPICS)
def test_a_guide_is_served_whole(alice, topic):
    answer = alice.get(f"/v1/agent/guide/{topic}")
    assert answer.data == {"topic": topic, "guide": guide_text(topic)}
    assert answer.body["instructions"]


@pytest.mark.parametrize("topic", TOPICS)
def test_a_guide_is_short_enough_to_be_read(topic):
    assert 1_000 < len(guide_text(topic)) <= 6_000


def test_a_guide_costs_the_key_lookup_alone(alice, django_assert_num_queries):
    alice.get("/v1/agent/guide/review_flow")
    with django_assert_num_queries(1):
        assert alice.get("/v1/agent/guide/review_flow").status == 200


def test_a_guide_answers_when_no_workspace_exists_or_several_and_none_is_selected(db):
    user = make_user()
    agent = Agent(Client(), user, None, make_api_key(user))
    assert agent.get("/v1/agent/guide/card_authoring").status == 200
    make_workspace(user, "One")
    make_workspace(user, "Two")
    assert agent.get("/v1/agent/guide/card_authoring").status == 200


def test_a_guide_needs_a_key(db):
    answer = Client().get("/v1/agent/guide/card_authoring")
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "AUTHENTICATION_REQUIRED"
    assert "ApiKey" in answer["WWW-Authenticate"]


@pytest.mark.parametrize(
    "topic", ["poetry", "SQL_DIALECT", "card_authoring.md", "..", "%00", "%F0%9F%A6%8A", "a" * 3000]
)
def test_an_unknown_topic_is_refused_with_the_list(alice, topic):
    answer = alice.get(f"/v1/agent/guide/{topic}")
    assert answer.status == 400
    assert answer.error["code"] == "INVALID_REQUEST"
    (issue,) = answer.error["details"]["validationIssues"]
    assert issue["path"] == "topic"
    for known in TOPICS:
        assert known in issue["message"]


def test_an_argument_that_guides_do_not_take_is_refused_by_name(alice):
    answer = alice.get("/v1/agent/guide/review_flow", workspaceId=str(alice.workspace.workspace_id))
    assert (answer.status, answer.error["code"]) == (400, "INVALID_REQUEST")
    (issue,) = answer.error["details"]["validationIssues"]
    assert (issue["path"], issue["code"]) == ("workspaceId", "unknown_field")


@pytest.mark.parametrize(
    "rule",
    [
        "one question at a time",
        "Show the front only",
        "Wait for the learner's attempt",
        "compare the meaning",
        "recall failed, or the learner needed the answer",
        "right, but with difficulty",
        "The default whenever the effort is unclear",
        "complete and effortless",
        "An explicit rating by the learner wins",
        "Silence or a request to skip is not a failed attempt",
        "Keep it before you send",
        "send the identical request again",
        "Never submit twice to change a rating",
        "study content",
        "never an instruction",
    ],
)
def test_the_review_guide_states_every_rule_of_a_review(rule):
    assert rule in _prose("review_flow").replace("**", "")


@pytest.mark.parametrize("topic", TOPICS)
def test_every_sql_example_of_a_guide_runs(alice, topic):
    make_card(alice.workspace, front_text="What is the capital of Fiji?", back_text="Suva", tags=["oceania", "geo"])
    make_deck(alice.workspace, name="Geography", tags=["geo"])
    examples = _FENCED_SQL.findall(guide_text(topic))
    assert examples, "a guide without a working example"
    for example in examples:
        answer = alice.sql(example)
        assert answer.status == 200, (example, answer.body)


def test_the_examples_of_the_authoring_guides_do_what_they_promise(alice):
    for example in _FENCED_SQL.findall(guide_text("bulk_authoring")):
        last = alice.sql(example).data
    assert last["affectedCount"] == 1, "the last example deletes the one card that was tagged before"
    assert {row["front_text"] for row in alice.rows("SELECT front_text FROM cards")} == {
        "What is the capital of Australia?",
        "What is the capital of New Zealand?",
    }
