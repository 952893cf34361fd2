"""The MCP endpoint as the tests knock on it: JSON-RPC over Django's test client, in either protocol era."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from tests.agent import Agent

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"
VERSIONS = (*HANDSHAKE_VERSIONS, MODERN_VERSION)
APP_CAPABILITIES = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
CLIENT_INFO = {"name": "test-client", "version": "3.2.1"}
JSON = "application/json"
_NAMED_BY = {"tools/call": "name", "resources/read": "uri"}


@dataclass
class Door:
    """One client at the endpoint: its revision, its token, what it declares."""

    client: Client
    key: str = ""
    version: str = "2025-06-18"
    capabilities: dict[str, Any] = field(default_factory=dict)
    path: str = "/mcp"
    more_headers: dict[str, str] = field(default_factory=dict)

    @property
    def is_modern(self) -> bool:
        """Whether it speaks 2026-07-28."""
        return self.version == MODERN_VERSION

    def send(self, body: Any, *, headers: dict[str, str | None] | None = None, content_type: str = JSON) -> Any:
        """POST of `body`, as JSON unless it is text already; a header given as None is left out."""
        wire = body if isinstance(body, str | bytes) else json.dumps(body)
        token = f"Bearer {self.key}" if self.key else None
        given = {"accept": "application/json, text/event-stream", "authorization": token}
        kept = {name: value for name, value in (given | (headers or {})).items() if value is not None}
        return self.client.post(self.path, wire, content_type=content_type, headers=kept)

    def message(self, method: str, params: dict[str, Any] | None = None, message_id: Any = 1) -> dict[str, Any]:
        """A request of this revision; with `message_id` None a notification."""
        body: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        body |= {} if message_id is None else {"id": message_id}
        if self.is_modern:
            envelope = {
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            }
            params = {**(params or {}), "_meta": envelope | (params or {}).get("_meta", {})}
        return body if params is None else body | {"params": params}

    def headers(self, method: str, params: dict[str, Any] | None = None) -> dict[str, str | None]:
        """The headers that go with such a request."""
        headers: dict[str, str | None] = {"mcp-protocol-version": self.version, **self.more_headers}
        if self.is_modern:
            headers["mcp-method"] = method
            headers["mcp-name"] = (params or {}).get(_NAMED_BY.get(method, ""))
        return headers

    def post(self, method: str, params: dict[str, Any] | None = None, **headers: str | None) -> Any:
        """The HTTP response to a well-formed request."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.send(self.message(method, params), headers=self.headers(method, params) | more)

    def ask(self, method: str, params: dict[str, Any] | None = None, **headers: str | None) -> dict[str, Any]:
        """The result of a request that must succeed."""
        response = self.post(method, params, **headers)
        body = response.json()
        assert response.status_code == 200, body
        assert "result" in body, body
        result: dict[str, Any] = body["result"]
        return result

    def refusal(self, method: str, params: dict[str, Any] | None = None, **headers: str | None) -> dict[str, Any]:
        """The JSON-RPC error of a request that must fail, with its HTTP status as `status`."""
        response = self.post(method, params, **headers)
        error: dict[str, Any] = response.json()["error"]
        return error | {"status": response.status_code}

    def initialize(self, **params: Any) -> Any:
        """The response to the handshake."""
        asked = {"protocolVersion": self.version, "clientInfo": CLIENT_INFO, "capabilities": self.capabilities}
        return self.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": asked | params})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The `tools/call` result, whatever came of it."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The data of a call that must succeed."""
        result = self.call(tool, **arguments)
        assert not result["isError"], result
        data: dict[str, Any] = result["structuredContent"]["data"]
        return data

    def error(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The error of a call that must fail."""
        result = self.call(tool, **arguments)
        assert result["isError"], result
        error: dict[str, Any] = result["structuredContent"]["error"]
        return error


def door_of(agent: Agent, version: str = "2025-06-18", **more: Any) -> Door:
    """A door for an agent's key."""
    return Door(agent.client, agent.key, version, **more)
