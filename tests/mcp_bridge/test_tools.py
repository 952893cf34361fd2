"""The tools as a client sees them, and what calling them answers."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.agent import Agent
from tests.factories import make_card, make_deck, make_workspace
from tests.mcp_bridge.door import Door, door_of

READ = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}
DESTRUCTIVE = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False}
WORKSPACE = {"workspaceId"}
# name: hints, required arguments, further arguments
TABLE: dict[str, tuple[dict[str, bool], set[str], set[str]]] = {
    "sql_query": (READ | {"idempotentHint": True}, {"sql"}, WORKSPACE),
    "sql_execute": (DESTRUCTIVE | {"idempotentHint": False}, {"sql"}, WORKSPACE),
    "list_workspaces": (READ | {"idempotentHint": True}, set(), set()),
    "get_guide": (READ | {"idempotentHint": True}, {"topic"}, set()),
    "next_review_card": (READ | {"idempotentHint": False}, set(), WORKSPACE | {"tags", "deckId"}),
    "reveal_answer": (READ | {"idempotentHint": True}, {"cardId"}, WORKSPACE),
    "submit_review": (
        DESTRUCTIVE | {"idempotentHint": True},
        {"cardId", "reviewId", "rating", "reviewedTimeZone"},
        WORKSPACE,
    ),
}
TOOLS = tuple(TABLE)
IN_WORKSPACE = tuple(name for name, (_, _, further) in TABLE.items() if further >= WORKSPACE)
A_UUID = "3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4"


def arguments_of(tool: str, **changes: Any) -> dict[str, Any]:
    """Well-formed arguments of a tool."""
    plain = {
        "sql_query": {"sql": "SELECT card_id FROM cards"},
        "sql_execute": {"sql": "INSERT INTO cards (front_text, back_text) VALUES ('a', '')"},
        "get_guide": {"topic": "review_flow"},
        "reveal_answer": {"cardId": A_UUID},
        "submit_review": {"cardId": A_UUID, "reviewId": A_UUID, "rating": "Good", "reviewedTimeZone": "UTC"},
    }
    return {**plain.get(tool, {}), **changes}


# --- The list


def test_exactly_the_seven_tools_are_listed_in_order(door: Door) -> None:
    assert [tool["name"] for tool in door.ask("tools/list")["tools"]] == list(TOOLS)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_has_the_hints_and_arguments_of_the_table(door: Door, name: str) -> None:
    tool = listed(door, name)
    hints, required, further = TABLE[name]
    assert tool["annotations"] == hints
    assert set(tool["inputSchema"].get("required", [])) == required
    assert set(tool["inputSchema"]["properties"]) == required | further


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_has_a_title_and_a_short_description(legacy: Door, name: str) -> None:
    tool = listed(legacy, name)
    assert 0 < len(tool["title"]) <= 40
    assert 0 < len(tool["description"]) < 1200
    assert len(name) <= 64


def test_the_whole_list_stays_small(door: Door) -> None:
    assert len(json.dumps(door.ask("tools/list"), separators=(",", ":"), ensure_ascii=False).encode()) < 12_000


@pytest.mark.parametrize("name", TOOLS)
def test_an_input_schema_is_one_plain_object(legacy: Door, name: str) -> None:
    schema = listed(legacy, name)["inputSchema"]
    Draft202012Validator.check_schema(schema)
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert not words_of(schema) & {"$defs", "$ref", "anyOf", "oneOf", "allOf", "title", "default"}
    for argument in schema["properties"].values():
        assert isinstance(argument["type"], str)
        assert argument["description"]


@pytest.mark.parametrize("name", TOOLS)
def test_an_output_schema_is_one_object_without_references(legacy: Door, name: str) -> None:
    schema = listed(legacy, name)["outputSchema"]
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["properties"]["data"]["properties"]
    assert not words_of(schema) & {"$defs", "$ref", "title"}
    assert '"type": [' not in json.dumps(schema)


def listed(door: Door, name: str) -> dict[str, Any]:
    """That tool in the list."""
    tool: dict[str, Any] = next(tool for tool in door.ask("tools/list")["tools"] if tool["name"] == name)
    return tool


def words_of(schema: Any, *, names: bool = False) -> set[str]:
    """Every keyword in a schema; names of properties are none."""
    if isinstance(schema, list):
        return set().union(*map(words_of, schema)) if schema else set()
    if not isinstance(schema, dict):
        return set()
    words = set() if names else set(schema)
    for key, value in schema.items():
        words |= words_of(value, names=key == "properties" and not names)
    return words


# --- Calls


def test_a_result_holds_the_envelope_as_structure_and_as_compact_text(door: Door) -> None:
    result = door.call("list_workspaces")
    (block,) = result["content"]
    assert block["type"] == "text"
    assert json.loads(block["text"]) == result["structuredContent"]
    assert '": ' not in block["text"]
    assert result["structuredContent"].keys() == {"ok", "data", "instructions", "docs"}
    assert result["structuredContent"]["docs"] == {"discoveryUrl": "http://localhost:8000/v1/"}


def test_a_failure_of_the_call_is_a_result_with_the_error_envelope(door: Door) -> None:
    response = door.post("tools/call", {"name": "reveal_answer", "arguments": {"cardId": A_UUID}})
    result = response.json()["result"]
    assert result["isError"] is True
    envelope = result["structuredContent"]
    assert (envelope["ok"], envelope["data"], envelope["error"]["code"]) == (False, {}, "CARD_NOT_FOUND")
    assert envelope["requestId"] == response.headers["X-Request-Id"]
    assert json.loads(result["content"][0]["text"]) == envelope


def test_the_same_envelope_as_over_rest_but_for_the_wording(alice: Agent, legacy: Door) -> None:
    card = make_card(alice.workspace, front_text="Ключ?", back_text="\u2713")
    over_rest = alice.post("/v1/agent/reviews/reveal", {"cardId": str(card.card_id)}).body
    over_mcp = legacy.call("reveal_answer", cardId=str(card.card_id))["structuredContent"]
    assert over_mcp["data"] == over_rest["data"]
    assert "/v1/agent" in over_rest["instructions"]
    assert "/v1/agent" not in over_mcp["instructions"]
    assert "submit_review" in over_mcp["instructions"]


@pytest.mark.parametrize("name", ["nonsense", "", "SQL_QUERY", "flashcard", "flashcard_review_session", "x" * 5000])
def test_an_unknown_tool_is_a_protocol_error(door: Door, name: str) -> None:
    error = door.refusal("tools/call", {"name": name, "arguments": {}})
    assert (error["code"], error["status"]) == (-32602, 400 if door.is_modern else 200)
    assert error["message"] == f"Unknown tool: {name[:64]}"


@pytest.mark.parametrize("arguments", [None, {}])
def test_a_call_without_arguments_means_none(door: Door, arguments: Any) -> None:
    assert door.ask("tools/call", {"name": "list_workspaces", "arguments": arguments})["isError"] is False


@pytest.mark.parametrize("tool", TOOLS)
def test_an_unknown_argument_fails_by_name(legacy: Door, tool: str) -> None:
    error = legacy.error(tool, **arguments_of(tool, workspaceID=A_UUID))
    assert error["code"] in ("INVALID_REQUEST", "REVIEW_INPUT_INVALID")
    assert error["details"]["validationIssues"][0]["path"] == "workspaceID"


@pytest.mark.parametrize("tool", [name for name in TOOLS if TABLE[name][1]])
def test_a_missing_argument_fails_by_name(legacy: Door, tool: str) -> None:
    missing = sorted(TABLE[tool][1])[0]
    arguments = arguments_of(tool)
    del arguments[missing]
    assert legacy.error(tool, **arguments)["details"]["validationIssues"][0]["path"] == missing


@pytest.mark.parametrize("tool", [name for name in TOOLS if TABLE[name][1]])
@pytest.mark.parametrize("value", [7, True, None, [], {}, ["x"], {"a": {"b": []}}, 1.5, 10**300])
def test_an_argument_of_another_type_is_refused_and_never_coerced(legacy: Door, tool: str, value: Any) -> None:
    wrong = sorted(TABLE[tool][1])[0]
    error = legacy.error(tool, **arguments_of(tool, **{wrong: value}))
    assert error["details"]["validationIssues"][0]["path"] == wrong


@pytest.mark.parametrize("tool", IN_WORKSPACE)
@pytest.mark.parametrize("malformed", ["", "Personal", "123", A_UUID[:-1], 7, [A_UUID]])
def test_a_malformed_workspace_id_has_a_code_of_its_own(legacy: Door, tool: str, malformed: Any) -> None:
    assert legacy.error(tool, **arguments_of(tool, workspaceId=malformed))["code"] == "WORKSPACE_ID_INVALID"


@pytest.mark.parametrize("tool", IN_WORKSPACE)
def test_a_null_workspace_id_means_the_selected_one(alice: Agent, legacy: Door, tool: str) -> None:
    result = legacy.call(tool, **arguments_of(tool, workspaceId=None))["structuredContent"]
    if result["ok"]:
        assert result["data"]["workspaceId"] == str(alice.workspace.workspace_id)
    else:
        assert result["error"]["code"] == "CARD_NOT_FOUND"


@pytest.mark.parametrize("tool", IN_WORKSPACE)
def test_with_several_workspaces_the_error_lists_them(alice: Agent, legacy: Door, tool: str) -> None:
    second = make_workspace(alice.user, name="Second")
    error = legacy.error(tool, **arguments_of(tool))
    assert error["code"] == "WORKSPACE_SELECTION_REQUIRED"
    assert {choice["workspaceId"] for choice in error["details"]["workspaces"]} == {
        str(alice.workspace.workspace_id),
        str(second.workspace_id),
    }


def test_the_guide_and_the_list_answer_whatever_workspaces_there_are(alice: Agent, legacy: Door) -> None:
    make_workspace(alice.user, name="Second")
    assert len(legacy.data("list_workspaces")["workspaces"]) == 2
    assert legacy.data("get_guide", topic="review_flow")["guide"]
    alice.user.memberships.all().delete()
    assert legacy.data("list_workspaces")["workspaces"] == []
    assert legacy.data("get_guide", topic="review_flow")["guide"]


def test_the_list_of_workspaces_is_whole_and_has_no_cursor(alice: Agent, legacy: Door) -> None:
    for number in range(120):
        make_workspace(alice.user, name=f"Workspace {number}")
    data = legacy.data("list_workspaces")
    assert len(data["workspaces"]) == 121
    assert "nextCursor" not in data
    assert legacy.error("list_workspaces", limit=10)["code"] == "INVALID_REQUEST"


# --- Two users


@pytest.mark.parametrize("tool", IN_WORKSPACE)
def test_bob_is_refused_alices_workspace_with_the_answer_of_an_unknown_one(
    alice: Agent, bob: Agent, door: Door, tool: str
) -> None:
    card = make_card(alice.workspace)
    bobs = door_of(bob, door.version)
    wanted = {"cardId": str(card.card_id)} if "cardId" in TABLE[tool][1] else {}
    foreign = bobs.error(tool, **arguments_of(tool, **wanted, workspaceId=str(alice.workspace.workspace_id)))
    unknown = bobs.error(tool, **arguments_of(tool, **wanted, workspaceId=str(uuid.uuid4())))
    assert foreign == unknown
    assert foreign["code"] == "WORKSPACE_NOT_FOUND"


@pytest.mark.parametrize("tool", ["reveal_answer", "submit_review"])
def test_bob_is_refused_alices_card_with_the_answer_of_an_unknown_one(alice: Agent, bob: Agent, tool: str) -> None:
    card = make_card(alice.workspace)
    bobs = door_of(bob)
    foreign = bobs.error(tool, **arguments_of(tool, cardId=str(card.card_id)))
    assert foreign == bobs.error(tool, **arguments_of(tool, cardId=str(uuid.uuid4())))
    assert foreign["code"] == "CARD_NOT_FOUND"


def test_bob_is_refused_alices_deck_and_tag_and_sees_neither_her_cards_nor_her_workspace(
    alice: Agent, bob: Agent
) -> None:
    make_card(alice.workspace, tags=["hers"])
    deck = make_deck(alice.workspace)
    bobs = door_of(bob)
    foreign = bobs.error("next_review_card", deckId=str(deck.deck_id))
    assert foreign == bobs.error("next_review_card", deckId=str(uuid.uuid4()))
    assert bobs.error("next_review_card", tags=["hers"])["code"] == "REVIEW_INPUT_INVALID"
    assert bobs.data("next_review_card")["card"] is None
    assert bobs.data("sql_query", sql="SELECT * FROM cards")["rows"] == []
    assert [one["workspaceId"] for one in bobs.data("list_workspaces")["workspaces"]] == [
        str(bob.workspace.workspace_id)
    ]


# --- Output schemas


def test_structured_content_satisfies_the_output_schema_in_success_and_failure(alice: Agent, door: Door) -> None:
    validators = {tool["name"]: validator_of(tool) for tool in door.ask("tools/list")["tools"]}
    seen: dict[tuple[str, bool], int] = {}
    for tool, arguments in journey(alice):
        result = door.call(tool, **arguments)
        validators[tool].validate(result["structuredContent"])
        key = (tool, result["isError"])
        seen[key] = seen.get(key, 0) + 1
    assert {tool for tool, failed in seen if not failed} == set(TOOLS)
    assert {tool for tool, failed in seen if failed} == set(TOOLS)


@pytest.mark.parametrize("tool", TOOLS)
def test_an_output_schema_names_every_key_of_a_success(alice: Agent, legacy: Door, tool: str) -> None:
    known = listed(legacy, tool)["outputSchema"]["properties"]["data"]["properties"].keys()
    for called, arguments in journey(alice):
        result = legacy.call(called, **arguments)
        if called == tool and not result["isError"]:
            assert result["structuredContent"]["data"].keys() <= known


def validator_of(tool: dict[str, Any]) -> Any:
    """The output schema, formats included."""
    return Draft202012Validator(tool["outputSchema"], format_checker=Draft202012Validator.FORMAT_CHECKER)


def journey(agent: Agent) -> list[tuple[str, dict[str, Any]]]:
    """Calls that show every shape of answer there is."""
    card = str(make_card(agent.workspace, tags=["a"]).card_id)
    make_deck(agent.workspace, name="D", tags=["a"])
    submit = {"cardId": card, "reviewId": str(uuid.uuid4()), "rating": "Good", "reviewedTimeZone": "UTC"}
    reads = [
        "SHOW TABLES",
        "DESCRIBE cards",
        "SELECT * FROM cards",
        "SELECT * FROM decks",
        "SELECT * FROM workspace",
        "SELECT COUNT(*) FROM cards GROUP BY suspended",
        "SELECT card_id FROM cards; SELECT deck_id FROM decks",
        "SELECT nonsense FROM cards",
        "DELETE FROM cards WHERE reps = 0",
    ]
    writes = [
        "INSERT INTO cards (front_text, back_text, tags) VALUES ('x', '', ('t'))",
        "INSERT INTO cards (front_text, back_text) VALUES ('y', '') RETURNING *",
        "UPDATE cards SET back_text = 'b' WHERE front_text = 'x'",
        "DELETE FROM cards WHERE front_text = 'x'; DELETE FROM cards WHERE front_text = 'y'",
        "SELECT 1",
    ]
    return [
        ("list_workspaces", {}),
        ("list_workspaces", {"limit": 1}),
        ("get_guide", {"topic": "card_authoring"}),
        ("get_guide", {"topic": "nonsense"}),
        *(("sql_query", {"sql": sql}) for sql in reads),
        *(("sql_execute", {"sql": sql}) for sql in writes),
        ("next_review_card", {}),
        ("next_review_card", {"tags": []}),
        ("next_review_card", {"tags": ["unused"]}),
        ("reveal_answer", {"cardId": card}),
        ("reveal_answer", {"cardId": "x"}),
        ("submit_review", submit),
        ("submit_review", submit),
        ("submit_review", submit | {"rating": "Great"}),
    ]
