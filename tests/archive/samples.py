"""Small archives to vary."""

from __future__ import annotations

from typing import Any

WORKSPACE: dict[str, Any] = {"workspace_id": "11111111-0000-4000-8000-000000000001", "name": "Botany"}
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
REVIEWED: dict[str, Any] = {
    **CARD,
    "fsrs_card_state": "review",
    "due_at": "2026-02-01T00:00:00Z",
    "fsrs_last_reviewed_at": "2026-01-20T10:00:00Z",
    "fsrs_stability": 12.5,
    "fsrs_difficulty": 4.25,
    "fsrs_scheduled_days": 12,
    "reps": 3,
}


def archive(workspace: Any = WORKSPACE, **lists: Any) -> dict[str, Any]:
    """An archive with these lists."""
    return {"format": "flashcards-workspace", "version": 1, "workspace": workspace, **lists}
