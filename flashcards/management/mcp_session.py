"""The same agent over MCP, with the protocol's official client: tools listed, cards read and written, one reviewed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from httpx2 import AsyncClient, HTTPError
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from flashcards.management.agent_session import REQUEST_SECONDS_MAX, Narrator, StepFailed, expect

TOOLS = {"sql_query", "sql_execute", "next_review_card", "reveal_answer", "submit_review"}


def run_mcp_session(url: str, *, key: str, narrator: Narrator) -> None:
    """Every step in its order; StepFailed at the first that goes wrong."""
    try:
        asyncio.run(_session(url, key, narrator))
    except* StepFailed as failed:
        raise _first(failed) from None
    except* (MCPError, HTTPError) as failed:
        raise StepFailed(f"{url}: {_first(failed)}") from None


def _first(group: BaseExceptionGroup[Any]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


async def _session(url: str, key: str, narrator: Narrator) -> None:
    async with AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=REQUEST_SECONDS_MAX) as http:
        with narrator.step("Connect over MCP, with the key as bearer"):
            narrator.sent(f"MCP {url}")
        async with Client(streamable_http_client(url, http_client=http)) as client:
            agent = McpAgent(client, narrator)
            await agent.list_tools()
            await agent.query_and_write()
            await agent.review()


@dataclass
class McpAgent:
    """An agent with an open MCP connection."""

    client: Client
    narrator: Narrator

    async def list_tools(self) -> None:
        """What a model is offered."""
        with self.narrator.step("List the tools"):
            self.narrator.sent("tools/list")
            names = sorted(tool.name for tool in (await self.client.list_tools()).tools)
            self.narrator.came(f"MCP {self.client.protocol_version}", names)
            expect(set(names) >= TOOLS, f"one of {', '.join(sorted(TOOLS))} is not there")

    async def query_and_write(self) -> None:
        """Read and write by SQL."""
        with self.narrator.step("Count the cards by state"):
            sql = "SELECT fsrs_card_state, COUNT(*) FROM cards GROUP BY fsrs_card_state"
            counted = await self.call("sql_query", sql=sql)
            expect(counted["rowCount"] >= 1, "there are no cards")
        with self.narrator.step("Suspend a card, and take it back"):
            sql = (
                "UPDATE cards SET suspended = TRUE WHERE front_text LIKE 'HTTP 418%'; "
                "UPDATE cards SET suspended = FALSE WHERE front_text LIKE 'HTTP 418%'"
            )
            written = await self.call("sql_execute", sql=sql)
            expect(written["affectedCountTotal"] == 2, "not one card was changed twice")

    async def review(self) -> None:
        """One card, from question to schedule."""
        with self.narrator.step("Ask for the next card to review"):
            card = (await self.call("next_review_card", tags=["server-error"]))["card"]
            expect(card is not None, "no card is left")
        with self.narrator.step("Reveal its answer"):
            expect((await self.call("reveal_answer", cardId=card["cardId"]))["backText"] != "", "there is no answer")
        with self.narrator.step("Rate it: Easy"):
            rated = {"cardId": card["cardId"], "reviewId": str(uuid4()), "rating": "Easy", "reviewedTimeZone": "UTC"}
            reviewed = await self.call("submit_review", **rated)
            expect(reviewed["state"] == "review" and reviewed["scheduledDays"] >= 1, "it is not due on a later day")

    async def call(self, tool: str, **arguments: Any) -> Mapping[str, Any]:
        """The `data` of a tool's result; StepFailed for an error."""
        self.narrator.sent(f"tools/call {tool}", arguments)
        result = await self.client.call_tool(tool, arguments)
        envelope: dict[str, Any] = result.structured_content or {}
        self.narrator.came("isError" if result.is_error else "ok", envelope.get("data") or envelope)
        expect(not result.is_error and bool(envelope.get("ok")), f"{tool} failed")
        data: Mapping[str, Any] = envelope["data"]
        return data
