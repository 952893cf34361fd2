"""`/mcp`: Streamable HTTP without sessions, streams or memory, so that any worker can answer any request."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from mcp_types import INVALID_REQUEST

from accounts.auth import Principal, authenticate_bearer
from flashcards.api import client_address
from flashcards.envelope import Surface
from flashcards.errors import Advice, AppError, Forbidden, MethodNotAllowed, UnsupportedMediaType
from flashcards.operation import Call, Toolset
from flashcards.outcome import BODY_BYTES_MAX, outcome_of
from flashcards.request_body import read_body
from flashcards.request_log import request_id
from mcp_bridge.call_log import log_call
from mcp_bridge.client import Client, client_of, toolsets_of
from mcp_bridge.jsonrpc import Message, ProtocolError, error_body, parse_message
from mcp_bridge.protocol import Exchange, result_of

_LOOPBACK = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.ASCII)
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "POST, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Accept, Last-Event-ID, MCP-Protocol-Version, "
    "Mcp-Method, Mcp-Name, Mcp-Session-Id, X-MCP-Toolsets",
    "Access-Control-Max-Age": "86400",
}
_EXPOSED = "WWW-Authenticate, Retry-After, Mcp-Session-Id"
_ORIGIN_ADVICE = "The operator can allow this origin with the setting MCP_ALLOWED_ORIGINS."


@csrf_exempt
def mcp_endpoint(request: HttpRequest) -> HttpResponse:
    """Answer one request: a JSON-RPC response, 202 to a notification, or the HTTP refusal that fits."""
    outcome = outcome_of(lambda: _answer(request))
    response = _error_response(outcome, client=None, message_id=None) if isinstance(outcome, AppError) else outcome
    response["Cache-Control"] = "no-store"
    origin = request.headers.get("Origin", "")
    if origin and is_allowed_origin(origin):
        response["Access-Control-Allow-Origin"] = origin
        response["Access-Control-Expose-Headers"] = _EXPOSED
    response["Vary"] = "Origin"
    return response


def _answer(request: HttpRequest) -> HttpResponse:
    origin = request.headers.get("Origin", "")
    if origin and not is_allowed_origin(origin):
        raise Forbidden("This origin may not call the endpoint.", instructions=Advice(_ORIGIN_ADVICE, _ORIGIN_ADVICE))
    if request.method == "OPTIONS":
        return _empty(204, _PREFLIGHT)
    principal = authenticate_bearer(request)
    _check_head(request)
    message = parse_message(read_body(request, limit_bytes=BODY_BYTES_MAX))
    return _answer_message(request, principal, message)


def is_allowed_origin(origin: str) -> bool:
    """Whether pages of `origin` may call: a public one, this machine on any port, or one from the settings."""
    allowed = {*settings.PUBLIC_ORIGINS, *(extra.rstrip("/") for extra in settings.MCP_ALLOWED_ORIGINS)}
    return origin in allowed or _LOOPBACK.fullmatch(origin) is not None


def _check_head(request: HttpRequest) -> None:
    if request.method != "POST":
        raise MethodNotAllowed("This endpoint takes POST; it opens no stream.", headers={"Allow": "POST"})
    if request.content_type != "application/json":
        raise UnsupportedMediaType("The body is not declared as application/json.")
    accept = request.headers.get("Accept") or "*/*"
    accepted = {part.partition(";")[0].strip().lower() for part in accept.split(",")}
    if not accepted & {"application/json", "application/*", "*/*"}:
        raise ProtocolError(INVALID_REQUEST, "Answers are JSON: accept application/json.", http_status=406)


def _answer_message(request: HttpRequest, principal: Principal, message: Message) -> HttpResponse:
    started = time.perf_counter()
    headers = {name.lower(): value for name, value in request.headers.items()}
    client = outcome_of(lambda: client_of(message, headers))
    if isinstance(client, AppError):
        return _error_response(client, client=None, message_id=message.id)
    if message.id is None:
        return _empty(202)
    exchange = Exchange(message, client, _call(request, principal, toolsets_of(client, headers)))
    outcome = outcome_of(lambda: result_of(exchange))
    response = _response(exchange, outcome)
    log_call(exchange, outcome, seconds=time.perf_counter() - started, size_bytes=len(response.content))
    return response


def _call(request: HttpRequest, principal: Principal, toolsets: frozenset[Toolset]) -> Call[Principal]:
    return Call(
        caller=principal,
        surface=Surface.MCP,
        request_id=request_id(),
        client_address=client_address(request),
        accept_language=request.headers.get("accept-language", "")[:200],
        toolsets=toolsets,
    )


def _response(exchange: Exchange, outcome: dict[str, Any] | AppError) -> HttpResponse:
    message, client = exchange.message, exchange.client
    if isinstance(outcome, AppError):
        return _error_response(outcome, client=client, message_id=message.id)
    response = _json({"jsonrpc": "2.0", "id": message.id, "result": outcome}, 200)
    if message.method == "initialize" and client.shows_apps:
        response["Mcp-Session-Id"] = client.session_id()
    return response


def _error_response(error: AppError, *, client: Client | None, message_id: str | int | None) -> HttpResponse:
    body = error_body(error, message_id)
    return _json(body, _http_status(error, body["error"]["code"], client), error.headers)


def _http_status(error: AppError, number: int, client: Client | None) -> int:
    """What HTTP says beside a JSON-RPC error: 2026-07-28 prescribes it by code, the handshake revisions say 200."""
    if not isinstance(error, ProtocolError):
        return error.status
    by_era = ERROR_CODE_HTTP_STATUS.get(number, 200) if client is None or client.is_modern else 200
    return error.http_status or by_era


def _json(body: Mapping[str, Any], status: int, headers: Mapping[str, str] | None = None) -> HttpResponse:
    # A lone surrogate, which UTF-8 cannot carry, becomes its JSON escape.
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace")
    return HttpResponse(content, content_type="application/json", status=status, headers=headers)


def _empty(status: int, headers: Mapping[str, str] | None = None) -> HttpResponse:
    response = HttpResponse(status=status, headers=headers)
    del response["Content-Type"]
    return response
