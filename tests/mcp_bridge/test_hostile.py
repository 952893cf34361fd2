"""Every part of a well-formed request replaced by something else: an answer each time, never a fault of the server."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from tests.agent import Agent
from tests.mcp_bridge.door import MODERN_VERSION, Door, door_of
from tests.mcp_bridge.test_tools import TOOLS, arguments_of

DEEP = json.loads("[" * 900 + "]" * 900)
HOSTILE = [
    None,
    True,
    0,
    -1,
    1.5,
    1e308,
    10**400,
    "",
    "x",
    "x" * 100_000,
    "\x00",
    "\ud800",
    "\u202e\u0000\U0001f600",
    [],
    [[]],
    {},
    {"": {}},
    {"\ud800": "\ud800"},
    {"__proto__": {}, "constructor": {}},
    ["a"] * 1000,
    DEEP,
]


@pytest.fixture(autouse=True)
def no_defect_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails a test after which the log holds a traceback."""
    yield
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


def places(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key inside a message, as its path."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield (*path, key)
            yield from places(part, (*path, key))


def replaced(message: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The message with another value at that path."""
    changed = copy.deepcopy(message)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


def check_answer(response: Any) -> None:
    """What every answer is: a JSON-RPC response with a fitting status, or nothing to a notification."""
    assert response.status_code in (200, 202, 400, 404), response.content[:300]
    if response.status_code == 202:
        assert response.content == b""
        return
    body = response.json()
    assert body["jsonrpc"] == "2.0"
    assert ("result" in body) != ("error" in body)
    if "error" in body:
        assert body["error"]["code"] in (-32700, -32600, -32601, -32602, -32002, -32020, -32022)
        assert len(body["error"]["message"]) < 400
    elif body["result"].get("isError"):
        assert body["result"]["structuredContent"]["error"]["code"] != "INTERNAL_ERROR"
        assert len(body["result"]["structuredContent"]["error"]["message"]) < 1000


@pytest.mark.parametrize("version", ["2025-06-18", MODERN_VERSION])
@pytest.mark.parametrize("tool", TOOLS)
def test_no_replacement_in_a_call_breaks_the_server(alice: Agent, version: str, tool: str) -> None:
    door = door_of(alice, version)
    params = {"name": tool, "arguments": arguments_of(tool, workspaceId=str(alice.workspace.workspace_id))}
    message = door.message("tools/call", params)
    headers = door.headers("tools/call", params)
    for path in places(message):
        for value in HOSTILE:
            check_answer(door.send(replaced(message, path, value), headers=headers))


def test_no_replacement_in_a_handshake_breaks_the_server(legacy: Door) -> None:
    capabilities = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
    info = {"name": "n", "version": "1", "title": "t", "icons": []}
    params = {"protocolVersion": "2025-06-18", "clientInfo": info, "capabilities": capabilities, "_meta": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    for path in places(message):
        for value in HOSTILE:
            check_answer(legacy.send(replaced(message, path, value)))


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/read", "notifications/cancelled"])
def test_no_parameters_of_a_method_break_the_server(door: Door, method: str) -> None:
    for value in HOSTILE:
        for name in ("cursor", "uri", "requestId", "_meta", "\ud800"):
            message = replaced(door.message(method, {}), ("params", name), value)
            check_answer(door.send(message, headers=door.headers(method) | {"mcp-name": "x"}))


@pytest.mark.parametrize(
    "sql", ["", ";", "(" * 5000, "SELECT " * 20_000, "x" * 900_000, "'", "\x00", "\ud800", "SELECT '\ud800'", "%" * 999]
)
@pytest.mark.parametrize("tool", ["sql_query", "sql_execute"])
def test_no_sql_text_breaks_the_server(door: Door, tool: str, sql: str) -> None:
    check_answer(door.post("tools/call", {"name": tool, "arguments": {"sql": sql}}))
