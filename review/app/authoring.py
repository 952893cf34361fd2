"""Cards made from Markdown, and cards removed, each whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from flashcards.content import ContentRefused, clean_tags
from flashcards.errors import validation_issue
from flashcards.models import Card, Deck, Workspace, new_metadata
from flashcards.outcome import committed
from review.app.blocks import BlocksRefused, CardDraft, card_drafts
from review.app.errors import ConfirmationRequired
from review.errors import CardNotFound, ReviewInputInvalid


@dataclass(frozen=True, slots=True)
class Drafts:
    """Cards to be made: what stands on them, and the tags that they all get."""

    cards: Sequence[CardDraft]
    tags: list[str]


def draft_cards(markdown: str, *, tags: Sequence[str] = (), deck: Deck | None = None) -> Drafts:
    """The cards that `markdown` makes, with `tags` and the deck's; ReviewInputInvalid names lines at fault."""
    try:
        every = clean_tags([*tags, *(deck.tags if deck else [])])
    except ContentRefused as refused:
        message = f"tags, with the deck's, {refused.message}."
        raise ReviewInputInvalid(message, [validation_issue("tags", refused.reason, message)]) from None
    try:
        return Drafts(card_drafts(markdown), every)
    except BlocksRefused as refused:
        issues: list[dict[str, Any]] = [
            validation_issue("markdown", fault.reason, fault.message) | {"line": fault.line} for fault in refused.faults
        ]
        raise ReviewInputInvalid(f"{refused} No card was made.", issues) from None


def create_cards(drafts: Drafts, *, workspace: Workspace, now: datetime) -> list[Card]:
    """Store the drafts as new cards, one microsecond apart, so that their order is kept."""
    made = []
    for number, draft in enumerate(drafts.cards):
        at = now + timedelta(microseconds=number)
        made.append(
            Card(
                workspace=workspace,
                front_text=draft.front_text,
                back_text=draft.back_text,
                tags=drafts.tags,
                metadata=new_metadata(at),
                created_at=at,
                updated_at=at,
            )
        )
    with committed():
        Card.objects.insert(made)
    return made


def remove_cards(workspace: Workspace, card_ids: Sequence[UUID], *, confirmed: bool, now: datetime) -> list[Card]:
    """Move the cards to the trash and return them.

    Raises CardNotFound when one of them does not exist and ConfirmationRequired, with what would go, when not
    `confirmed`; nothing is removed then.
    """
    wanted = list(dict.fromkeys(card_ids))
    with committed():
        live = Card.objects.in_workspace(workspace).live().filter(card_id__in=wanted)
        # Locked in one order, so that two calls for the same cards do not wait for each other.
        found = {card.card_id: card for card in live.select_for_update().order_by("card_id")}
        _refuse_missing([card_id for card_id in wanted if card_id not in found])
        cards = [found[card_id] for card_id in wanted]
        if not confirmed:
            raise ConfirmationRequired(
                f"This would remove {len(cards)} card{'' if len(cards) == 1 else 's'}.",
                details={"cards": [_removal(card) for card in cards]},
            )
        Card.objects.in_workspace(workspace).move_to_trash(cards, now=now)
    return cards


def _refuse_missing(card_ids: Sequence[UUID]) -> None:
    if card_ids:
        raise CardNotFound(
            "There is no such card in this workspace.", details={"cardIds": [str(card_id) for card_id in card_ids]}
        )


def _removal(card: Card) -> dict[str, object]:
    return {"cardId": str(card.card_id), "front": card.front_text, "tags": card.tags, "reps": card.reps}
