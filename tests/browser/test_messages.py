"""Every message of the page is of the shape that the protocol publishes."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from mcp_types.methods import validate_client_request
from playwright.sync_api import expect

from tests.browser.chat import Chat
from tests.browser.conftest import OpenChat

pytestmark = [pytest.mark.server, pytest.mark.browser]

DEFINITIONS = {
    "ui/initialize": "McpUiInitializeRequest",
    "ui/notifications/initialized": "McpUiInitializedNotification",
    "ui/notifications/size-changed": "McpUiSizeChangedNotification",
    "ui/message": "McpUiMessageRequest",
    "ui/open-link": "McpUiOpenLinkRequest",
}
REQUESTS = {"ui/initialize", "ui/message", "ui/open-link", "tools/call"}


@pytest.fixture
def schema(packages: Path) -> dict[str, Any]:
    """The schema published with the official bridge."""
    folder = packages / "@modelcontextprotocol/ext-apps/dist/src/generated"
    published: dict[str, Any] = json.loads((folder / "schema.json").read_text())
    return published


def check_message(message: dict[str, Any], schema: dict[str, Any]) -> None:
    """JSON-RPC 2.0, and of the schema that its method has."""
    assert message["jsonrpc"] == "2.0"
    if "method" not in message:
        assert set(message) == {"jsonrpc", "id", "result"} or set(message) == {"jsonrpc", "id", "error"}
        return
    method, params = message["method"], message["params"]
    assert ("id" in message) == (method in REQUESTS)
    assert set(message) <= {"jsonrpc", "id", "method", "params"}
    if method == "tools/call":
        validate_client_request(method, "2025-11-25", params)
        return
    jsonschema_rs.validate(schema["$defs"][DEFINITIONS[method]], {"method": method, "params": params})


def test_every_message_of_a_round_fits_the_published_schema(open_chat: OpenChat, schema: dict[str, Any]) -> None:
    chat = open_chat()
    chat.launch("Peru", "Chile")
    chat.fail_next("lost")
    chat.rate("Good")
    chat.button("Try again").click()
    expect(chat.front).to_have_text("Chile")
    chat.button("Undo last rating").click()
    expect(chat.front).to_have_text("Peru")
    chat.button("Hard").click()
    expect(chat.front).to_have_text("Chile")
    chat.button("Skip").click()
    chat.button("Ask AI").click()
    expect(chat.button("Sent")).to_be_visible()
    chat.page.evaluate("chat.bridge.teardownResource({})")
    sent = chat.read("sent")
    for message in sent:
        check_message(message, schema)
    assert {message["method"] for message in sent if "method" in message} == {*DEFINITIONS, "tools/call"} - {
        "ui/open-link"
    }


def test_the_first_messages_are_the_handshake(chat: Chat) -> None:
    expect(chat.front).to_have_text("Peru")
    methods = [message["method"] for message in chat.read("sent")]
    assert methods[:2] == ["ui/initialize", "ui/notifications/initialized"]
    assert chat.read("sent")[0]["params"]["protocolVersion"] == "2026-01-26"


def test_unknown_requests_of_the_host_are_refused_and_pings_answered(chat: Chat) -> None:
    expect(chat.front).to_have_text("Peru")
    post = "message => document.querySelector('iframe').contentWindow.postMessage(message, '*')"
    for number, method in ((901, "ping"), (902, "ui/nonsense"), (903, "tools/list")):
        chat.page.evaluate(post, {"jsonrpc": "2.0", "id": number, "method": method, "params": {}})
    chat.page.wait_for_function("chat.sent.filter((message) => message.id > 900).length === 3")
    answers = {message["id"]: message for message in chat.read("sent") if message.get("id", 0) > 900}
    assert answers[901] == {"jsonrpc": "2.0", "id": 901, "result": {}}
    assert answers[902]["error"]["code"] == answers[903]["error"]["code"] == -32601


def test_the_size_is_told_when_it_changed_and_not_more_often(chat: Chat) -> None:
    expect(chat.front).to_have_text("Peru")
    chat.rate("Good")
    expect(chat.front).to_have_text("Chile")
    chat.page.wait_for_timeout(300)
    sizes = [message["params"] for message in chat.read("sent") if message.get("method", "").endswith("size-changed")]
    assert all(first != second for first, second in pairwise(sizes))
    assert sizes[-1]["height"] == chat.frame.evaluate("Math.ceil(document.body.getBoundingClientRect().height)")
    assert sizes[-1]["width"] == 760
