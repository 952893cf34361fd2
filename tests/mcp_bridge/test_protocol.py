"""JSON-RPC and the methods of MCP, in both protocol eras."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core import signing

from tests.agent import Agent
from tests.mcp_bridge.door import APP_CAPABILITIES, HANDSHAKE_VERSIONS, MODERN_VERSION, VERSIONS, Door, door_of

META = "io.modelcontextprotocol"

# --- JSON-RPC


@pytest.mark.parametrize(
    "body",
    [
        [],
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
        "ping",
        7,
        None,
        True,
        {},
        {"id": 1, "method": "ping"},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": 2.0, "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "method": None},
        {"jsonrpc": "2.0", "id": 1, "method": ["ping"]},
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []},
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": "x"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "2.0", "id": {}, "method": "ping"},
        {"jsonrpc": "2.0", "id": [], "method": "notifications/initialized"},
    ],
)
@pytest.mark.parametrize("version", [None, "2025-06-18", MODERN_VERSION])
def test_what_is_not_one_message_is_an_invalid_request(alice: Agent, body: Any, version: str | None) -> None:
    response = door_of(alice).send(json.dumps(body), headers={"mcp-protocol-version": version})
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32600)


def test_a_refused_message_keeps_its_id_where_it_has_one(legacy: Door) -> None:
    assert legacy.send({"jsonrpc": "1.0", "id": "a-7", "method": "ping"}).json()["id"] == "a-7"
    assert legacy.send({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}).json()["id"] is None


@pytest.mark.parametrize("message_id", [0, -1, 7, "", "id", "\u0394", 2**63, 10**400, "\ud800"])
def test_an_id_comes_back_as_it_was_sent(legacy: Door, message_id: Any) -> None:
    answered = legacy.send({"jsonrpc": "2.0", "id": message_id, "method": "ping"}).json()
    assert (answered["id"], type(answered["id"])) == (message_id, type(message_id))


@pytest.mark.parametrize("params", [None, {}, {"_meta": {}}, {"_meta": None}, {"unknown": 1}])
def test_null_and_unknown_parameters_of_a_method_are_passed_over(legacy: Door, params: Any) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": params}
    assert legacy.send(body).status_code == 200


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "notifications/nonsense"])
def test_a_notification_is_accepted_without_a_word(door: Door, method: str) -> None:
    response = door.send(door.message(method, {}, message_id=None), headers=door.headers(method))
    assert (response.status_code, response.content) == (202, b"")
    assert "Content-Type" not in response.headers


def test_a_request_sent_as_a_notification_runs_nothing(door: Door) -> None:
    body = door.message("tools/call", {"name": "list_workspaces"}, message_id=None)
    assert door.send(body, headers=door.headers("tools/call", {"name": "list_workspaces"})).content == b""


# --- Methods


@pytest.mark.parametrize("version", VERSIONS)
def test_every_revision_lists_tools_and_the_empty_resources(alice: Agent, version: str) -> None:
    door = door_of(alice, version)
    assert door.ask("tools/list")["tools"]
    assert door.ask("resources/list")["resources"] == []
    assert door.ask("resources/templates/list")["resourceTemplates"] == []


@pytest.mark.parametrize("method", ["nonsense", "", "tools/call/", "__class__", "prompts/list", "logging/setLevel"])
def test_an_unknown_method_says_so_with_the_status_of_the_era(door: Door, method: str) -> None:
    error = door.refusal(method)
    assert (error["code"], error["status"]) == (-32601, 404 if door.is_modern else 200)


@pytest.mark.parametrize("method", ["initialize", "ping"])
def test_the_handshake_does_not_exist_for_a_modern_client(modern: Door, method: str) -> None:
    assert modern.refusal(method)["code"] == -32601


def test_discovery_does_not_exist_for_a_client_of_a_handshake_revision(legacy: Door) -> None:
    assert legacy.refusal("server/discover")["code"] == -32601


@pytest.mark.parametrize(
    ("method", "params", "named"),
    [
        ("tools/call", {}, "name"),
        ("tools/call", {"name": 7}, "name"),
        ("tools/call", {"name": ["list_workspaces"]}, "name"),
        ("tools/call", {"name": "list_workspaces", "arguments": []}, "arguments"),
        ("tools/call", {"name": "list_workspaces", "arguments": "{}"}, "arguments"),
        ("resources/read", {}, "uri"),
        ("resources/read", {"uri": 7}, "uri"),
        ("tools/list", {"cursor": 7}, "cursor"),
    ],
)
def test_malformed_parameters_are_named(door: Door, method: str, params: dict[str, Any], named: str) -> None:
    response = door.send(door.message(method, params), headers=door.headers(method) | {"mcp-name": "list_workspaces"})
    error = response.json()["error"]
    assert response.status_code == (400 if door.is_modern else 200)
    if error["code"] == -32020:  # a modern name that is no text cannot agree with its header
        return
    assert error["code"] == -32602
    assert named in error["message"]
    assert "pydantic" not in str(error).lower()


def test_missing_parameters_are_malformed_ones(legacy: Door) -> None:
    assert legacy.refusal("tools/call")["code"] == -32602


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list"])
def test_a_cursor_that_was_never_given_is_refused(door: Door, method: str) -> None:
    assert door.refusal(method, {"cursor": "abc"})["code"] == -32602
    assert door.ask(method, {"cursor": ""})


@pytest.mark.parametrize("uri", ["ui://flashcards/review-v1.html", "file:///etc/passwd", "", "x" * 4000])
def test_a_resource_that_does_not_exist_says_so(door: Door, uri: str) -> None:
    error = door.refusal("resources/read", {"uri": uri})
    assert error["code"] == (-32602 if door.is_modern else -32002)
    assert error["message"] == "Resource not found"
    assert uri.startswith(error["data"]["uri"])


@pytest.mark.parametrize("sign", ["\n", "\u202e", "\u200b", "\ud800"])
def test_what_a_client_names_is_repeated_without_signs_that_disturb_the_reader(door: Door, sign: str) -> None:
    shown = sign.encode("unicode_escape").decode()
    assert door.refusal("resources/read", {"uri": f"a{sign}b"})["data"]["uri"] == f"a{shown}b"
    assert door.refusal("tools/call", {"name": f"a{sign}b"})["message"] == f"Unknown tool: a{shown}b"


# --- Handshake revisions


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_the_handshake_agrees_on_the_revision_asked_for(alice: Agent, version: str) -> None:
    response = door_of(alice, version).initialize()
    result = response.json()["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "flashcards"
    assert result["serverInfo"]["title"] == "Flashcards"
    still = {"listChanged": False, "subscribe": False}
    assert result["capabilities"] == {"tools": {"listChanged": False}, "resources": still}
    assert "Mcp-Session-Id" not in response.headers


@pytest.mark.parametrize("asked", ["2023-01-01", MODERN_VERSION, "9999-12-31", "", "x" * 500])
def test_the_handshake_counters_an_unknown_revision_with_the_newest_it_knows(legacy: Door, asked: str) -> None:
    assert legacy.initialize(protocolVersion=asked).json()["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    "wrong",
    [
        {"protocolVersion": None},
        {"protocolVersion": ["2025-06-18"]},
        {"clientInfo": None},
        {"clientInfo": {"name": "x"}},
        {"capabilities": None},
        {"capabilities": []},
    ],
)
def test_a_malformed_handshake_is_refused(legacy: Door, wrong: dict[str, Any]) -> None:
    assert legacy.initialize(**wrong).json()["error"]["code"] == -32602


def test_the_instructions_name_both_flows(legacy: Door, modern: Door) -> None:
    for result in (legacy.initialize().json()["result"], modern.ask("server/discover")):
        words = result["instructions"]
        flow = ("list_workspaces", "sql_query", "sql_execute", "next_review_card", "reveal_answer", "submit_review")
        positions = [words.index(tool) for tool in flow]
        assert positions == sorted(positions)


def test_no_version_header_means_a_handshake_revision(alice: Agent) -> None:
    response = door_of(alice).send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert response.json()["result"] == {}


def test_a_handshake_client_needs_no_session(legacy: Door) -> None:
    assert legacy.ask("tools/list", mcp_session_id=None)["tools"]


# --- 2026-07-28


def test_discovery_tells_revision_and_capabilities(modern: Door) -> None:
    result = modern.ask("server/discover")
    assert result["supportedVersions"] == [MODERN_VERSION]
    assert set(result["capabilities"]) == {"tools", "resources"}


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "resources/list", "resources/templates/list"])
def test_a_modern_list_is_private_to_the_connection_and_soon_stale(modern: Door, method: str) -> None:
    result = modern.ask(method)
    assert (result["resultType"], result["cacheScope"]) == ("complete", "private")
    assert 0 < result["ttlMs"] <= 300_000
    assert result["_meta"] == {f"{META}/serverInfo": {"name": "flashcards", "version": "1.0.0"}}


def test_a_modern_call_is_stamped_and_a_legacy_one_is_not(modern: Door, legacy: Door) -> None:
    assert modern.call("list_workspaces")["resultType"] == "complete"
    assert f"{META}/serverInfo" in modern.call("list_workspaces")["_meta"]
    assert not legacy.call("list_workspaces").keys() & {"resultType", "_meta", "ttlMs"}


def test_a_modern_request_needs_no_client_name(modern: Door) -> None:
    body = modern.message("tools/list")
    del body["params"]["_meta"][f"{META}/clientInfo"]
    assert modern.send(body, headers=modern.headers("tools/list")).status_code == 200


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"mcp-method": None}, -32020),
        ({"mcp-method": "tools/list"}, -32020),
        ({"mcp-method": "TOOLS/CALL"}, -32020),
        ({"mcp-name": None}, -32020),
        ({"mcp-name": "get_guide"}, -32020),
        ({"mcp-name": "=?base64?!!?="}, -32020),
        ({"mcp-protocol-version": None}, -32020),
        ({"mcp-protocol-version": "2026-07-29"}, -32020),
    ],
)
def test_a_modern_request_whose_headers_disagree_is_refused(modern: Door, headers: Any, code: int) -> None:
    params = {"name": "list_workspaces"}
    response = modern.send(modern.message("tools/call", params), headers=modern.headers("tools/call", params) | headers)
    assert (response.status_code, response.json()["error"]["code"]) == (400, code)
    assert response.json()["id"] == 1


def test_a_name_that_a_header_cannot_carry_comes_in_base64(modern: Door) -> None:
    params = {"name": "list_workspaces"}
    headers = modern.headers("tools/call", params) | {"mcp-name": "=?base64?bGlzdF93b3Jrc3BhY2Vz?="}
    assert modern.send(modern.message("tools/call", params), headers=headers).status_code == 200


@pytest.mark.parametrize(
    "meta",
    [
        None,
        [],
        {},
        {f"{META}/protocolVersion": MODERN_VERSION},
        {f"{META}/protocolVersion": MODERN_VERSION, f"{META}/clientCapabilities": "x"},
        {f"{META}/protocolVersion": MODERN_VERSION, f"{META}/clientCapabilities": {}, f"{META}/clientInfo": 7},
        {f"{META}/clientCapabilities": {}},
    ],
)
def test_a_modern_request_with_a_broken_envelope_is_refused(modern: Door, meta: Any) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    response = modern.send(body, headers=modern.headers("tools/list"))
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32602)


@pytest.mark.parametrize("method", ["tools/list", "notifications/initialized", "initialize"])
@pytest.mark.parametrize("version", ["2024-10-07", "2027-01-01", "nonsense", "2025-06-18, 2025-06-18"])
def test_an_unknown_revision_is_answered_with_the_known_ones(alice: Agent, method: str, version: str) -> None:
    body = {"jsonrpc": "2.0", "method": method} | ({} if method.startswith("notifications") else {"id": 1})
    response = door_of(alice).send(body, headers={"mcp-protocol-version": version})
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, -32022)
    assert error["data"] == {"supported": list(VERSIONS), "requested": version}


def test_an_envelope_of_an_unknown_revision_is_refused(modern: Door) -> None:
    body = modern.message("tools/list", {"_meta": {f"{META}/protocolVersion": "2027-01-01"}})
    headers = modern.headers("tools/list") | {"mcp-protocol-version": "2027-01-01"}
    error = modern.send(body, headers=headers).json()["error"]
    assert (error["code"], error["data"]["requested"]) == (-32022, "2027-01-01")


# --- What a client declares


MALFORMED = [
    {"extensions": None},
    {"extensions": []},
    {"extensions": {"io.modelcontextprotocol/ui": None}},
    {"extensions": {"io.modelcontextprotocol/ui": "yes"}},
    {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": "text/html;profile=mcp-app"}}},
    {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": [7, {}, "text/html"]}}},
    {"extensions": {"io.modelcontextprotocol/ui": {}}},
    {"sampling": 7, "roots": "x"},
]


@pytest.mark.parametrize("capabilities", MALFORMED)
def test_a_malformed_declaration_counts_as_none(door: Door, capabilities: dict[str, Any]) -> None:
    door.capabilities = capabilities
    assert door.ask("tools/list")["tools"]
    if not door.is_modern:
        response = door.initialize()
        assert response.json()["result"]["protocolVersion"] == door.version
        assert "Mcp-Session-Id" not in response.headers


def test_a_handshake_that_declares_apps_gets_a_session_id_to_remember_it(legacy: Door) -> None:
    legacy.capabilities = APP_CAPABILITIES
    session_id = legacy.initialize().headers["Mcp-Session-Id"]
    assert all("\x21" <= sign <= "\x7e" for sign in session_id)
    assert len(session_id) < 300
    assert legacy.ask("tools/list", mcp_session_id=session_id)["tools"]


@pytest.mark.parametrize("session_id", ["", "unknown", "a:b:c", "\u00e9", "x" * 4000])
def test_a_session_id_that_is_not_ours_is_passed_over(legacy: Door, session_id: str) -> None:
    assert legacy.ask("tools/list", mcp_session_id=session_id)["tools"]


def test_a_session_id_signed_for_something_else_is_passed_over(legacy: Door) -> None:
    assert legacy.ask("tools/list", mcp_session_id=signing.dumps({"apps": True}, salt="another"))["tools"]


def test_a_modern_client_gets_no_session_id(modern: Door) -> None:
    modern.capabilities = APP_CAPABILITIES
    assert "Mcp-Session-Id" not in modern.post("server/discover").headers


@pytest.mark.parametrize("name", ["", "x" * 5000, "a\nb", "\ud800", "\u202ename=1"])
def test_any_client_name_is_taken(door: Door, name: str) -> None:
    info = {"name": name, "version": name}
    if door.is_modern:
        assert door.ask("tools/list", {"_meta": {f"{META}/clientInfo": info}})["tools"]
    else:
        assert door.initialize(clientInfo=info).status_code == 200
