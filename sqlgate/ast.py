"""Statements of the dialect as typed, immutable values. Names are lower case; every node knows its place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import TypeAlias

from sqlgate.errors import Span


@dataclass(frozen=True, slots=True)
class Name:
    """A table, alias or output name; `written` is its own spelling."""

    text: str
    at: Span
    written: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column, the element of an UNNEST or, in HAVING and ORDER BY, an output name; `table` qualifies it.

    `written` is the spelling of the text, without double quotes.
    """

    name: str
    table: str | None
    at: Span
    written: str = ""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """COUNT, SUM, AVG, MIN or MAX (`function` in lower case); no column means `*`."""

    function: str
    column: Column | None
    distinct: bool
    at: Span


@dataclass(frozen=True, slots=True)
class DateOf:
    """DATE(column)."""

    column: Column
    at: Span


@dataclass(frozen=True, slots=True)
class Folded:
    """LOWER(column) or UPPER(column): both mean that case is ignored."""

    function: str
    column: Column
    at: Span


Term: TypeAlias = Column | Aggregate | DateOf | Folded


@dataclass(frozen=True, slots=True)
class Text:
    """A text literal, without its quotes."""

    value: str
    at: Span


@dataclass(frozen=True, slots=True)
class Number:
    """A number literal; whole ones are int."""

    value: int | Decimal
    at: Span


@dataclass(frozen=True, slots=True)
class Boolean:
    """TRUE or FALSE."""

    value: bool
    at: Span


@dataclass(frozen=True, slots=True)
class Now:
    """NOW() or CURRENT_TIMESTAMP, moved by an interval."""

    offset: timedelta
    at: Span


@dataclass(frozen=True, slots=True)
class Null:
    """NULL."""

    at: Span


Scalar: TypeAlias = Text | Number | Boolean | Now | Null


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """A list in any of its spellings."""

    items: tuple[Scalar, ...]
    at: Span


Operand: TypeAlias = Scalar | ListLiteral | Column


@dataclass(frozen=True, slots=True)
class ArrayEdit:
    """ARRAY_APPEND(column, 'tag') or ARRAY_REMOVE(column, 'tag')."""

    function: str
    column: Column
    tag: Scalar
    at: Span


@dataclass(frozen=True, slots=True)
class Comparison:
    """term operator operand, the operator one of = != < <= > >=."""

    term: Term
    operator: str
    operand: Operand
    at: Span


@dataclass(frozen=True, slots=True)
class Between:
    """term [NOT] BETWEEN low AND high."""

    term: Term
    low: Scalar
    high: Scalar
    negated: bool
    at: Span


@dataclass(frozen=True, slots=True)
class Membership:
    """term [NOT] IN (items)."""

    term: Term
    items: tuple[Scalar, ...]
    negated: bool
    at: Span


@dataclass(frozen=True, slots=True)
class NullTest:
    """term IS [NOT] NULL."""

    term: Term
    negated: bool
    at: Span


@dataclass(frozen=True, slots=True)
class Like:
    """term [NOT] LIKE pattern [ESCAPE escape]; `ignore_case` for ILIKE."""

    term: Term
    pattern: Operand
    escape: Text | None
    ignore_case: bool
    negated: bool
    at: Span


@dataclass(frozen=True, slots=True)
class ListTest:
    """term OVERLAP list (`overlap`) or term @> list (`contains`)."""

    term: Term
    operator: str
    operand: Operand
    at: Span


@dataclass(frozen=True, slots=True)
class AnyOf:
    """value = ANY(column)."""

    value: Scalar
    operator: str
    column: Column
    at: Span


@dataclass(frozen=True, slots=True)
class Match:
    """MATCH('text')."""

    text: Text
    at: Span


@dataclass(frozen=True, slots=True)
class InDeck:
    """IN_DECK('name or id')."""

    deck: Text
    at: Span


@dataclass(frozen=True, slots=True)
class Not:
    """NOT condition."""

    condition: Condition
    at: Span


@dataclass(frozen=True, slots=True)
class Chain:
    """Conditions joined by AND (`every`) or by OR."""

    every: bool
    conditions: tuple[Condition, ...]
    at: Span


Predicate: TypeAlias = Comparison | Between | Membership | NullTest | Like | ListTest | AnyOf | Match | InDeck
Condition: TypeAlias = Predicate | Not | Chain


@dataclass(frozen=True, slots=True)
class Item:
    """One output of SELECT or RETURNING."""

    term: Term
    alias: Name | None


@dataclass(frozen=True, slots=True)
class OrderBy:
    """One key of ORDER BY; `nulls_first` None means the default of the direction."""

    key: Column
    descending: bool
    nulls_first: bool | None


@dataclass(frozen=True, slots=True)
class Unnest:
    """UNNEST column AS element."""

    column: Column
    element: Name


@dataclass(frozen=True, slots=True)
class Select:
    """SELECT; no items means `*`, `order_by` None means none was written, `()` ORDER BY RANDOM()."""

    at: Span
    distinct: bool
    items: tuple[Item, ...]
    table: Name
    alias: Name | None
    unnest: Unnest | None
    where: Condition | None
    group_by: tuple[Column | DateOf, ...]
    having: Condition | None
    order_by: tuple[OrderBy, ...] | None
    limit: Number | None
    offset: Number | None


@dataclass(frozen=True, slots=True)
class ShowTables:
    """SHOW TABLES [LIKE pattern]."""

    at: Span
    pattern: Text | None


@dataclass(frozen=True, slots=True)
class Describe:
    """DESCRIBE table, or SHOW COLUMNS FROM table."""

    at: Span
    table: Name


@dataclass(frozen=True, slots=True)
class Returning:
    """RETURNING; no items means `*`."""

    items: tuple[Item, ...]
    at: Span


NewValue: TypeAlias = Operand | ArrayEdit


@dataclass(frozen=True, slots=True)
class Row:
    """One row of VALUES."""

    values: tuple[NewValue, ...]
    at: Span


@dataclass(frozen=True, slots=True)
class Insert:
    """INSERT INTO table (columns) VALUES rows."""

    at: Span
    table: Name
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    returning: Returning | None


@dataclass(frozen=True, slots=True)
class Assignment:
    """column = value in UPDATE."""

    column: Column
    value: NewValue


@dataclass(frozen=True, slots=True)
class Update:
    """UPDATE table SET assignments WHERE condition."""

    at: Span
    table: Name
    assignments: tuple[Assignment, ...]
    where: Condition
    returning: Returning | None


@dataclass(frozen=True, slots=True)
class Delete:
    """DELETE FROM table WHERE condition."""

    at: Span
    table: Name
    where: Condition
    returning: Returning | None


Read: TypeAlias = Select | ShowTables | Describe
Write: TypeAlias = Insert | Update | Delete
Statement: TypeAlias = Read | Write
