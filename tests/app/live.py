"""The review app of a running server, over connections of one's own."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

from tests.app.host import Round
from tests.mcp_bridge.door import APP_CAPABILITIES, MODERN_VERSION, Door
from tests.server import LiveServer


class LiveDoor(Door):
    """A door of a running server: each request has a connection of its own, so that many can be under way."""

    def __init__(self, live: LiveServer, key: str) -> None:
        super().__init__(client=None, key=key, version=MODERN_VERSION, capabilities=APP_CAPABILITIES)
        self.live = live

    def send(self, body: Any, *, headers: dict[str, str | None] | None = None, content_type: str = "") -> Any:
        """POST of `body`."""
        kept = {name: value for name, value in (headers or {}).items() if value is not None}
        kept |= {"Authorization": f"Bearer {self.key}", "Accept": "application/json, text/event-stream"}
        status, answered, raw = self.live.raw_request("POST", "/mcp", body, headers=kept)
        return LiveAnswer(status, answered, raw)


class LiveAnswer:
    """As much of a response as a door looks at."""

    def __init__(self, status: int, headers: dict[str, str], raw: bytes) -> None:
        self.status_code, self.headers, self.content = status, headers, raw

    def json(self) -> Any:
        """The body."""
        return json.loads(self.content)


def live_round(live: LiveServer, count: int) -> Round:
    """A round of that many new cards of a new user."""
    host = LiveDoor(live, live.create_api_key(f"{uuid4().hex}@example.com"))
    host.data("flashcard", action="create_card", markdown="".join(f"- {n}\n  - back\n" for n in range(count)))
    offer = host.data("flashcard", action="list_cards")
    chosen = [{"cardId": card["cardId"]} for card in offer["cards"]]
    data = host.data(
        "flashcard_review_session", candidateToken=offer["candidateToken"], cards=chosen, selectionReason="why"
    )
    return Round(host, data)


def at_once(host: Door, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The envelopes of calls of the page that are sent together."""
    ready = threading.Barrier(len(calls))

    def send(arguments: dict[str, Any]) -> dict[str, Any]:
        ready.wait()
        envelope: dict[str, Any] = host.call("flashcard_review_app_action", **arguments)["structuredContent"]
        return envelope

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(send, calls))
