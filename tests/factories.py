"""Rows for tests, each with sensible values for whatever a test does not name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.credentials import hash_secret
from accounts.credentials import make_api_key as make_key_text
from accounts.models import ApiKey, Membership, User
from flashcards.models import Card, CardState, CardTag, Deck, Workspace, new_metadata
from review.models import ReviewEvent

LONG_AGO = datetime(2025, 1, 1, 8, tzinfo=UTC)


def make_user(email: str = "alice@example.com", **fields: Any) -> User:
    """A user without a password."""
    return User.objects.create_user(email, **fields)


def make_workspace(user: User, name: str = "Personal", **fields: Any) -> Workspace:
    """A workspace of `user`."""
    workspace = Workspace.objects.create(name=name, **fields)
    Membership.objects.create(user=user, workspace=workspace)
    return workspace


def make_api_key(user: User, label: str = "test", **fields: Any) -> str:
    """The text of a new key of `user`."""
    key = make_key_text()
    ApiKey.objects.create(user=user, label=label, key_id=key.key_id, secret_hash=hash_secret(key.secret), **fields)
    return str(key)


def make_card(workspace: Workspace, **fields: Any) -> Card:
    """A stored card, new unless `fsrs_card_state` says otherwise, with its tag rows."""
    created_at = fields.setdefault("created_at", LONG_AGO)
    fields = {"front_text": "Front", "back_text": "Back", "updated_at": created_at, **fields}
    card = Card(workspace=workspace, metadata=new_metadata(created_at), **_scheduled(fields), **fields)
    card.refresh_search_text()
    card.save(force_insert=True)
    CardTag.objects.sync([card])
    return card


def _scheduled(fields: dict[str, Any]) -> dict[str, Any]:
    """What the invariants ask of a card in that state and `fields` leave open."""
    state = fields.get("fsrs_card_state", CardState.NEW)
    if state == CardState.NEW:
        return {}
    stepping = state != CardState.REVIEW
    lapses = 1 if state == CardState.RELEARNING else 0
    due_at = fields.get("due_at", LONG_AGO + timedelta(days=10))
    defaults = {
        "due_at": due_at,
        "fsrs_last_reviewed_at": due_at - timedelta(minutes=10),
        "fsrs_step_index": 0 if stepping else None,
        "fsrs_scheduled_days": 0 if stepping else 1,
        "fsrs_stability": 2.5,
        "fsrs_difficulty": 5.0,
        "reps": 1 + lapses,
        "lapses": lapses,
    }
    return {name: value for name, value in defaults.items() if name not in fields}


def make_deck(workspace: Workspace, **fields: Any) -> Deck:
    """A stored deck."""
    created_at = fields.setdefault("created_at", LONG_AGO)
    deck = Deck(workspace=workspace, **{"name": "Deck", "updated_at": created_at, **fields})
    deck.refresh_search_text()
    deck.save(force_insert=True)
    return deck


def make_review_event(card: Card, **fields: Any) -> ReviewEvent:
    """A stored review of `card`."""
    number = ReviewEvent.objects.count()
    defaults = {
        "client_event_id": f"event-{number}",
        "rating": 2,
        "reviewed_at_client": LONG_AGO,
        "reviewed_at_server": LONG_AGO,
    }
    return ReviewEvent.objects.create(workspace=card.workspace, card=card, **{**defaults, **fields})
