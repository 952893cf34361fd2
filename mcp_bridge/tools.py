"""The tools: which operations a model may call, as it sees them, and what a call answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from django.conf import settings
from mcp_types import INVALID_PARAMS, INVALID_REQUEST, CallToolResult, TextContent, Tool, ToolAnnotations

from accounts.auth import Principal
from accounts.operations import list_workspaces
from flashcards.api import AnyOperation
from flashcards.envelope import Surface, render
from flashcards.errors import printable
from flashcards.operation import Call, Effect
from flashcards.outcome import perform
from mcp_bridge import review_app
from mcp_bridge.jsonrpc import ProtocolError
from mcp_bridge.operations import get_guide
from mcp_bridge.schemas import argument_schema, envelope_schema
from review.operations import next_review_card, reveal_answer, submit_review
from sqlgate.operations import sql_execute, sql_query

TOOLS: Mapping[str, AnyOperation] = {
    operation.name: operation
    for operation in (
        sql_query,
        sql_execute,
        list_workspaces,
        get_guide,
        next_review_card,
        reveal_answer,
        submit_review,
    )
}

TOOL_NAMES = frozenset({*TOOLS, *review_app.APP_TOOLS})
TOOL_NAME_LENGTH_MAX = 64
INSUFFICIENT_SCOPE = 'Bearer error="insufficient_scope", scope="flashcards"'


def listed_tools(call: Call[Principal]) -> list[Tool]:
    """What the caller may call: the standard tools in the order of the table, then what their client takes beyond."""
    offered = (*TOOLS.values(), *review_app.offered_operations(call))
    return [_as_tool(operation) for operation in offered if call.principal.allows(operation.scope)]


@cache
def _as_tool(operation: AnyOperation) -> Tool:
    return Tool(
        name=operation.name,
        title=operation.title,
        description=operation.description,
        input_schema=argument_schema(operation.params),
        output_schema=envelope_schema(operation.data),
        annotations=ToolAnnotations(
            read_only_hint=operation.effect is Effect.READ,
            destructive_hint=operation.effect is Effect.DESTRUCTIVE,
            idempotent_hint=operation.idempotent,
            open_world_hint=False,
        ),
        meta=review_app.TOOL_META.get(operation.name),
    )


def call_tool(name: str, arguments: Mapping[str, Any] | None, call: Call[Principal]) -> CallToolResult:
    """The envelope of the operation's outcome, as `structuredContent` and as text.

    Raises ProtocolError for a tool that does not exist, and with HTTP 403 for one that the connection's scope leaves
    out. Whatever goes wrong inside the call is a result with `isError`, so that the model can mend it.
    """
    operation, given = TOOLS.get(name) or review_app.find_operation(name, call), arguments or {}
    if operation is None:
        raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {printable(name[:TOOL_NAME_LENGTH_MAX])}")
    if not call.principal.allows(operation.scope_for(given)):
        raise ProtocolError(
            INVALID_REQUEST,
            f"{operation.name} writes, and this connection may only read.",
            http_status=403,
            headers={"WWW-Authenticate": INSUFFICIENT_SCOPE},
        )
    answer = render(
        perform(operation, call, given),
        surface=Surface.MCP,
        discovery_url=f"{settings.PUBLIC_API_BASE_URL}/v1/",
        request_id=call.request_id,
    )
    text = _text(answer.body, left_out=review_app.LEFT_OUT_OF_TEXT.get(name, frozenset()))
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=answer.body, is_error=not answer.ok
    )


def _text(envelope: Mapping[str, Any], *, left_out: frozenset[str]) -> str:
    data = {key: value for key, value in envelope["data"].items() if key not in left_out}
    return json.dumps({**envelope, "data": data}, ensure_ascii=False, separators=(",", ":"))
