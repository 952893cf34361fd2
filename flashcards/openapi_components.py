"""The parts of the OpenAPI document that do not depend on any operation: envelopes, headers, security schemes, tags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

JsonObject = dict[str, Any]

TAGS = (
    ("api/agent/", "Sign-in", "A code by e-mail, exchanged for an API key."),
    ("v1/agent/sql/", "SQL", "Cards, decks, review events and settings as tables."),
    ("v1/agent/reviews/", "Reviews", "The next due card, its answer, the rating."),
    ("v1/agent/guide/", "Guides", "What an agent reads before it writes or reviews."),
    ("v1/agent/me", "Account", "Who is calling, and their workspaces."),
    ("v1/agent/workspaces", "Account", ""),
    ("v1", "Discovery", "Where an agent starts."),
)
DESCRIPTION = (
    "Spaced repetition for people who study through AI agents. Every answer but this document is an envelope: `ok`, "
    "`data`, `instructions` (what to do next, in plain words), `docs`, and for a failure `error` and `requestId`. "
    "Start at `GET /v1/`. Keys are camelCase, times ISO 8601 in UTC with milliseconds and `Z`, ids lower-case UUIDs. "
    "GET also answers HEAD. A body is a JSON object of at most 1 MiB with `Content-Type: application/json`; unknown "
    "fields are refused by name."
)
SECURITY_SCHEMES: JsonObject = {
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "`ApiKey fca_…`: the word ApiKey, a space, and the key that verify-code returned.",
    },
    "bearer": {"type": "http", "scheme": "bearer", "description": "The same key as `Bearer fca_…`."},
}
HEADERS: JsonObject = {
    "X-Request-Id": {"description": "The id of this request in the server's log.", "schema": {"type": "string"}},
    "WWW-Authenticate": {"description": "How to authenticate.", "schema": {"type": "string"}},
    "Allow": {"description": "The methods that this path takes.", "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds to wait before the next try.", "schema": {"type": "string"}},
}
HEADERS_AT: Mapping[int, tuple[str, ...]] = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
_ISSUE: JsonObject = {
    "type": "object",
    "required": ["path", "code", "message"],
    "properties": {
        "path": {"type": "string", "description": "The argument that is wrong."},
        "code": {"type": "string", "description": "A stable reason."},
        "message": {"type": "string", "description": "What is wrong with it, and a form that works."},
    },
}
_COMMON: JsonObject = {
    "instructions": {"type": "string", "description": "What to do next, in plain words."},
    "docs": {
        "type": "object",
        "required": ["discoveryUrl"],
        "properties": {"discoveryUrl": {"type": "string", "format": "uri"}},
    },
}
ENVELOPES: JsonObject = {
    "Envelope": {
        "type": "object",
        "description": "A success.",
        "required": ["ok", "data", "instructions", "docs"],
        "properties": {
            "ok": {"const": True},
            "data": {"type": "object"},
            **_COMMON,
            "actions": {"type": "array", "items": {"type": "object"}, "description": "Calls that follow."},
            "links": {"type": "object", "additionalProperties": {"type": "string", "format": "uri"}},
        },
    },
    "ErrorEnvelope": {
        "type": "object",
        "description": "A failure.",
        "required": ["ok", "data", "instructions", "docs", "error", "requestId"],
        "properties": {
            "ok": {"const": False},
            "data": {"type": "object", "maxProperties": 0},
            **_COMMON,
            "error": {
                "type": "object",
                "required": ["code", "message", "details"],
                "properties": {
                    "code": {"type": "string"},
                    "message": {"type": "string"},
                    "details": {
                        "type": "object",
                        "description": "What a program needs to mend the call.",
                        "properties": {"validationIssues": {"type": "array", "items": _ISSUE}},
                    },
                },
            },
            "requestId": {"type": "string"},
        },
    },
}

_WORKSPACE = "$response.body#/data/workspaceId"
_CARD = "$response.body#/data/card/cardId"
# By operation: what can be called next with what was answered.
LINKS: Mapping[str, JsonObject] = {
    "send_code": {
        "verify": {
            "operationId": "verify_code",
            "requestBody": {"otpSessionToken": "$response.body#/data/otpSessionToken"},
        }
    },
    "create_workspace": {"select": {"operationId": "select_workspace", "parameters": {"workspaceId": _WORKSPACE}}},
    "next_review_card": {
        "reveal": {"operationId": "reveal_answer", "requestBody": {"workspaceId": _WORKSPACE, "cardId": _CARD}},
        "rate": {"operationId": "submit_review", "requestBody": {"workspaceId": _WORKSPACE, "cardId": _CARD}},
    },
}
