"""Small archives to vary."""

from __future__ import annotations

from typing import Any

WORKSPACE = {"workspace_id": "11111111-0000-4000-8000-000000000001", "name": "Botany"}
CARD: dict[str, Any] = {
    "card_id": "22222222-0000-4000-8000-000000000001",
    "front_text": "Capital of Norway",
    "back_text": "Oslo",
    "tags": ["geo", "Europe"],
}
DECK: dict[str, Any] = {"deck_id": "33333333-0000-4000-8000-000000000001", "name": "Geography", "tags": ["geo"]}
EVENT: dict[str, Any] = {
    "review_event_id": "44444444-0000-4000-8000-000000000001",
    "card_id": CARD["card_id"],
    "client_event_id": "evt-1",
    "rating": 2,
}


def archive(**lists: list[Any]) -> dict[str, Any]:
    """An archive of WORKSPACE with these lists."""
    return {"format": "flashcards-workspace", "version": 1, "workspace": WORKSPACE, **lists}
