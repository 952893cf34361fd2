"""The official Python client against the running server, in both of its modes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.mcp_bridge.test_tools import TOOLS
from tests.server import LiveServer

pytestmark = pytest.mark.server


@asynccontextmanager
async def connected(server: LiveServer, key: str, mode: str, path: str = "/mcp") -> AsyncIterator[Client]:
    """A client that is through its negotiation."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=30) as http,
        Client(streamable_http_client(server.url + path, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("mode", "agreed"), [("auto", "2026-07-28"), ("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")]
)
def test_the_python_client_studies_a_card(server: LiveServer, mode: str, agreed: str) -> None:
    key = server.create_api_key(f"python-{uuid4().hex}@example.com")

    async def study() -> None:
        async with connected(server, key, mode) as client:
            assert client.protocol_version == agreed
            assert [tool.name for tool in (await client.list_tools()).tools] == list(TOOLS)
            insert = "INSERT INTO cards (front_text, back_text) VALUES ('2 + 2?', '4')"
            assert not (await client.call_tool("sql_execute", {"sql": insert})).is_error
            card = (await client.call_tool("next_review_card", {})).structured_content["data"]["card"]
            assert card["frontText"] == "2 + 2?"
            revealed = await client.call_tool("reveal_answer", {"cardId": card["cardId"]})
            assert revealed.structured_content["data"]["backText"] == "4"
            rating = {"cardId": card["cardId"], "reviewId": str(uuid4()), "rating": "Easy", "reviewedTimeZone": "UTC"}
            assert (await client.call_tool("submit_review", rating)).structured_content["data"]["state"] == "review"
            assert (await client.call_tool("submit_review", rating)).is_error
            assert (await client.list_resources()).resources == []
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool("nonsense", {})

    anyio.run(study)


def test_the_python_client_takes_the_address_with_a_slash(server: LiveServer) -> None:
    key = server.create_api_key(f"python-{uuid4().hex}@example.com")

    async def look() -> None:
        async with connected(server, key, "auto", "/mcp/") as client:
            assert (await client.list_tools()).tools

    anyio.run(look)
