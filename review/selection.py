"""Which cards a review is about: all of a workspace, those of some tags, or those of a deck."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists

from flashcards.errors import Advice, validation_issue
from flashcards.folding import fold
from flashcards.models import Card, CardQuerySet, CardTag, Deck, Workspace
from review.errors import DeckNotFound, ReviewInputInvalid

FEW_CARDS_MAX = 500
UNKNOWN_TAGS_NAMED = 5
TAG_SHOWN_MAX = 60
_LIST_TAGS = "`SELECT tag, COUNT(*) FROM cards, UNNEST(tags) AS tag GROUP BY tag ORDER BY tag`"
_TAGS_IN_USE = Advice(
    rest=f"Take tags that are in use from POST /v1/agent/sql/query with {_LIST_TAGS}, or leave tags out.",
    mcp=f"Take tags that are in use from sql_query with {_LIST_TAGS}, or leave tags out.",
)


@dataclass(frozen=True, slots=True)
class Selection:
    """All cards, or those that carry at least one of some tags, given folded; no tags at all select nothing."""

    folded_tags: Sequence[str] | None = None

    def cards(self, workspace: Workspace) -> CardQuerySet:
        """The selected cards of `workspace`; a filter by tags looks first how many they are.

        A planner that expects many walks the queue until it meets one of them, which takes long when there are few.
        Few are therefore named one by one.
        """
        cards = Card.objects.in_workspace(workspace)
        if self.folded_tags is None:
            return cards
        tagged = CardTag.objects.in_workspace(workspace).filter(folded__in=self.folded_tags)
        card_ids = list(tagged.values_list("card_id", flat=True)[: FEW_CARDS_MAX + 1])
        if len(card_ids) <= FEW_CARDS_MAX:
            return cards.filter(card_id__in=card_ids)
        return cards.tagged_any(workspace, self.folded_tags)


EVERY_CARD = Selection()


def select_cards(workspace: Workspace, *, tags: Sequence[str] | None = None, deck_id: UUID | None = None) -> Selection:
    """The cards that carry one of `tags`, or those of a deck; without either, every card.

    Raises ReviewInputInvalid naming tags that no card carries, or DeckNotFound.
    """
    if deck_id is not None:
        return select_deck(find_deck(workspace, deck_id))
    if tags is None:
        return EVERY_CARD
    _refuse_unused_tags(workspace, tags)
    return Selection(tuple(dict.fromkeys(map(fold, tags))))


def select_deck(deck: Deck) -> Selection:
    """What a deck selects: the cards that carry one of its tags, or every card when it has none."""
    return Selection(tuple(deck.folded_tags())) if deck.tags else EVERY_CARD


def find_deck(workspace: Workspace, deck_id: UUID) -> Deck:
    """The live deck of that id; raises DeckNotFound."""
    deck = Deck.objects.in_workspace(workspace).live().filter(deck_id=deck_id).first()
    if deck is None:
        raise DeckNotFound("There is no such deck in this workspace.")
    return deck


def _refuse_unused_tags(workspace: Workspace, tags: Iterable[str]) -> None:
    by_folded = {fold(tag): (index, tag) for index, tag in reversed(list(enumerate(tags)))}
    used = _used_tags(workspace, list(by_folded))
    unused = sorted(place for folded, place in by_folded.items() if folded not in used)
    if not unused:
        return
    named = unused[:UNKNOWN_TAGS_NAMED]
    noun = "tag" if len(unused) == 1 else "tags"
    more = f" and {len(unused) - len(named)} more" if len(unused) > len(named) else ""
    raise ReviewInputInvalid(
        f"No card carries the {noun} {', '.join(_shown(tag) for _, tag in named)}{more}.",
        [validation_issue(f"tags.{index}", "unknown_tag", f"No card carries {_shown(tag)}.") for index, tag in named],
        instructions=_TAGS_IN_USE,
    )


def _used_tags(workspace: Workspace, folded_tags: Sequence[str]) -> set[str]:
    # One probe of the index for each tag, where DISTINCT would read every row of a tag that many cards carry.
    tagged = CardTag.objects.in_workspace(workspace)
    probes = {f"used_{index}": Exists(tagged.filter(folded=tag)) for index, tag in enumerate(folded_tags)}
    if not probes:
        return set()
    found: tuple[bool, ...] = Workspace.objects.filter(pk=workspace.pk).annotate(**probes).values_list(*probes).get()
    return {tag for tag, is_used in zip(folded_tags, found, strict=True) if is_used}


def _shown(tag: str) -> str:
    return json.dumps(tag if len(tag) <= TAG_SHOWN_MAX else f"{tag[:TAG_SHOWN_MAX]}…", ensure_ascii=False)
