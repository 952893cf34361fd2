"""What names mean in one statement: columns of its table, the element of its UNNEST, and the names of its output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol
from uuid import UUID

from django.db.models import F

from sqlgate import ast
from sqlgate.errors import Fault, Reason, Span, shown
from sqlgate.expressions import Expr, FoldText, InstantText, UuidText
from sqlgate.schema import NOUNS, TABLE_NAMES, Kind, PublishedColumn, PublishedTable, Rows, published_table


@dataclass(frozen=True, slots=True)
class Term:
    """The left side of a condition: what it is called, what it holds, and the query path that leads to it.

    `folded` makes its text without case. `ignores_case` marks LOWER(…) and UPPER(…). `searched` tells that its text
    is part of the search index.
    """

    name: str
    kind: Kind
    path: str
    at: Span
    nullable: bool = True
    filterable: bool = True
    sortable: bool = True
    ignores_case: bool = False
    searched: bool = False
    folded_by: Callable[[], Expr] | None = None
    integer_max: int = 2**31 - 1

    def spelled(self, *, folded: bool) -> Expr:
        """Its text as answers spell it, for patterns; ASCII spellings fold by themselves."""
        if self.kind is Kind.TEXT:
            return (self.folded_by or (lambda: FoldText(F(self.path))))() if folded else F(self.path)
        text = {Kind.TIMESTAMP: InstantText, Kind.UUID: UuidText}[self.kind](F(self.path))
        return FoldText(text) if folded else text


class Scope(Protocol):
    """Where a condition stands: it says what terms mean and whose rows they are of."""

    table: PublishedTable
    workspace_id: UUID
    now: datetime
    looks_up_decks: bool

    def term(self, node: ast.Term) -> Term:
        """What `node` means here; Fault when it means nothing."""
        ...

    def tags_of(self) -> TagPaths:
        """How conditions on tags reach them."""
        ...


@dataclass(frozen=True, slots=True)
class TagPaths:
    """The query paths of the row's id and of its encoded tags."""

    key: str
    tags: str
    search_text: str


def find_table(name: ast.Name) -> PublishedTable:
    """The published table of that name."""
    table = published_table(name.text)
    if table is None:
        message = f"There is no table {shown(name.written)}."
        raise Fault(
            Reason.UNKNOWN_TABLE, message, name.at, known=TABLE_NAMES, wrong_name=name.text, example="SHOW TABLES"
        )
    return table


def find_column(
    table: PublishedTable, node: ast.Column, names: tuple[str, ...], also: tuple[str, ...] = ()
) -> PublishedColumn:
    """The published column that `node` names; a fault tells `names`, the valid ones, and knows those of `also` too."""
    column = table.column(node.name)
    if column is not None:
        return column
    hint = table.hints.get(node.name, "")
    fault = Fault(Reason.UNKNOWN_COLUMN, "", node.at, known=tuple(dict.fromkeys((*also, *names))))
    fault.wrong_name = "" if hint else table.synonyms.get(node.name, node.name)
    said = f"DESCRIBE {table.name} lists its columns." if fault.did_you_mean else f"It has {', '.join(names)}."
    fault.message = f"There is no column {shown(node.written)} in {table.name}. {hint or said}"
    raise fault


@dataclass
class RowScope:
    """The rows of one table, or of its UNNEST.

    With `looks_up_decks` off, a condition that names a deck is taken on trust, so that the rest can be checked without
    the database.
    """

    table: PublishedTable
    workspace_id: UUID
    now: datetime
    alias: str | None = None
    element: str | None = None
    looks_up_decks: bool = True

    @property
    def prefix(self) -> str:
        """What leads from the rows to the table's own columns."""
        return self.table.unnested_prefix if self.element else ""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that means something, in the order of `*`."""
        return (*self.table.column_names, *((self.element,) if self.element else ()))

    def rows(self) -> Rows:
        """The rows, of this workspace and of no other."""
        unnested = self.table.unnested
        return unnested(self.workspace_id) if self.element and unnested else self.table.rows(self.workspace_id)

    def term(self, node: ast.Term) -> Term:
        """A column, the element, or LOWER/UPPER of one."""
        match node:
            case ast.Column():
                return self.column(node)
            case ast.Folded():
                return folded_term(node, self.column(node.column))
            case ast.DateOf():
                raise _date_in_where(node)
            case _:
                message = f"{node.function.upper()} cannot stand in WHERE, which looks at single rows. Use HAVING."
                example = "SELECT card_type, COUNT(*) AS n FROM cards GROUP BY card_type HAVING COUNT(*) > 1"
                raise Fault(Reason.GROUPING, message, node.at, example=example)

    def column(self, node: ast.Column, *, also: tuple[str, ...] = ()) -> Term:
        """The column or the element that `node` names; a fault names those of `also` as valid too."""
        self._check_qualifier(node)
        if node.name == self.element:
            return self._element_term(node)
        column = find_column(self.table, node, self.names, also)
        return self._term_of(column, node)

    def _check_qualifier(self, node: ast.Column) -> None:
        if node.table is None or node.table in (self.table.name, self.alias):
            return
        message = f"This statement reads {self.table.name}, not {shown(node.table)}."
        raise Fault(Reason.UNKNOWN_TABLE, message, node.at, fix=node.written)

    def _element_term(self, node: ast.Column) -> Term:
        if node.table is not None:
            message = f"{shown(node.written)} is the element of UNNEST, not a column of {self.table.name}."
            raise Fault(Reason.UNKNOWN_COLUMN, message, node.at, fix=node.name)
        folded_by = self.table.unnested_folded
        folded = (lambda: folded_by("")) if folded_by else None
        return Term(node.name, Kind.TEXT, "tag", node.at, nullable=False, folded_by=folded)

    def _term_of(self, column: PublishedColumn, node: ast.Column) -> Term:
        prefix = self.prefix
        path = prefix + column.name
        if prefix and column.name == self.table.key:
            path = column.name
        return Term(
            column.name,
            column.kind,
            path,
            node.at,
            nullable=column.nullable,
            filterable=column.filterable,
            sortable=column.sortable,
            searched=column.searched and not prefix,
            folded_by=lambda: column.folded(prefix),
        )

    def tags_of(self) -> TagPaths:
        """The paths of the row's own tags."""
        key = self.table.key
        return TagPaths(key, f"{self.prefix}tags", f"{self.prefix}search_text")


def folded_term(node: ast.Folded, term: Term) -> Term:
    """LOWER or UPPER of a term of text."""
    function = node.function.upper()
    if not term.filterable:
        raise not_filterable(term)
    if term.kind not in (Kind.TEXT, Kind.TIMESTAMP, Kind.UUID):
        message = f"{function} takes text, and {term.name} is {NOUNS[term.kind]}."
        form = f"{term.name} OVERLAP ('geo')" if term.kind is Kind.TAGS else "LOWER(front_text) = 'oslo'"
        raise Fault(Reason.TYPE_MISMATCH, message, node.at, example=f"SELECT front_text FROM cards WHERE {form}")
    return replace(term, name=f"{function}({term.name})", at=node.at, ignores_case=True)


_DAY_EXAMPLE = "SELECT DATE(created_at) AS day, COUNT(*) AS n FROM cards GROUP BY day HAVING day > '2025-01-31'"


def not_filterable(term: Term) -> Fault:
    """The fault of a condition on a column that takes none."""
    message = f"{term.name} takes no filter. It can be selected."
    if term.name == "deleted_at":
        message = "deleted_at takes no filter but IS NULL, which is always true: deleted rows are not shown."
    return Fault(Reason.NOT_FILTERABLE, message, term.at, example=f"SELECT {term.name} FROM {_home(term.name)} LIMIT 5")


def _home(column: str) -> str:
    return next(name for name in TABLE_NAMES if (table := published_table(name)) and table.column(column))


def _date_in_where(node: ast.DateOf) -> Fault:
    name = node.column.name
    message = "DATE(…) cannot stand in WHERE. A day is a range of times."
    form = f"{name} >= '2025-01-31' AND {name} < '2025-02-01'"
    example = f"SELECT COUNT(*) FROM cards WHERE {form}" if name in ("created_at", "due_at", "updated_at") else None
    example = example or "SELECT COUNT(*) FROM cards WHERE due_at >= '2025-01-31' AND due_at < '2025-02-01'"
    return Fault(Reason.UNSUPPORTED_EXPRESSION, message, node.at, example=example)


@dataclass
class GroupScope:
    """Groups of rows: HAVING sees aggregates, group keys and names of the output."""

    rows_scope: RowScope
    outputs: Mapping[str, Term]
    keys: Mapping[str, Term]
    aggregate: Callable[[ast.Aggregate], Term]
    date: Callable[[ast.DateOf], Term | None]
    table: PublishedTable = field(init=False)
    workspace_id: UUID = field(init=False)
    now: datetime = field(init=False)
    looks_up_decks: bool = field(init=False)

    def __post_init__(self) -> None:
        self.looks_up_decks = self.rows_scope.looks_up_decks
        self.table = self.rows_scope.table
        self.workspace_id = self.rows_scope.workspace_id
        self.now = self.rows_scope.now

    def term(self, node: ast.Term) -> Term:
        """An aggregate, an output, or a group key."""
        match node:
            case ast.Aggregate():
                return self.aggregate(node)
            case ast.DateOf():
                found = self.date(node)
                if found is None:
                    message = "HAVING takes only a DATE(…) that GROUP BY has."
                    raise Fault(Reason.GROUPING, message, node.at, example=_DAY_EXAMPLE)
                return found
            case ast.Folded():
                return folded_term(node, self._named(node.column))
            case ast.Column():
                return self._named(node)

    def _named(self, node: ast.Column) -> Term:
        found = (self.outputs.get(node.name) if node.table is None else None) or self.keys.get(node.name)
        if found is not None:
            return at_place(found, node.at)
        known = tuple(dict.fromkeys([*self.outputs, *self.keys]))
        example = "SELECT card_type, COUNT(*) AS n FROM cards WHERE reps > 1 GROUP BY card_type HAVING n > 1"
        term = self.rows_scope.column(node) if node.name in self.rows_scope.names else None
        said = "stands neither in GROUP BY nor in an aggregate" if term else "is no output name and no group key"
        message = f"HAVING looks at groups, and {shown(node.written)} {said}. Conditions on rows go to WHERE."
        raise Fault(
            Reason.GROUPING, message, node.at, known=known, wrong_name="" if term else node.name, example=example
        )

    def tags_of(self) -> TagPaths:
        """Not reached: conditions on tags of rows are refused in HAVING."""
        return self.rows_scope.tags_of()


def at_place(term: Term, at: Span) -> Term:
    """The same term where it was named this time."""
    return replace(term, at=at)
