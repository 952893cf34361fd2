"""Who gets the review app, and that everybody else is told nothing of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flashcards.models import Workspace
from tests.agent import Agent
from tests.app.host import APP_TOOLS, ERAS, LEGACY_VERSION, PAGE_URI, due_cards, host_of, open_session
from tests.factories import make_card
from tests.mcp_bridge.door import APP_CAPABILITIES, MODERN_VERSION, Door, door_of
from tests.mcp_bridge.test_tools import TOOLS, validator_of
from tests.test_card_contract import states_it

EXTENSION = "io.modelcontextprotocol/ui"
ASKED = {"x-mcp-toolsets": "flashcard"}
DECLARED = {"mimeTypes": ["text/html;profile=mcp-app"]}
MALFORMED: list[Any] = [
    None,
    [],
    "apps",
    {"extensions": None},
    {"extensions": [EXTENSION]},
    {"extensions": {EXTENSION: None}},
    {"extensions": {EXTENSION: {}}},
    {"extensions": {EXTENSION: {"mimeTypes": None}}},
    {"extensions": {EXTENSION: {"mimeTypes": []}}},
    {"extensions": {EXTENSION: {"mimeTypes": ["text/html"]}}},
    {"extensions": {EXTENSION: {"mimeTypes": "text/html;profile=mcp-app"}}},
    {"extensions": {EXTENSION: {"mimeTypes": [["text/html;profile=mcp-app"]]}}},
    {"extensions": {"io.modelcontextprotocol/UI": DECLARED}},
    {"experimental": {EXTENSION: DECLARED}},
]


def names(door: Door) -> list[str]:
    """The tools that are listed."""
    return [tool["name"] for tool in door.ask("tools/list")["tools"]]


def declared_by_server(door: Door) -> Any:
    """The extensions in what the server says of itself."""
    result = door.ask("server/discover") if door.is_modern else door.initialize().json()["result"]
    return result["capabilities"].get("extensions")


def assert_told_nothing(door: Door, *, known: tuple[str, ...] = ()) -> None:
    """The client gets the standard tools, and no word of the app."""
    assert names(door) == [*TOOLS, *known]
    assert "flashcard_review" not in json.dumps(door.ask("tools/list"))
    assert declared_by_server(door) is None
    assert door.ask("resources/list")["resources"] == []
    for tool in set(APP_TOOLS) - set(known):
        assert door.refusal("tools/call", {"name": tool, "arguments": {}})["message"] == f"Unknown tool: {tool}"
    unknown = door.refusal("resources/read", {"uri": "ui://flashcards/other.html"})
    page = door.refusal("resources/read", {"uri": PAGE_URI})
    assert {**page, "data": None} == {**unknown, "data": None}
    assert page["data"] == {"uri": PAGE_URI}


def test_a_host_gets_three_more_tools_the_page_and_the_extension(host: Door) -> None:
    assert names(host) == [*TOOLS, *APP_TOOLS]
    assert declared_by_server(host) == {EXTENSION: DECLARED}
    assert [resource["uri"] for resource in host.ask("resources/list")["resources"]] == [PAGE_URI]
    assert host.ask("resources/read", {"uri": PAGE_URI})["contents"][0]["uri"] == PAGE_URI


@pytest.mark.parametrize("version", ERAS)
def test_a_client_without_the_extension_is_told_nothing(alice: Agent, version: str) -> None:
    assert_told_nothing(door_of(alice, version))


@pytest.mark.parametrize("capabilities", MALFORMED)
def test_a_malformed_declaration_counts_as_none_in_a_request(alice: Agent, capabilities: Any) -> None:
    door = Door(alice.client, alice.key, MODERN_VERSION, capabilities=capabilities)
    response = door.post("tools/list")
    if isinstance(capabilities, dict):
        assert [tool["name"] for tool in response.json()["result"]["tools"]] == list(TOOLS)
    else:
        assert response.status_code == 400


@pytest.mark.parametrize("capabilities", [one for one in MALFORMED if isinstance(one, dict)])
def test_a_malformed_declaration_counts_as_none_in_the_handshake(alice: Agent, capabilities: Any) -> None:
    door = Door(alice.client, alice.key, LEGACY_VERSION, capabilities=capabilities)
    response = door.initialize()
    assert "Mcp-Session-Id" not in response.headers
    assert response.json()["result"]["capabilities"].get("extensions") is None
    assert_told_nothing(door)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-11-25"])
def test_what_a_handshake_declared_holds_in_every_handshake_revision(alice: Agent, version: str) -> None:
    assert names(host_of(alice, version)) == [*TOOLS, *APP_TOOLS]


@pytest.mark.parametrize("session_id", ["", "x", "x" * 3000, "é"])
def test_a_session_id_that_is_not_ours_tells_nothing(alice: Agent, session_id: str) -> None:
    assert_told_nothing(door_of(alice, LEGACY_VERSION, more_headers={"mcp-session-id": session_id}))


def test_a_session_id_that_was_changed_tells_nothing(alice: Agent) -> None:
    head, _, rest = host_of(alice, LEGACY_VERSION).more_headers["mcp-session-id"].partition(":")
    changed = f"{head[:-1]}{'A' if head[-1] != 'A' else 'B'}:{rest}"
    assert_told_nothing(door_of(alice, LEGACY_VERSION, more_headers={"mcp-session-id": changed}))


def test_a_request_without_the_session_id_works_and_is_told_nothing(alice: Agent) -> None:
    host_of(alice, LEGACY_VERSION)
    assert_told_nothing(door_of(alice, LEGACY_VERSION))


def test_support_is_judged_by_the_request_alone(alice: Agent) -> None:
    shown = host_of(alice, LEGACY_VERSION)
    assert names(shown) == [*TOOLS, *APP_TOOLS]
    assert_told_nothing(door_of(alice, MODERN_VERSION, more_headers=dict(shown.more_headers)))


# --- Asking for `flashcard` by header


@pytest.mark.parametrize("version", ERAS)
@pytest.mark.parametrize("header", ["flashcard", " Flashcard ", "other, flashcard", "flashcard,other"])
def test_a_client_that_asks_gets_flashcard_alone(alice: Agent, version: str, header: str) -> None:
    door = door_of(alice, version, more_headers={"x-mcp-toolsets": header})
    assert_told_nothing(door, known=("flashcard",))


@pytest.mark.parametrize("header", ["", "flashcards", "flashcard_review_session", "flash card", "all", "*"])
def test_no_other_toolset_is_known(alice: Agent, header: str) -> None:
    assert_told_nothing(door_of(alice, LEGACY_VERSION, more_headers={"x-mcp-toolsets": header}))


@pytest.mark.parametrize("version", ERAS)
def test_who_asks_gets_fronts_and_backs_and_no_token(alice: Agent, version: str) -> None:
    make_card(alice.workspace)
    door = door_of(alice, version, more_headers=ASKED)
    result = door.call("flashcard", action="list_cards")
    data = result["structuredContent"]["data"]
    assert [(card["front"], card["back"]) for card in data["cards"]] == [("Front", "Back")]
    assert not {"candidateToken", "expiresAt", "guidance"} & data.keys()
    assert "flashcard_review" not in json.dumps(result)


# --- What the tools say of themselves


def tool(door: Door, name: str) -> dict[str, Any]:
    """That tool in the list."""
    (found,) = [one for one in door.ask("tools/list")["tools"] if one["name"] == name]
    return found


def test_only_the_launcher_carries_the_page(host: Door) -> None:
    metas = {one["name"]: one.get("_meta") for one in host.ask("tools/list")["tools"]}
    assert metas.pop("flashcard_review_session")["ui"]["resourceUri"] == PAGE_URI
    assert metas.pop("flashcard_review_app_action") == {"ui": {"visibility": ["app"]}}
    assert set(metas.values()) == {None}


@pytest.mark.parametrize(
    ("name", "reads"),
    [("flashcard", False), ("flashcard_review_session", True), ("flashcard_review_app_action", False)],
)
def test_the_hints_of_the_tools(host: Door, name: str, reads: bool) -> None:
    hints = tool(host, name)["annotations"]
    assert (hints["readOnlyHint"], hints["destructiveHint"], hints["openWorldHint"]) == (reads, not reads, False)


@pytest.mark.parametrize("name", APP_TOOLS)
def test_the_tools_are_described_as_the_standard_ones_are(host: Door, name: str) -> None:
    shown = tool(host, name)
    assert 0 < len(shown["title"]) <= 40
    assert 0 < len(shown["description"]) < 1200
    schema = shown["inputSchema"]
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert not {"oneOf", "anyOf", "allOf"} & schema.keys()
    assert all(argument["description"] for argument in schema["properties"].values())


def test_the_arguments_of_flashcard_name_their_action(host: Door) -> None:
    arguments = tool(host, "flashcard")["inputSchema"]["properties"]
    actions = arguments["action"]["enum"]
    for name, argument in arguments.items():
        if name not in ("workspaceId", "action"):
            assert any(action in argument["description"] for action in actions), name


def test_launcher_and_list_describe_the_token_alike(host: Door) -> None:
    rules = due_cards_guidance(host)
    assert "exactly 10 minutes" in rules
    assert rules in tool(host, "flashcard")["description"]
    assert rules in tool(host, "flashcard_review_session")["description"]


def due_cards_guidance(host: Door) -> str:
    """What a list tells the model to do with its token."""
    make_card(workspace_of(host))
    return str(due_cards(host)["guidance"])


def workspace_of(host: Door) -> Any:
    """The only workspace of the host's user."""
    return Workspace.objects.get(pk=host.data("list_workspaces")["workspaces"][0]["workspaceId"])


def test_the_card_contract_stands_where_cards_are_made(host: Door, alice: Agent) -> None:
    asked = door_of(alice, LEGACY_VERSION, more_headers=ASKED)
    assert states_it(tool(host, "flashcard")["description"])
    assert states_it(tool(asked, "flashcard")["description"])


def test_structured_content_satisfies_the_output_schemas(host: Door, alice: Agent) -> None:
    make_card(alice.workspace)
    validators = {name: validator_of(tool(host, name)) for name in APP_TOOLS}
    session = open_session(host)
    opened = session["structuredContent"]["data"]
    card = {name: opened["cards"][0][name] for name in ("cardId", "reviewId")}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("flashcard", {"action": "list_cards"}),
        ("flashcard", {"action": "list_cards", "filter": "any"}),
        ("flashcard", {"action": "get_decks"}),
        ("flashcard", {"action": "get_cards", "cardIds": [card["cardId"]]}),
        ("flashcard", {"action": "review_card", "cardId": card["cardId"], "skip": True}),
        ("flashcard", {"action": "create_card", "markdown": "- a\n  - b", "dryRun": True}),
        ("flashcard", {"action": "remove_card", "cardIds": [card["cardId"]]}),
        ("flashcard_review_app_action", {"action": "review_card", "rating": "Easy", **card}),
        ("flashcard_review_app_action", {"action": "undo", **card}),
        ("flashcard_review_app_action", {"action": "skip", "cardId": card["cardId"]}),
        ("flashcard_review_app_action", {"action": "state"}),
    ]
    validators["flashcard_review_session"].validate(session["structuredContent"])
    for name, arguments in calls:
        more = {"sessionId": opened["sessionId"]} if name == "flashcard_review_app_action" else {}
        result = host.call(name, **arguments, **more)
        validators[name].validate(result["structuredContent"])
        known = tool(host, name)["outputSchema"]["properties"]["data"]["properties"]
        assert result["structuredContent"]["data"].keys() <= known.keys()


def test_rest_knows_nothing_of_the_app(alice: Agent) -> None:
    assert "flashcard_review" not in json.dumps(alice.get("/v1/openapi.json").body)
    assert APP_CAPABILITIES["extensions"].keys() == {EXTENSION}
