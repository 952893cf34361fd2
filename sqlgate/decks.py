"""The deck that IN_DECK names."""

from __future__ import annotations

from uuid import UUID

from flashcards.models import CardTag, CardTagQuerySet, Deck
from sqlgate import ast
from sqlgate.errors import FRAGMENT_LENGTH_MAX, Fault, Reason, shown
from sqlgate.values import parse_uuid, quoted

NAMES_SHOWN_MAX = 20


def find_deck(literal: ast.Text, *, workspace_id: UUID) -> Deck:
    """The live deck of that id, else the one of exactly that name; Fault when there is none, or several."""
    decks = Deck.objects.in_workspace(workspace_id).live()
    deck_id = parse_uuid(literal.value)
    found = list(decks.filter(deck_id=deck_id)[:1]) if deck_id else []
    found = found or list(decks.filter(name=literal.value).order_by("created_at", "deck_id")[: NAMES_SHOWN_MAX + 1])
    if len(found) == 1:
        return found[0]
    if found:
        ids = [str(deck.deck_id) for deck in found[:NAMES_SHOWN_MAX]]
        message = f"{len(found)} decks are named {shown(literal.value)}. Name one by its id: {', '.join(ids[:5])}."
        raise Fault(Reason.AMBIGUOUS_DECK, message, literal.at, fix=quoted(ids[0]), extra={"deckIds": ids})
    names = tuple(decks.order_by("name").values_list("name", flat=True)[:NAMES_SHOWN_MAX])
    some = f" There are: {', '.join(map(shown, names[:5]))}{' …' if len(names) > 5 else ''}." if names else ""
    message = f"There is no deck {_said(literal.value)} in this workspace.{some}"
    fault = Fault(Reason.UNKNOWN_DECK, message, literal.at, known=names, wrong_name=literal.value)
    fault.fix = quoted(fault.did_you_mean) if fault.did_you_mean else None
    raise fault


def _said(name: str) -> str:
    """A name in quotes, with the blanks at its ends, by which it may differ from another."""
    blanks_count = name != name.strip() and len(name) <= FRAGMENT_LENGTH_MAX and name.isprintable()
    return quoted(name) if blanks_count else f"'{shown(name)}'"


def cards_of(deck: Deck) -> CardTagQuerySet:
    """The tag rows of the cards that a deck with tags selects."""
    return CardTag.objects.in_workspace(deck.workspace_id).filter(folded__in=deck.folded_tags())
