"""Which card comes next: due and just reviewed, then due, then new.

A bucket is read through an index of its own and cut off early; nothing here looks at a whole workspace.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from uuid import UUID

from django.db.models.functions import Coalesce

from flashcards.models import Card, CardQuerySet, Workspace
from review.selection import EVERY_CARD, Selection

JUST_REVIEWED = timedelta(hours=1)
_NEVER = datetime.max.replace(tzinfo=UTC)


class Bucket(IntEnum):
    """The parts of the queue, in their order."""

    JUST_REVIEWED = 0
    DUE = 1
    NEW = 2


QueuePlace = tuple[Bucket, datetime, datetime, UUID]


def queue_place(card: Card, *, now: datetime) -> QueuePlace | None:
    """Where `card` stands in the queue, to sort by; None for a card that is not in it."""
    if card.suspended or card.deleted_at is not None:
        return None
    if card.due_at is None:
        return Bucket.NEW, _NEVER, card.created_at, card.card_id
    if card.due_at > now:
        return None
    last = card.fsrs_last_reviewed_at
    just_reviewed = last is not None and now - JUST_REVIEWED <= last <= now
    return Bucket.JUST_REVIEWED if just_reviewed else Bucket.DUE, card.due_at, card.created_at, card.card_id


@dataclass(frozen=True, slots=True)
class DueCounts:
    """How many cards the queue holds at an instant."""

    due: int
    new: int


def next_card(workspace: Workspace, *, now: datetime, selection: Selection = EVERY_CARD) -> Card | None:
    """The first card of the queue; None when nothing is due or new. At most three look-ups."""
    # Where nothing was just reviewed, every due card belongs to the second bucket.
    for bucket in buckets(selection.cards(workspace), now=now):
        card = bucket.first()
        if card is not None:
            return card
    return None


def queue(
    workspace: Workspace,
    *,
    now: datetime,
    limit: int,
    selection: Selection = EVERY_CARD,
    without: Iterable[UUID] = (),
) -> list[Card]:
    """The first `limit` cards of the queue in their order, those `without` left out."""
    cards = selection.cards(workspace).exclude(card_id__in=list(without))
    just_reviewed, due, new = buckets(cards, now=now)
    # The two reads overlap; the first `limit` due cards hold all that the just reviewed ones leave room for.
    placed = {queue_place(card, now=now): card for card in (*just_reviewed[:limit], *due[:limit])}
    found = [placed[place] for place in sorted(place for place in placed if place is not None)][:limit]
    return found if len(found) == limit else [*found, *new[: limit - len(found)]]


def new_cards(
    workspace: Workspace, *, limit: int, selection: Selection = EVERY_CARD, without: Iterable[UUID] = ()
) -> list[Card]:
    """The first `limit` new cards of the queue in their order, those `without` left out."""
    return list(_new(selection.cards(workspace).exclude(card_id__in=list(without)))[:limit])


def due_counts(workspace: Workspace, *, now: datetime, selection: Selection = EVERY_CARD) -> DueCounts:
    """How many cards are due and how many are new."""
    cards = selection.cards(workspace)
    return DueCounts(due=cards.due(now=now).count(), new=cards.new().count())


def buckets(cards: CardQuerySet, *, now: datetime) -> tuple[CardQuerySet, CardQuerySet, CardQuerySet]:
    """The three parts of the queue over `cards`, each in its order; the second repeats the cards of the first."""
    in_study = cards.due(now=now)
    # Sorting by an expression keeps the planner from walking all due cards in order until one was just reviewed: it
    # goes through the index of last reviews instead, where the hour's few cards stand together.
    just_reviewed = in_study.filter(fsrs_last_reviewed_at__range=(now - JUST_REVIEWED, now)).order_by(
        Coalesce("due_at", now), "created_at", "card_id"
    )
    return just_reviewed, in_study.order_by("due_at", "created_at", "card_id"), _new(cards)


def _new(cards: CardQuerySet) -> CardQuerySet:
    return cards.new().order_by("created_at", "card_id")
