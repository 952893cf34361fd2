"""Mutated JSON-RPC messages and headers at a running server with two processes: an answer each, never a fault.

`MCP_FUZZ_COUNT=5000 MCP_FUZZ_SEED=2` makes the run longer or another; `-s` shows what came back.
"""

from __future__ import annotations

import copy
import json
import os
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_bridge.door import MODERN_VERSION, VERSIONS, Door
from tests.server import LiveServer, running_server

pytestmark = pytest.mark.server

SECONDS_MAX = 10.0
INSIDE = ("traceback", "exception", "pydantic", "django", "psycopg", "sqlite3", "operationalerror", "/site-packages/")
A_UUID = "3e0f2bb8-9cbd-4b5a-9a4e-0a8f1c2d3e4f"
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("initialize", {"protocolVersion": "2025-06-18", "clientInfo": {"name": "f", "version": "1"}, "capabilities": {}}),
    ("ping", {}),
    ("server/discover", {}),
    ("tools/list", {}),
    ("resources/list", {}),
    ("resources/read", {"uri": "ui://flashcards/review-v1.html"}),
    ("prompts/list", {}),
    ("tools/call", {"name": "sql_query", "arguments": {"sql": "SELECT front_text, tags FROM cards LIMIT 3"}}),
    (
        "tools/call",
        {"name": "sql_execute", "arguments": {"sql": "INSERT INTO cards (front_text, back_text) VALUES ('Q', 'A')"}},
    ),
    ("tools/call", {"name": "list_workspaces", "arguments": {"limit": 5, "cursor": None}}),
    ("tools/call", {"name": "get_guide", "arguments": {"topic": "review_flow"}}),
    ("tools/call", {"name": "next_review_card", "arguments": {}}),
    ("tools/call", {"name": "reveal_answer", "arguments": {"cardId": A_UUID, "workspaceId": None}}),
    (
        "tools/call",
        {
            "name": "submit_review",
            "arguments": {"cardId": A_UUID, "reviewId": A_UUID, "rating": "Good", "reviewedTimeZone": "UTC"},
        },
    ),
    ("tools/call", {"name": "flashcard", "arguments": {"action": "list_cards"}}),
]
VALUES: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        2**63,
        1.5,
        1e308,
        "",
        "x",
        "x" * 5000,
        [],
        {},
        [None],
        {"": ""},
        [[[]]],
        {"a": {"b": []}},
    ),
    *("\x00", "\u202e", "\ud800", "💥", "../../etc/passwd", "' OR 1=1 --", "2026-07-28", "2.0", "Good", A_UUID, "null"),
]
HEADER_VALUES = [
    "",
    " ",
    "x",
    "x" * 4000,
    "2026-07-28",
    "1900-01-01",
    "tools/call",
    "null",
    "*/*",
    "é",
    "\t",
    ",",
    ";q=x",
]
HEADERS = [
    *("Content-Type", "Accept", "Authorization", "MCP-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name"),
    *("Origin", "X-Forwarded-For", "Accept-Language", "Last-Event-ID", "Content-Encoding", "X-HTTP-Method-Override"),
]
SIGNS = [
    b"{",
    b"}",
    b"[",
    b'"',
    b",",
    b"\\",
    b"\x00",
    b"\xff",
    b"\xed\xa0\x80",
    b"NaN",
    b"1e999",
    b"\xef\xbb\xbf",
    b"//",
]


@dataclass
class Report:
    """What came back."""

    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def __str__(self) -> str:
        lines = [f"{count:8} {outcome}" for outcome, count in self.outcomes.most_common()]
        total = f"{self.outcomes.total()} messages, slowest {self.slowest:.2f} s, {len(self.faults)} faults"
        return "\n".join([*self.faults[:20], *lines, total])


class Mutator:
    """Makes requests that are nearly right."""

    def __init__(self, key: str, seed: int) -> None:
        self.key = key
        self.rng = random.Random(seed)

    def request(self) -> tuple[bytes, dict[str, str]]:
        """A body and its headers."""
        rng = self.rng
        door = Door(client=None, key=self.key, version=rng.choice([*VERSIONS, MODERN_VERSION, MODERN_VERSION]))
        method, params = rng.choice(REQUESTS)
        # A copy: parts of a door's messages are shared by all doors.
        message = copy.deepcopy(door.message(method, params, message_id=rng.choice([1, "a", 1, 1, None])))
        headers = {name: value for name, value in door.headers(method, params).items() if value is not None}
        headers |= {"Authorization": f"Bearer {self.key}", "Accept": "application/json, text/event-stream"}
        headers["Content-Type"] = "application/json"
        for _ in range(rng.choice([0, 1, 1, 2])):
            rng.choice([self._value, self._value, self._key])(message)
        if rng.random() < 0.3:
            self._header(headers)
        body = json.dumps(message if rng.random() > 0.03 else [message, message]).encode()
        return (self._bytes(body) if rng.random() < 0.15 else body), headers

    def _place(self, message: dict[str, Any]) -> dict[str, Any]:
        """The message itself or some object in it."""
        inner = message
        while True:
            deeper = [value for value in inner.values() if isinstance(value, dict) and value]
            if not deeper or self.rng.random() < 0.35:
                return inner
            inner = self.rng.choice(deeper)

    def _value(self, message: dict[str, Any]) -> None:
        place = self._place(message)
        if place:
            place[self.rng.choice(list(place))] = self._any()

    def _key(self, message: dict[str, Any]) -> None:
        place = self._place(message)
        if place and self.rng.random() < 0.5:
            del place[self.rng.choice(list(place))]
        else:
            place[self.rng.choice(["x", "", "_meta", "cursor", "workspaceId", "jsonrpc", "$ref"])] = self._any()

    def _any(self) -> Any:
        # A copy: what stands in the message is changed further.
        return copy.deepcopy(self.rng.choice(VALUES))

    def _header(self, headers: dict[str, str]) -> None:
        name = self.rng.choice(HEADERS)
        if self.rng.random() < 0.3:
            headers.pop(name, None)
        else:
            headers[name] = self.rng.choice(HEADER_VALUES).encode().decode("latin-1")

    def _bytes(self, body: bytes) -> bytes:
        at = self.rng.randrange(len(body))
        return body[:at] + self.rng.choice(SIGNS) + body[at + self.rng.randrange(4) :]


def fuzz(server: LiveServer, *, key: str, count: int, seed: int) -> Report:
    """The report on `count` requests, one after the other."""
    mutator, report = Mutator(key, seed), Report()
    for _ in range(count):
        body, headers = mutator.request()
        started = time.monotonic()
        try:
            status, _answered, raw = server.raw_request("POST", "/mcp", body, headers=headers)
        except OSError as error:
            report.faults.append(f"NO ANSWER {type(error).__name__} to {body[:300]!r} {headers}")
            continue
        seconds = time.monotonic() - started
        report.slowest = max(report.slowest, seconds)
        report.outcomes[f"{status} {_code(raw)}"] += 1
        said = raw.decode(errors="replace").lower() if b'"guide"' not in raw else ""
        if status >= 500 or seconds > SECONDS_MAX or any(word in said for word in INSIDE):
            report.faults.append(f"{status} in {seconds:.1f} s: {raw[:300]!r} to {body[:300]!r} {headers}")
    if "Traceback" in server.printed():
        report.faults.append("a traceback in the server's output")
    return report


def _code(raw: bytes) -> str:
    answer = json.loads(raw) if raw else {}
    if "error" in answer:
        return str(answer["error"]["code"] if isinstance(answer["error"], dict) else answer["error"])
    result = answer.get("result", {})
    return str(result["structuredContent"]["error"]["code"]) if result.get("isError") else "answered" if raw else ""


def test_no_mutated_message_is_a_fault_of_the_server(tmp_path: Path) -> None:
    count, seed = int(os.environ.get("MCP_FUZZ_COUNT", "800")), int(os.environ.get("MCP_FUZZ_SEED", "1"))
    with running_server(tmp_path, WEB_CONCURRENCY="2") as server:
        report = fuzz(server, key=server.create_api_key(), count=count, seed=seed)
    sys.stdout.write(f"{report}\n")
    assert report.faults == []
    assert len(report.outcomes) > 10
    assert report.outcomes["200 answered"] > count // 20
