"""The tables that the dialect publishes, and the rows behind them: always those of one workspace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias
from uuid import UUID

from django.db.models import F, Model, QuerySet
from django.db.models.functions import Length, Substr

from flashcards.content import CARD_CONTRACT
from flashcards.models import Card, CardTag, Deck, DeckTag, Workspace
from review.models import ReviewEvent
from sqlgate.expressions import Expr, FoldText

Rows: TypeAlias = QuerySet[Any, Any]


class Kind(StrEnum):
    """What a column holds; the value is the type that DESCRIBE names."""

    UUID = "uuid"
    TEXT = "string"
    TIMESTAMP = "datetime"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TAGS = "string[]"
    INTEGERS = "integer[]"
    JSON = "json"


NOUNS = {
    Kind.UUID: "an id",
    Kind.TEXT: "text",
    Kind.TIMESTAMP: "a timestamp",
    Kind.INTEGER: "an integer",
    Kind.NUMBER: "a number",
    Kind.BOOLEAN: "a boolean",
    Kind.TAGS: "a list of texts",
    Kind.INTEGERS: "a list of integers",
    Kind.JSON: "JSON",
}
FoldedBy: TypeAlias = Callable[[str], Expr]


def _folded_by_database(prefix: str, name: str) -> Expr:
    return FoldText(F(prefix + name))


@dataclass(frozen=True, slots=True)
class PublishedColumn:
    """A column: its name is the model's field. `folded_by`, given a prefix of the path, is its text without case."""

    name: str
    kind: Kind
    description: str
    nullable: bool = False
    writable: bool = False
    required: bool = False
    filterable: bool = True
    sortable: bool = True
    searched: bool = False
    folded_by: FoldedBy | None = None

    def folded(self, prefix: str) -> Expr:
        """The expression of the column's text without case."""
        return self.folded_by(prefix) if self.folded_by else _folded_by_database(prefix, self.name)

    def described(self) -> dict[str, Any]:
        """The row that DESCRIBE shows."""
        return {
            "column_name": self.name,
            "type": self.kind.value,
            "nullable": self.nullable,
            "read_only": not self.writable,
            "filterable": self.filterable,
            "sortable": self.sortable,
            "description": self.description,
        }


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table. `key` is the column of the id, `newest_by` the time of the default order.

    `unnested` are the rows of its UNNEST, which reach the table's own columns through `unnested_prefix`. `hints`
    explain columns that do not exist and are asked for all the same; `synonyms` tell what is meant by other words.
    """

    name: str
    description: str
    model: type[Model]
    key: str
    newest_by: str
    columns: tuple[PublishedColumn, ...]
    rows: Callable[[UUID], Rows]
    unnested: Callable[[UUID], Rows] | None = None
    unnested_prefix: str = ""
    unnested_folded: FoldedBy | None = None
    hints: dict[str, str] = field(default_factory=dict)
    synonyms: dict[str, str] = field(default_factory=dict)

    @property
    def writable(self) -> bool:
        """Whether INSERT, UPDATE and DELETE take it."""
        return any(column.writable for column in self.columns)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names in the order of `*`."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> PublishedColumn | None:
        """The column of that name."""
        return next((column for column in self.columns if column.name == name), None)


def _text(name: str, description: str, **more: Any) -> PublishedColumn:
    return PublishedColumn(name, Kind.TEXT, description, **more)


def _time(name: str, description: str, **more: Any) -> PublishedColumn:
    return PublishedColumn(name, Kind.TIMESTAMP, description, **more)


def _whole(name: str, description: str, **more: Any) -> PublishedColumn:
    return PublishedColumn(name, Kind.INTEGER, description, **more)


def _real(name: str, description: str, **more: Any) -> PublishedColumn:
    return PublishedColumn(name, Kind.NUMBER, description, **more)


def _id(name: str, description: str, **more: Any) -> PublishedColumn:
    return PublishedColumn(name, Kind.UUID, description, **more)


_DELETED = _time(
    "deleted_at",
    "Always null: deleted rows are not shown. IS NULL is accepted as always true.",
    nullable=True,
    filterable=False,
    sortable=False,
)


def _folded_front(prefix: str) -> Expr:
    return Substr(F(f"{prefix}search_text"), 1, Length(F(f"{prefix}front_text")))


def _folded_back(prefix: str) -> Expr:
    start = Length(F(f"{prefix}front_text")) + 2
    return Substr(F(f"{prefix}search_text"), start, Length(F(f"{prefix}back_text")))


def _folded_name(prefix: str) -> Expr:
    return Substr(F(f"{prefix}search_text"), 1, Length(F(f"{prefix}name")))


NO_DECK_ID = (
    "A card belongs to no deck: a deck is a saved tag filter. Write IN_DECK('deck name or id'), "
    "or filter by tags: tags OVERLAP ('geo')."
)
NO_DESCRIPTION = "A deck is a saved tag filter and has no description: it has a name and tags."

CARDS = PublishedTable(
    name="cards",
    description=f"The flashcards of the workspace. {CARD_CONTRACT}",
    model=Card,
    key="card_id",
    newest_by="created_at",
    columns=(
        _id("card_id", "The card's id."),
        _text(
            "front_text",
            "Holds only the question or prompt, never the answer. Not blank, at most 20,000 characters.",
            writable=True,
            required=True,
            searched=True,
            folded_by=_folded_front,
        ),
        _text(
            "back_text",
            "Holds the answer, optionally with one concrete example. At most 100,000 characters.",
            writable=True,
            required=True,
            searched=True,
            folded_by=_folded_back,
        ),
        _text("card_type", "basic or cloze; basic when left out.", writable=True),
        PublishedColumn("metadata", Kind.JSON, "Where the card came from.", filterable=False, sortable=False),
        PublishedColumn(
            "tags", Kind.TAGS, "The card's tags, in order; what decks select by. At most 50.", writable=True
        ),
        _time("due_at", "When the next review is due; null for a card that was never reviewed.", nullable=True),
        _time("created_at", "When the card was made."),
        _whole("reps", "How often the card was reviewed."),
        _whole("lapses", "How often it was forgotten after it had been learned."),
        _time("updated_at", "When text, tags, type or suspension last changed; a review does not count."),
        _DELETED,
        _text("fsrs_card_state", "new, learning, review or relearning."),
        _whole("fsrs_step_index", "The step within learning or relearning, from 0; null otherwise.", nullable=True),
        _real("fsrs_stability", "Days until recall falls to 90 % (FSRS-6).", nullable=True),
        _real("fsrs_difficulty", "Difficulty from 1 to 10 (FSRS-6).", nullable=True),
        _time("fsrs_last_reviewed_at", "When the card was last reviewed.", nullable=True),
        _whole("fsrs_scheduled_days", "The interval that was given at the last review, in days.", nullable=True),
        PublishedColumn("suspended", Kind.BOOLEAN, "Whether the card is kept out of the review queue.", writable=True),
    ),
    rows=lambda workspace_id: Card.objects.in_workspace(workspace_id).live(),
    unnested=CardTag.objects.in_workspace,
    unnested_prefix="card__",
    unnested_folded=lambda _: F("folded"),
    hints={
        **dict.fromkeys(("deck_id", "deck", "deck_name", "decks"), NO_DECK_ID),
        **dict.fromkeys(
            ("tag", "tag_name"), "tags is a list: FROM cards UNNEST tags AS tag gives one row for each of them."
        ),
    },
    synonyms={
        "id": "card_id",
        **dict.fromkeys(("question", "prompt"), "front_text"),
        "answer": "back_text",
        **dict.fromkeys(("state", "status", "card_state"), "fsrs_card_state"),
        **dict.fromkeys(("due", "due_date", "next_review", "next_review_at"), "due_at"),
        **dict.fromkeys(("created", "created_on", "date_created"), "created_at"),
        **dict.fromkeys(("last_review", "last_reviewed", "last_reviewed_at"), "fsrs_last_reviewed_at"),
        **dict.fromkeys(("interval", "interval_days"), "fsrs_scheduled_days"),
        "stability": "fsrs_stability",
        "difficulty": "fsrs_difficulty",
        **dict.fromkeys(("ease", "ease_factor"), "fsrs_difficulty"),
        **dict.fromkeys(("reviews", "review_count", "repetitions"), "reps"),
    },
)
DECKS = PublishedTable(
    name="decks",
    description="Saved tag filters: a deck selects the cards that carry at least one of its tags, ignoring case; "
    "without tags, every card.",
    model=Deck,
    key="deck_id",
    newest_by="created_at",
    columns=(
        _id("deck_id", "The deck's id."),
        _text(
            "name",
            "The deck's name: 1 to 200 characters. Two decks may share one.",
            writable=True,
            required=True,
            folded_by=_folded_name,
        ),
        PublishedColumn(
            "tags",
            Kind.TAGS,
            "The tags whose cards the deck selects; empty selects every card.",
            writable=True,
            sortable=False,
        ),
        _time("created_at", "When the deck was made."),
        _time("updated_at", "When name or tags last changed."),
        _DELETED,
    ),
    rows=lambda workspace_id: Deck.objects.in_workspace(workspace_id).live(),
    unnested=DeckTag.objects.in_workspace,
    unnested_prefix="deck__",
    hints={
        "description": NO_DESCRIPTION,
        **dict.fromkeys(
            ("card_id", "card_count", "cards"),
            "A deck holds no cards: it is a saved tag filter. SELECT COUNT(*) FROM cards WHERE IN_DECK('name') counts.",
        ),
    },
    synonyms={"id": "deck_id", "title": "name", "deck_name": "name", "created": "created_at"},
)
REVIEW_EVENTS = PublishedTable(
    name="review_events",
    description="Every review that was given, also those of cards that were deleted since.",
    model=ReviewEvent,
    key="review_event_id",
    newest_by="reviewed_at_server",
    columns=(
        _id("review_event_id", "The event's id."),
        _id("card_id", "The card that was reviewed; it may be deleted since."),
        _id("replica_id", "The connection that sent the review; the user's id for web pages."),
        _text("client_event_id", "The reviewId that the client chose."),
        _whole("rating", "0 again, 1 hard, 2 good, 3 easy."),
        _time("reviewed_at_client", "When the client says the review was given."),
        _time("reviewed_at_server", "When the service took the review."),
        _text("reviewed_time_zone", "The learner's time zone, an IANA name."),
        _whole("scheduled_days", "The interval that the review gave, in days.", nullable=True),
        _text("state_before", "The card's state before the review.", nullable=True),
        _time("undone_at", "When the review was undone; null when it stands.", nullable=True),
    ),
    rows=ReviewEvent.objects.in_workspace,
    hints=dict.fromkeys(
        ("reviewed_at", "created_at"), "There are two times: reviewed_at_client and reviewed_at_server."
    ),
    synonyms={
        "id": "review_event_id",
        "event_id": "review_event_id",
        "grade": "rating",
        "review_id": "client_event_id",
    },
)
WORKSPACE = PublishedTable(
    name="workspace",
    description="The workspace itself with its scheduler settings: one row.",
    model=Workspace,
    key="workspace_id",
    newest_by="created_at",
    columns=(
        _id("workspace_id", "The workspace's id."),
        _text("name", "The workspace's name."),
        _time("created_at", "When the workspace was made."),
        _text("algorithm", "The scheduler: fsrs-6."),
        _real("desired_retention", "The probability of recall that reviews are scheduled for, 0.70 to 0.99."),
        PublishedColumn(
            "learning_steps_minutes",
            Kind.INTEGERS,
            "Steps of a new card, in minutes.",
            filterable=False,
            sortable=False,
        ),
        PublishedColumn(
            "relearning_steps_minutes",
            Kind.INTEGERS,
            "Steps of a forgotten card, in minutes.",
            filterable=False,
            sortable=False,
        ),
        _whole("maximum_interval_days", "The longest interval, in days."),
        PublishedColumn("enable_fuzz", Kind.BOOLEAN, "Whether long intervals are spread a little."),
    ),
    rows=lambda workspace_id: Workspace.objects.filter(workspace_id=workspace_id),
)
TABLES = (WORKSPACE, CARDS, DECKS, REVIEW_EVENTS)
TABLE_NAMES = tuple(table.name for table in TABLES)


def published_table(name: str) -> PublishedTable | None:
    """The table of that name."""
    return next((table for table in TABLES if table.name == name), None)
