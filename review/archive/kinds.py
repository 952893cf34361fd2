"""The three lists of an archive as rows: what they refer to, what stands in for absent times, how they are built."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID, uuid5

from flashcards.models import Card, CardTag, Deck, Workspace, new_metadata
from review.archive.contents import Entry
from review.archive.faults import Faults
from review.archive.fields import CARD_RULES, DECK_RULES, EVENT_RULES, FieldRule
from review.archive.identity import resolve_ids
from review.archive.schedule import schedule_faults
from review.models import ReviewEvent

M = TypeVar("M", Card, Deck, ReviewEvent)
Row = dict[str, Any]
NO_ID = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Target:
    """Where rows go. `is_new` says that the workspace was made by this import."""

    workspace: Workspace
    is_new: bool
    now: datetime

    @property
    def id(self) -> UUID:
        """The workspace's id."""
        return self.workspace.workspace_id


@dataclass(slots=True)
class Placed:
    """A checked row with the entry that it came from; `id` and `exists` once it is known which stored row it means."""

    entry: Entry
    row: Row
    id: UUID = NO_ID
    exists: bool = False


class Kind(ABC, Generic[M]):
    """One of the lists."""

    name: ClassVar[str]
    key: ClassVar[str]
    rules: ClassVar[Mapping[str, FieldRule]]
    # Absent ones of a stored row stay as they are; those of a new row follow from its time.
    filled: ClassVar[tuple[str, ...]]
    derived: ClassVar[tuple[str, ...]] = ()
    model: type[M]

    def faults_of(self, row: Row) -> Iterable[tuple[str, str]]:
        """Field and predicate for fields that are sound by themselves but not together."""
        del row
        return ()

    def link(self, placed: Sequence[Placed], target: Target) -> None:
        """Before rows get their ids: make what they refer to what it is in `target`."""

    def check_stored(self, placed: Sequence[Placed], target: Target, faults: Faults) -> None:
        """Once rows have their ids: note what would clash with stored rows."""

    @abstractmethod
    def fill(self, row: Row, moment: datetime) -> None:
        """Give the absent fields of a new row their defaults; `moment` stands for an absent time."""

    @abstractmethod
    def build(self, row: Row, target: Target) -> M:
        """The row as a model instance, ready to be stored."""

    def stored(self, rows: Sequence[M]) -> None:
        """Called with the rows once they are stored."""

    def owners_of(self, ids: Iterable[UUID]) -> dict[UUID, UUID]:
        """For those ids that are stored, the workspace they belong to."""
        return owners_of(self.model, ids)


def owners_of(model: type[Card | Deck | ReviewEvent], ids: Iterable[UUID]) -> dict[UUID, UUID]:
    """For those ids that are stored as rows of `model`, the workspace they belong to."""
    return dict(model._default_manager.filter(pk__in=list(ids)).values_list("pk", "workspace_id"))


class CardKind(Kind[Card]):
    """Cards, with their tag rows."""

    name, key, rules, model = "cards", "card_id", CARD_RULES, Card
    filled = ("created_at", "updated_at", "metadata")
    derived = ("search_text",)

    def faults_of(self, row: Row) -> Iterator[tuple[str, str]]:
        return schedule_faults(row)

    def fill(self, row: Row, moment: datetime) -> None:
        row.setdefault("created_at", moment)
        row.setdefault("updated_at", row["created_at"])
        row.setdefault("metadata", new_metadata(row["created_at"]))

    def build(self, row: Row, target: Target) -> Card:
        card = Card(workspace=target.workspace, **row)
        card.refresh_search_text()
        return card

    def stored(self, rows: Sequence[Card]) -> None:
        CardTag.objects.sync(rows)


class DeckKind(Kind[Deck]):
    """Decks."""

    name, key, rules, model = "decks", "deck_id", DECK_RULES, Deck
    filled = ("created_at", "updated_at")
    derived = ("search_text",)

    def fill(self, row: Row, moment: datetime) -> None:
        row.setdefault("created_at", moment)
        row.setdefault("updated_at", row["created_at"])

    def build(self, row: Row, target: Target) -> Deck:
        deck = Deck(workspace=target.workspace, **row)
        deck.refresh_search_text()
        return deck


class EventKind(Kind[ReviewEvent]):
    """Review events. They may name cards that are deleted, or gone for good."""

    name, key, rules, model = "review_events", "review_event_id", EVENT_RULES, ReviewEvent
    filled = ("reviewed_at_client", "reviewed_at_server")

    def link(self, placed: Sequence[Placed], target: Target) -> None:
        """Cards by their ids in `target`; an event without an id is the one that has its client_event_id, if any."""
        cards = resolve_ids(
            {each.row["card_id"] for each in placed},
            target.id,
            lambda ids: owners_of(Card, ids),
            is_new=target.is_new,
        )
        for each in placed:
            each.row["card_id"] = cards[each.row["card_id"]].id
        nameless = [each for each in placed if self.key not in each.row]
        recorded = _recorded(nameless, target)
        for each in nameless:
            client_event_id = each.row["client_event_id"]
            named_after = uuid5(target.id, f"client_event_id {client_event_id}")
            each.row[self.key] = recorded.get(client_event_id, named_after)

    def check_stored(self, placed: Sequence[Placed], target: Target, faults: Faults) -> None:
        """A client_event_id belongs to one event of its workspace."""
        recorded = _recorded(placed, target)
        for each in placed:
            if recorded.setdefault(each.row["client_event_id"], each.id) != each.id:
                faults.add(f"{each.entry.place}.client_event_id", "is the one of another review event")

    def fill(self, row: Row, moment: datetime) -> None:
        row.setdefault("reviewed_at_server", row.get("reviewed_at_client", moment))
        row.setdefault("reviewed_at_client", row["reviewed_at_server"])

    def build(self, row: Row, target: Target) -> ReviewEvent:
        return ReviewEvent(workspace=target.workspace, **row)


def _recorded(placed: Sequence[Placed], target: Target) -> dict[str, UUID]:
    events = ReviewEvent.objects.in_workspace(target.id)
    wanted = [each.row["client_event_id"] for each in placed]
    return dict(events.filter(client_event_id__in=wanted).values_list("client_event_id", "review_event_id"))


KINDS: tuple[Kind[Any], ...] = (CardKind(), DeckKind(), EventKind())
