"""The one place an outcome becomes an answer, the same for REST and MCP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from flashcards.errors import Advice, AppError


class Surface(StrEnum):
    """The door a call came through; it decides how instructions are worded."""

    REST = "rest"
    MCP = "mcp"


@dataclass(frozen=True, slots=True)
class Reply:
    """A success: the `data`, and what to do next in plain words.

    `data` holds plain JSON values under camelCase keys. `actions` are calls that follow, for discovery and login.
    `beside` holds further keys of the envelope.
    """

    data: Mapping[str, Any]
    instructions: Advice | str
    actions: Sequence[Mapping[str, Any]] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """A rendered outcome: HTTP status, the envelope and headers. MCP takes `ok` as `not isError`."""

    status: int
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return bool(self.body["ok"])


def instant(moment: datetime) -> str:
    """`moment` as answers write it: ISO 8601, UTC, milliseconds (cut, not rounded), `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def instant_or_none(moment: datetime | None) -> str | None:
    """As `instant`; NULL stays null."""
    return None if moment is None else instant(moment)


def render(
    outcome: Reply | AppError, *, surface: Surface, discovery_url: str, request_id: str, status: int = 200
) -> Answer:
    """The envelope of `outcome`. `status` is the HTTP status of a success; an error brings its own."""
    envelope: dict[str, Any] = {
        "ok": isinstance(outcome, Reply),
        "data": dict(outcome.data) if isinstance(outcome, Reply) else {},
        "instructions": _worded(outcome.instructions, surface),
        "docs": {"discoveryUrl": discovery_url},
    }
    if isinstance(outcome, Reply):
        envelope |= {"actions": list(outcome.actions)} if outcome.actions else {}
        envelope |= {"links": dict(outcome.links)} if outcome.links else {}
        return Answer(status, envelope | dict(outcome.beside), {})
    envelope["error"] = {"code": outcome.code, "message": outcome.message, "details": outcome.details}
    envelope["requestId"] = request_id
    return Answer(outcome.status, envelope, outcome.headers)


def _worded(instructions: Advice | str, surface: Surface) -> str:
    if isinstance(instructions, str):
        return instructions
    return instructions.rest if surface is Surface.REST else instructions.mcp
