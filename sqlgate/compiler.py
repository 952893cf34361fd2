"""Statements that read, compiled to querysets: the rows of the workspace first, then everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, OrderBy

from sqlgate import ast
from sqlgate.errors import Fault, Reason, shown
from sqlgate.expressions import DateText
from sqlgate.grouping import GroupedSelect
from sqlgate.patterns import parse_like
from sqlgate.predicates import compile_condition
from sqlgate.rows import Row, Writer, as_rows, written
from sqlgate.schema import TABLES, Kind, Rows
from sqlgate.scope import RowScope, Term, find_table
from sqlgate.search import narrowed
from sqlgate.selection import Output, check_names, dated, no_such_output, order_keys, ordered, total_count

LIMIT_MAX = 100
OFFSET_MAX = 2**31 - 1
DEEP_OFFSET = 1_000
INTROSPECTION = {"limit": None, "offset": None, "hasMore": False, "rowsTruncated": False, "totalRowCount": None}


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What a read found. `page` holds limit, offset, hasMore, rowsTruncated and totalRowCount."""

    statement_type: str
    resource: str | None
    rows: list[Row]
    page: dict[str, Any]

    def as_data(self) -> dict[str, Any]:
        """The result as answers show it."""
        return {
            "statementType": self.statement_type,
            "resource": self.resource,
            "rows": self.rows,
            "rowCount": len(self.rows),
            **self.page,
        }


def run_read(statement: ast.Read, *, workspace_id: UUID, now: datetime) -> ReadResult:
    """The answer to one read; Fault before a row is read when it cannot be answered."""
    match statement:
        case ast.ShowTables():
            return _show_tables(statement)
        case ast.Describe():
            table = find_table(statement.table)
            rows = [column.described() for column in table.columns]
            return ReadResult("describe", table.name, rows, INTROSPECTION)
        case ast.Select():
            return _select(statement, workspace_id=workspace_id, now=now)


def _show_tables(statement: ast.ShowTables) -> ReadResult:
    pattern = parse_like(statement.pattern.value).folded() if statement.pattern else None
    rows = [
        {"table_name": table.name, "writable": table.writable, "description": table.description}
        for table in TABLES
        if pattern is None or pattern.matches(table.name)
    ]
    return ReadResult("show_tables", None, rows, INTROSPECTION)


def _select(statement: ast.Select, *, workspace_id: UUID, now: datetime) -> ReadResult:
    limit, offset = _page(statement)
    scope = _scope(statement, workspace_id=workspace_id, now=now)
    rows = scope.rows()
    if statement.where is not None:
        where = compile_condition(statement.where, scope)
        rows = narrowed(rows, where.needs).filter(where.condition)
    if _is_grouped(statement):
        found = GroupedSelect(statement, scope, rows).page(limit, offset)
    else:
        found = RowSelect(statement, scope, rows).page(limit, offset)
    shown_rows, total = found
    has_more = len(shown_rows) > limit
    page = {
        "limit": limit,
        "offset": offset,
        "hasMore": has_more,
        "rowsTruncated": False,
        "totalRowCount": total,
    }
    return ReadResult("select", scope.table.name, shown_rows[:limit], page)


def _page(statement: ast.Select) -> tuple[int, int]:
    limit = _bounded("LIMIT", statement.limit, least=1)
    offset = _bounded("OFFSET", statement.offset, least=0)
    if offset is not None and offset > OFFSET_MAX and statement.offset is not None:
        message = f"OFFSET is at most {OFFSET_MAX:,}."
        raise Fault(Reason.INVALID_LIMIT, message, statement.offset.at, fix=str(LIMIT_MAX))
    return min(limit or LIMIT_MAX, LIMIT_MAX), offset or 0


def _bounded(word: str, number: ast.Number | None, *, least: int) -> int | None:
    if number is None:
        return None
    if isinstance(number.value, int) and number.value >= least:
        return number.value
    message = f"{word} takes a whole number from {least} on, not {shown(str(number.value))}."
    raise Fault(Reason.INVALID_LIMIT, message, number.at, fix="20")


def _scope(statement: ast.Select, *, workspace_id: UUID, now: datetime) -> RowScope:
    table = find_table(statement.table)
    scope = RowScope(table, workspace_id, now, alias=statement.alias.text if statement.alias else None)
    if statement.unnest is None:
        return scope
    term = scope.column(statement.unnest.column)
    if term.kind is not Kind.TAGS:
        message = f"UNNEST takes a list, and {term.name} is {term.kind.value}."
        raise Fault(Reason.TYPE_MISMATCH, message, term.at, fix="tags")
    element = statement.unnest.element
    if table.column(element.text) is not None:
        message = f"UNNEST … AS {shown(element.written)}: {table.name} has a column of that name already."
        raise Fault(Reason.SYNTAX_ERROR, message, element.at, fix="tag")
    scope.element = element.text
    return scope


def _is_grouped(statement: ast.Select) -> bool:
    aggregates = any(isinstance(item.term, ast.Aggregate) for item in statement.items)
    return aggregates or bool(statement.group_by) or statement.having is not None


class RowSelect:
    """A SELECT whose rows are rows of the table, or of its UNNEST."""

    def __init__(self, statement: ast.Select, scope: RowScope, rows: Rows) -> None:
        self.scope = scope
        self.outputs = self._outputs(statement)
        self.distinct = statement.distinct and not self._shows_key()
        if self.distinct:
            self._check_distinct(statement)
        self.rows = rows.annotate(
            **{output.term.path: DateText(F(output.source)) for output in self.outputs if output.source}
        )
        self.order = self._order(statement)

    def _outputs(self, statement: ast.Select) -> list[Output]:
        if not statement.items:
            nodes = [ast.Column(name, None, statement.at, name) for name in self.scope.names]
            return [Output(node.name, self.scope.column(node), statement.at) for node in nodes]
        outputs = [self._output(item, index) for index, item in enumerate(statement.items)]
        check_names(outputs)
        return outputs

    def _output(self, item: ast.Item, index: int) -> Output:
        match item.term:
            case ast.Column() as node:
                return Output.of(item, node.name, self.scope.column(node))
            case ast.DateOf() as node:
                term, source = dated(node, self.scope, f"date_{index}")
                return Output.of(item, f"date_{node.column.name}", term, source=source)
            case _:
                raise no_such_output(item.term)

    def _shows_key(self) -> bool:
        key = self.scope.table.key
        return not self.scope.element and any(output.term.path == key for output in self.outputs)

    def _check_distinct(self, statement: ast.Select) -> None:
        for output in self.outputs:
            if output.term.kind in (Kind.JSON, Kind.INTEGERS):
                message = (
                    f"DISTINCT cannot compare {output.term.name}. Leave it out, or select {self.scope.table.key} too."
                )
                raise Fault(Reason.NOT_GROUPABLE, message, output.at, example="SELECT DISTINCT card_type FROM cards")
        if statement.order_by == ():
            message = "DISTINCT and ORDER BY RANDOM() do not go together."
            raise Fault(Reason.DISTINCT_ORDER, message, statement.at, example="SELECT DISTINCT card_type FROM cards")

    def _order(self, statement: ast.Select) -> Sequence[OrderBy | str]:
        if statement.order_by == ():
            return ["?"]
        names = {output.name: output.term for output in self.outputs}
        keys = order_keys(statement.order_by or (), lambda node: names.get(node.name) or self.scope.column(node))
        if self.distinct:
            paths = {output.term.path for output in self.outputs}
            self._check_selected(statement, names, paths)
            return [*keys, *(ordered(output.term) for output in self.outputs if output.term.name != "deleted_at")]
        return [*keys, *self._ties(newest_first=not keys)]

    def _check_selected(self, statement: ast.Select, names: dict[str, Term], paths: set[str]) -> None:
        for key in statement.order_by or ():
            term = names.get(key.key.name) or self.scope.column(key.key)
            if term.path not in paths:
                message = f"ORDER BY {shown(key.key.written)}: with DISTINCT, only what is selected can be ordered by."
                raise Fault(Reason.DISTINCT_ORDER, message, key.key.at, known=tuple(names))

    def _ties(self, *, newest_first: bool) -> list[OrderBy]:
        table = self.scope.table
        # On the rows of an UNNEST of cards the card's time stands in the row itself, where its index is.
        newest = "created_at" if self.scope.element and table.name == "cards" else self.scope.prefix + table.newest_by
        ties = [F(newest).desc()] if newest_first else []
        ties.append(F(table.key).asc())
        return [*ties, F("position").asc()] if self.scope.element else ties

    def page(self, limit: int, offset: int) -> tuple[list[Row], int | None]:
        """Up to limit + 1 rows, and how many there are in all when that had to be counted."""
        paths = [output.term.path for output in self.outputs]
        query = self.rows.order_by(*self.order).values_list(*dict.fromkeys(paths))
        if self.distinct:
            query = query.distinct()
        records = list(query[offset : offset + limit + 1])
        index = {path: position for position, path in enumerate(dict.fromkeys(paths))}
        shown_records = [[record[index[path]] for path in paths] for record in records]
        writers: list[Writer] = [written] * len(paths)
        total = total_count(query, len(records), limit, offset)
        return as_rows([output.name for output in self.outputs], writers, shown_records), total
