"""The official Python client authorizes itself: prints where the browser is to go, then what it saw."""

from __future__ import annotations

import asyncio
import json
import sys
from urllib.parse import parse_qsl, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken


class Memory:
    """What the client keeps, and every pair of tokens that it ever got."""

    client: OAuthClientInformationFull | None = None

    def __init__(self) -> None:
        self.pairs: list[OAuthToken] = []

    async def get_tokens(self) -> OAuthToken | None:
        return self.pairs[-1] if self.pairs else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.pairs.append(tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def journey(url: str, mode: str) -> None:
    """Authorize, call a tool, lose the access token, call again."""
    memory, answers, authorizations = Memory(), asyncio.Queue[AuthorizationCodeResult](), []

    async def callback(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target = (await reader.readline()).decode().split()[1]
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 26\r\nConnection: close\r\n\r\nYou can close this window.")
        await writer.drain()
        writer.close()
        if target.startswith("/callback?"):
            await answers.put(AuthorizationCodeResult(**dict(parse_qsl(urlsplit(target).query))))

    async def open_browser(address: str) -> None:
        authorizations.append(address)
        print(json.dumps({"authorize": address}), flush=True)

    listener = await asyncio.start_server(callback, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    said = {"client_name": "Python SDK", "redirect_uris": [f"http://127.0.0.1:{port}/callback"]}
    metadata = OAuthClientMetadata.model_validate(said)
    provider = OAuthClientProvider(url, metadata, memory, open_browser, answers.get)
    seen = []
    async with httpx2.AsyncClient(auth=provider, timeout=60) as http:
        for _ in range(2):
            async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                result = await client.call_tool("list_workspaces", {})
                seen.append([entry["name"] for entry in result.structured_content["data"]["workspaces"]])
            provider.context.token_expiry_time = 1.0  # long ago: the client refreshes before it calls again
    listener.close()
    report = {
        "clientId": memory.client.client_id[:4],
        "scope": memory.pairs[0].scope,
        "first": seen[0],
        "second": seen[1],
        "authorizations": len(authorizations),
        "rotated": len({pair.refresh_token for pair in memory.pairs}) == len(memory.pairs) == 2,
    }
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    asyncio.run(journey(sys.argv[1], sys.argv[2]))
