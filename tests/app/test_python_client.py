"""The official Python client as a host of the review app, against the running server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.extension import advertise
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.app.host import APP_TOOLS, PAGE_URI
from tests.mcp_bridge.test_tools import TOOLS
from tests.server import LiveServer

pytestmark = pytest.mark.server

UI = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"


@asynccontextmanager
async def connected(server: LiveServer, mode: str, *, shows_apps: bool, **headers: str) -> AsyncIterator[Client]:
    """A client of a new user that is through its negotiation."""
    key = server.create_api_key(f"python-{uuid4().hex}@example.com")
    extensions = [advertise(UI, {"mimeTypes": [MIME_TYPE]})] if shows_apps else None
    headers = {"Authorization": f"Bearer {key}", **{name.replace("_", "-"): said for name, said in headers.items()}}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(
            streamable_http_client(f"{server.url}/mcp", http_client=http), mode=mode, extensions=extensions
        ) as client,
    ):
        yield client


async def data_of(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The data of a call that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    data: dict[str, Any] = result.structured_content["data"]
    return data


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_host_opens_the_page_and_holds_a_round(server: LiveServer, mode: str) -> None:
    async def hold() -> None:
        async with connected(server, mode, shows_apps=True) as client:
            assert client.server_capabilities.extensions == {UI: {"mimeTypes": [MIME_TYPE]}}
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(tools) == [*TOOLS, *APP_TOOLS]
            launcher = tools["flashcard_review_session"]
            assert launcher.meta["ui"]["resourceUri"] == PAGE_URI
            assert [one.uri for one in (await client.list_resources()).resources] == [PAGE_URI]
            (page,) = (await client.read_resource(launcher.meta["ui"]["resourceUri"])).contents
            assert page.mime_type == MIME_TYPE
            assert not any(page.meta["ui"]["csp"].values())
            await data_of(client, "flashcard", action="create_card", markdown="- 2 + 2?\n  - 4")
            offer = await data_of(client, "flashcard", action="list_cards", scope="all", filter="due")
            session = {
                "candidateToken": offer["candidateToken"],
                "cards": [{"cardId": card["cardId"]} for card in offer["cards"]],
                "selectionReason": "There is one.",
            }
            opened = await client.call_tool("flashcard_review_session", session)
            assert opened.structured_content["presentationMode"] == "mcp-app-only"
            (card,) = opened.structured_content["data"]["cards"]
            page_call = {"sessionId": opened.structured_content["data"]["sessionId"], "cardId": card["cardId"]}
            page_call["reviewId"] = card["reviewId"]
            rating = {"action": "review_card", "rating": "Good", "reviewedTimeZone": "Europe/London"}
            stored = await data_of(client, "flashcard_review_app_action", **page_call, **rating)
            assert stored["reps"] == 1
            undone = await data_of(client, "flashcard_review_app_action", **page_call, action="undo")
            assert undone["card"]["status"] == "open"

    anyio.run(hold)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_without_the_extension_knows_nothing_of_it(server: LiveServer, mode: str) -> None:
    async def look() -> None:
        async with connected(server, mode, shows_apps=False) as client:
            assert not client.server_capabilities.extensions
            assert [tool.name for tool in (await client.list_tools()).tools] == list(TOOLS)
            for tool in APP_TOOLS:
                with pytest.raises(MCPError, match="Unknown tool"):
                    await client.call_tool(tool, {})
            with pytest.raises(MCPError, match="Resource not found"):
                await client.read_resource(PAGE_URI)

    anyio.run(look)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_asks_for_flashcard_by_header(server: LiveServer, mode: str) -> None:
    async def ask() -> None:
        async with connected(server, mode, shows_apps=False, X_MCP_Toolsets="flashcard") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [*TOOLS, "flashcard"]
            made = await data_of(client, "flashcard", action="create_card", markdown="# One\n\nback\n\n# Two\n\nback")
            assert made["createdCount"] == 2
            listed = await data_of(client, "flashcard", action="list_cards")
            assert [card["back"] for card in listed["cards"]] == ["back", "back"]

    anyio.run(ask)
