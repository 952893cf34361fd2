"""One structured log record a call: names that are ours or cleaned, ids and figures, never an argument or a text."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Any

from flashcards.errors import AppError
from flashcards.operation import parse_uuid
from mcp_bridge.jsonrpc import ProtocolError
from mcp_bridge.protocol import METHODS, Exchange
from mcp_bridge.tools import TOOL_NAMES

log = logging.getLogger(__name__)

Outcome = Mapping[str, Any] | AppError


def log_call(exchange: Exchange, outcome: Outcome, *, seconds: float, size_bytes: int) -> None:
    """Write the record of one request. The request id joins it in the formatter."""
    principal, client = exchange.call.principal, exchange.client
    fields = {
        "user": str(principal.user_id),
        "connection": str(principal.connection_id),
        "workspace": _workspace_id(exchange, outcome),
        "method": _known(exchange.message.method, METHODS),
        "tool": _known(exchange.params.get("name"), TOOL_NAMES) if exchange.message.method == "tools/call" else None,
        "client": client.name,
        "client_version": client.version,
        "protocol_version": client.protocol_version,
        "milliseconds": round(seconds * 1000, 1),
        "result_bytes": size_bytes,
        "error_code": _error_code(outcome),
    }
    log.info("call", extra={"fields": fields})


def _known(name: object, names: Collection[str]) -> str:
    return name if isinstance(name, str) and name in names else "unknown"


def _envelope(outcome: Outcome) -> Mapping[str, Any]:
    return {} if isinstance(outcome, AppError) else outcome.get("structuredContent", {})


def _workspace_id(exchange: Exchange, outcome: Outcome) -> str | None:
    """The workspace that answered, else the one that was asked for, as far as it is an id at all."""
    arguments = exchange.params.get("arguments")
    asked = arguments.get("workspaceId") if isinstance(arguments, Mapping) else None
    answered = _envelope(outcome).get("data", {}).get("workspaceId", asked)
    return _uuid_or_none(answered)


def _uuid_or_none(value: object) -> str | None:
    try:
        return str(parse_uuid(value))
    except ValueError:
        return None


def _error_code(outcome: Outcome) -> str | int | None:
    if isinstance(outcome, ProtocolError):
        return outcome.number
    return outcome.code if isinstance(outcome, AppError) else _envelope(outcome).get("error", {}).get("code")
