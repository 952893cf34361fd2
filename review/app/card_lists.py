"""Lists of cards and decks as the tool `flashcard` shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, OuterRef, Q, Subquery, When
from django.db.models.functions import JSONObject

from flashcards.envelope import instant_or_none
from flashcards.folded_text import FoldText
from flashcards.models import Card, CardQuerySet, CardTag, Deck, DeckTag, Workspace
from review.app.rendering import as_it_stands, is_readable, render_markdown
from review.queue import due_counts, new_cards, queue
from review.selection import EVERY_CARD, Selection

# A list stops before it grows past what a client can take in; its first card is shown whatever its length.
LIST_CHARACTERS_MAX = 200_000
# A hostile text takes up to 30 microseconds a character to render; the cards of an honest round are far below this.
RENDERED_CHARACTERS_MAX = 200_000
CANDIDATE_ROUNDS_MAX = 20
CANDIDATES_A_ROUND_MIN = 100


class ListFilter(StrEnum):
    """Which cards a list is about: the review queue, its new cards, or every live card."""

    DUE = "due"
    NEW = "new"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class CardPage:
    """Some cards of a list, and whether there are more of them."""

    cards: Sequence[Card]
    has_more: bool


def page_of_cards(
    workspace: Workspace,
    which: ListFilter,
    *,
    limit: int,
    now: datetime,
    selection: Selection = EVERY_CARD,
    without: Iterable[UUID] = (),
) -> CardPage:
    """The first `limit` cards in the order of the queue (newest first for every live card), some left out."""
    more = limit + 1
    match which:
        case ListFilter.DUE:
            found = queue(workspace, now=now, limit=more, selection=selection, without=without)
        case ListFilter.NEW:
            found = new_cards(workspace, limit=more, selection=selection, without=without)
        case ListFilter.ANY:
            live = selection.cards(workspace).live().exclude(card_id__in=list(without))
            found = list(live.order_by("-created_at", "card_id")[:more])
    return _fitting(found, limit=limit)


def page_of_candidates(workspace: Workspace, *, limit: int, now: datetime, without: Iterable[UUID] = ()) -> CardPage:
    """The first `limit` cards of the queue that have a readable prompt, some left out."""
    renderer, found = Renderer(), list[Card]()
    for card in _queued(workspace, now=now, at_once=limit + 1, without=without):
        if card is None or len(found) == limit or not renderer.has_room_for(card.front_text):
            return CardPage(found, has_more=True)
        if renderer.readable_prompt(card) is not None:
            found.append(card)
    return CardPage(found, has_more=False)


def _queued(workspace: Workspace, *, now: datetime, at_once: int, without: Iterable[UUID]) -> Iterator[Card | None]:
    """The cards of the queue, read some at a time; None in the end when there may be still more."""
    handled = set(without)
    for _ in range(CANDIDATE_ROUNDS_MAX):
        batch = queue(workspace, now=now, limit=at_once, without=handled)
        yield from batch
        if len(batch) < at_once:
            return
        handled.update(card.card_id for card in batch)
        at_once = max(at_once, CANDIDATES_A_ROUND_MIN)
    yield None


def page_of_chosen(workspace: Workspace, card_ids: Sequence[UUID], *, limit: int, offset: int) -> CardPage:
    """The live cards among those of the ids, in the order of the ids."""
    found = Card.objects.in_workspace(workspace).live().in_bulk(list(card_ids))
    cards = [found[card_id] for card_id in dict.fromkeys(card_ids) if card_id in found]
    return _fitting(cards[offset : offset + limit + 1], limit=limit)


def page_of_deck(workspace: Workspace, selection: Selection, *, limit: int, offset: int) -> CardPage:
    """The live cards that a deck selects, newest first."""
    live = selection.cards(workspace).live().order_by("-created_at", "card_id")
    return _fitting(list(live[offset : offset + limit + 1]), limit=limit)


def missing_ids(workspace: Workspace, card_ids: Sequence[UUID]) -> list[str]:
    """Those of the ids that are no live card of the workspace, each once."""
    rows = Card.objects.in_workspace(workspace).live().filter(card_id__in=list(card_ids))
    known = set(rows.values_list("card_id", flat=True))
    return [str(card_id) for card_id in dict.fromkeys(card_ids) if card_id not in known]


def _fitting(found: Sequence[Card], *, limit: int) -> CardPage:
    room, fitting = LIST_CHARACTERS_MAX, 0
    for card in found[:limit]:
        room -= len(card.front_text) + len(card.back_text)
        if fitting and room < 0:
            break
        fitting += 1
    return CardPage(found[:fitting], has_more=len(found) > fitting)


def rendered(text: str) -> str | None:
    """`text` as HTML that is safe to insert; None where it cannot be rendered."""
    try:
        return render_markdown(text)
    except ValueError:
        return None


class Renderer:
    """Renders texts of one answer: so many characters of them in all that no answer takes the server long."""

    def __init__(self) -> None:
        self._room = RENDERED_CHARACTERS_MAX

    def has_room_for(self, text: str) -> bool:
        """Whether `text` may still be rendered."""
        return len(text) <= self._room

    def html_of(self, text: str) -> str | None:
        """`text` as HTML that is safe to insert; None where it cannot be rendered, or not any more."""
        if not self.has_room_for(text):
            return None
        self._room -= len(text)
        return rendered(text)

    def readable_prompt(self, card: Card) -> str | None:
        """The front as HTML, as it stands where there is no room left; None where it shows nothing to read."""
        if not self.has_room_for(card.front_text):
            return as_it_stands(card.front_text)
        html = self.html_of(card.front_text)
        return html if html is not None and is_readable(html) else None


def candidate_data(card: Card) -> dict[str, Any]:
    """A card to choose for a session: everything but the answer."""
    return {**_scheduling(card), "front": card.front_text, "tags": card.tags}


def card_data(card: Card) -> dict[str, Any]:
    """A card with both sides; its scheduling alone where a text cannot be rendered."""
    if rendered(card.front_text) is None or rendered(card.back_text) is None:
        return _scheduling(card)
    return {**candidate_data(card), "back": card.back_text}


def _scheduling(card: Card) -> dict[str, Any]:
    return {
        "cardId": str(card.card_id),
        "dueAt": instant_or_none(card.due_at),
        "state": card.fsrs_card_state,
        "reps": card.reps,
        "lapses": card.lapses,
        "lastReviewedAt": instant_or_none(card.fsrs_last_reviewed_at),
    }


def counts_data(workspace: Workspace, selection: Selection, *, now: datetime) -> dict[str, int]:
    """How many cards a selection has, and how many of them are due and new."""
    queued = due_counts(workspace, now=now, selection=selection)
    cards = selection.cards(workspace).live().count()
    return {"cardCount": cards, "dueCount": queued.due, "newCount": queued.new}


def decks_data(workspace: Workspace, *, now: datetime) -> list[dict[str, Any]]:
    """Every live deck, newest first, with its counts as `counts_data` has them; one query."""
    every = Card.objects.in_workspace(workspace).live()
    # Two queries up from the tag rows of cards, three from the tags of decks, is the deck.
    deck_tags = DeckTag.objects.in_workspace(workspace).filter(deck_id=OuterRef(OuterRef(OuterRef("deck_id"))))
    folded = deck_tags.annotate(folded=FoldText("tag")).values("folded")
    tagged = CardTag.objects.in_workspace(workspace).filter(folded__in=folded)
    counts = Case(
        When(tags=[], then=_counts(every, now=now)),
        default=_counts(every.filter(card_id__in=tagged.values("card_id")), now=now),
    )
    decks = Deck.objects.in_workspace(workspace).live().order_by("-created_at", "deck_id")
    rows = decks.annotate(counts=counts).values_list("deck_id", "name", "tags", "counts")
    return [
        {"deckId": str(deck_id), "name": name, "tags": tags, **(found or _NO_CARDS)}
        for deck_id, name, tags, found in rows
    ]


_NO_CARDS = {"cardCount": 0, "dueCount": 0, "newCount": 0}


def _counts(cards: CardQuerySet, *, now: datetime) -> Subquery:
    """The counts over `cards` in one pass; NULL where there are none."""
    in_study = Q(suspended=False)
    counted = JSONObject(
        cardCount=Count("card_id"),
        dueCount=Count("card_id", filter=in_study & Q(due_at__lte=now)),
        newCount=Count("card_id", filter=in_study & Q(due_at__isnull=True)),
    )
    return Subquery(cards.order_by().values("workspace_id").annotate(counted=counted).values("counted"))
