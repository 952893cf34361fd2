"""JSON-RPC 2.0 as the MCP endpoint speaks it: one message in, one result or error out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, PROTOCOL_VERSION_META_KEY
from rest_framework.exceptions import ParseError

from flashcards.api import parse_json
from flashcards.errors import Advice, AppError
from flashcards.request_log import request_id

MessageId = str | int


class ProtocolError(AppError):
    """A fault of the protocol: an unknown method or tool, a malformed message. It becomes a JSON-RPC error.

    What a tool was asked to do and could not is never one of these: that is a result with `isError`. `number` is the
    JSON-RPC error code; without `http_status` the protocol era decides (see `endpoint`).
    """

    advice = Advice(rest="", mcp="")

    def __init__(
        self,
        number: int,
        message: str,
        *,
        data: Any = None,
        http_status: int | None = None,
        message_id: MessageId | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message, headers=headers)
        self.number = number
        self.data = data
        self.http_status = http_status
        self.message_id = message_id


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification when `id` is None."""

    method: str
    params: Mapping[str, Any] | None
    id: MessageId | None = None

    @property
    def meta(self) -> Mapping[str, Any]:
        """`params._meta`; empty when there is none or it is no object."""
        meta = (self.params or {}).get("_meta")
        return meta if isinstance(meta, Mapping) else {}

    @property
    def is_enveloped(self) -> bool:
        """Whether the message carries the per-request envelope of 2026-07-28."""
        return PROTOCOL_VERSION_META_KEY in self.meta


def parse_message(raw: bytes) -> Message:
    """The one message in a body; ProtocolError (400) for a batch, a response, or anything malformed.

    Any present `id` other than a string or an integer is refused, null too (MCP is stricter here than JSON-RPC 2.0
    section 4): a request that is owed an answer must not pass as a notification.
    """
    body = _parsed(raw)
    if isinstance(body, list):
        raise _invalid("Batches are not supported. Send one JSON-RPC message a request.")
    if not isinstance(body, dict):
        raise _invalid("The body must be a JSON-RPC object.")
    message_id = body.get("id")
    if "id" in body and (isinstance(message_id, bool) or not isinstance(message_id, str | int)):
        raise _invalid("id must be a string or an integer.")
    if body.get("jsonrpc") != "2.0":
        raise _invalid('jsonrpc must be "2.0".', message_id)
    if not isinstance(body.get("method"), str):
        raise _invalid("method must be a string. Responses are not accepted: this server asks nothing.", message_id)
    if not isinstance(body.get("params"), dict | None):
        raise _invalid("params must be an object.", message_id)
    return Message(body["method"], body.get("params"), message_id)


def _parsed(raw: bytes) -> Any:
    try:
        return parse_json(raw)
    except ParseError as error:
        raise ProtocolError(PARSE_ERROR, f"Parse error: {error}", http_status=400) from None


def _invalid(message: str, message_id: MessageId | None = None) -> ProtocolError:
    return ProtocolError(INVALID_REQUEST, message, http_status=400, message_id=message_id)


def error_body(error: AppError, message_id: MessageId | None) -> dict[str, Any]:
    """The JSON-RPC error response. A refusal that is not of the protocol keeps its code and advice under `data`."""
    if isinstance(error, ProtocolError):
        wire = {"code": error.number, "message": error.message}
        wire |= {} if error.data is None else {"data": error.data}
        message_id = message_id if error.message_id is None else error.message_id
    else:
        number = INTERNAL_ERROR if error.status >= 500 else INVALID_REQUEST
        data = {"code": error.code, "instructions": error.instructions.mcp, "requestId": request_id()}
        wire = {"code": number, "message": error.message, "data": data}
    return {"jsonrpc": "2.0", "id": message_id, "error": wire}
