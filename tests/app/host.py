"""A host that shows MCP Apps, as the tests drive it, and the steps of a round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flashcards.models import Card
from tests.agent import Agent
from tests.mcp_bridge.door import APP_CAPABILITIES, MODERN_VERSION, Door

LEGACY_VERSION = "2025-06-18"
ERAS = (LEGACY_VERSION, MODERN_VERSION)
PAGE_URI = "ui://flashcards/review-v1.html"
APP_TOOLS = ["flashcard", "flashcard_review_session", "flashcard_review_app_action"]


def host_of(agent: Agent, version: str = MODERN_VERSION, *, key: str = "", **headers: str) -> Door:
    """A connected host; one of the handshake revisions keeps the session id that it was given."""
    door = Door(agent.client, key or agent.key, version, capabilities=APP_CAPABILITIES, more_headers=dict(headers))
    if version != MODERN_VERSION:
        door.more_headers["mcp-session-id"] = door.initialize().headers["Mcp-Session-Id"]
    return door


def due_cards(host: Door, **arguments: Any) -> dict[str, Any]:
    """The data of the list that offers cards for a session."""
    return host.data("flashcard", action="list_cards", scope="all", filter="due", **arguments)


def open_session(host: Door, *card_ids: str, **changes: Any) -> dict[str, Any]:
    """The result of opening a session of these cards, or of everything that is offered."""
    offer = due_cards(host)
    chosen = card_ids or tuple(card["cardId"] for card in offer["cards"])
    arguments = {
        "candidateToken": offer["candidateToken"],
        "cards": [{"cardId": card_id} for card_id in chosen],
        "selectionReason": "Oldest first.",
    }
    return host.call("flashcard_review_session", **(arguments | changes))


@dataclass
class Round:
    """An open session as its page knows it."""

    host: Door
    data: dict[str, Any]

    @property
    def cards(self) -> list[dict[str, Any]]:
        """The cards that it was opened with."""
        cards: list[dict[str, Any]] = self.data["cards"]
        return cards

    def arguments(self, action: str, position: int | None = None, **changes: Any) -> dict[str, Any]:
        """The arguments of an action, on the card at `position`."""
        arguments = {"action": action, "sessionId": self.data["sessionId"]}
        if position is not None:
            arguments["cardId"] = self.cards[position]["cardId"]
        if position is not None and action != "skip":
            arguments["reviewId"] = self.cards[position]["reviewId"]
        if action == "review_card":
            arguments["rating"] = "Good"
        return {name: value for name, value in (arguments | changes).items() if value is not None}

    def do(self, action: str, position: int | None = None, **changes: Any) -> dict[str, Any]:
        """The data of an action that must succeed."""
        return self.host.data("flashcard_review_app_action", **self.arguments(action, position, **changes))

    def fail(self, action: str, position: int | None = None, **changes: Any) -> dict[str, Any]:
        """The error of an action that must fail."""
        return self.host.error("flashcard_review_app_action", **self.arguments(action, position, **changes))


def open_round(host: Door, *cards: Card) -> Round:
    """A round of these cards, or of everything that is offered."""
    result = open_session(host, *(str(card.card_id) for card in cards))
    assert not result["isError"], result
    return Round(host, result["structuredContent"]["data"])
