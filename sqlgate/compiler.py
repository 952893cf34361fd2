"""Statements that read, compiled to querysets: the rows of the workspace first, then everything else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlgate import ast
from sqlgate.errors import Fault, Reason, shown
from sqlgate.grouping import GroupedSelect
from sqlgate.listing import RowSelect
from sqlgate.place import FORMS
from sqlgate.predicates import compile_condition
from sqlgate.rows import Row
from sqlgate.schema import NOUNS, TABLES, Kind
from sqlgate.scope import RowScope, find_table
from sqlgate.texts import pattern_of

LIMIT_MAX = 100
OFFSET_MAX = 2**31 - 1
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
            return _select(statement, _scope(statement, workspace_id=workspace_id, now=now))


def check_read(statement: ast.Read, *, workspace_id: UUID, now: datetime) -> None:
    """Fault for what `run_read` would refuse whatever the rows; decks are not looked up."""
    match statement:
        case ast.ShowTables():
            _show_tables(statement)
        case ast.Describe():
            find_table(statement.table)
        case ast.Select():
            _page(statement)
            scope = _scope(statement, workspace_id=workspace_id, now=now)
            scope.looks_up_decks = False
            _compiled(statement, scope)


def _show_tables(statement: ast.ShowTables) -> ReadResult:
    pattern = pattern_of(statement.pattern).folded() if statement.pattern else None
    rows = [
        {"table_name": table.name, "writable": table.writable, "description": table.description}
        for table in TABLES
        if pattern is None or pattern.matches(table.name)
    ]
    return ReadResult("show_tables", None, rows, INTROSPECTION)


def _select(statement: ast.Select, scope: RowScope) -> ReadResult:
    limit, offset = _page(statement)
    found = _compiled(statement, scope).page(limit, offset)
    page = {
        "limit": limit,
        "offset": offset,
        "hasMore": len(found.records) > limit,
        "rowsTruncated": False,
        "totalRowCount": found.total,
    }
    return ReadResult("select", scope.table.name, found.records[:limit], page)


def _compiled(statement: ast.Select, scope: RowScope) -> GroupedSelect | RowSelect:
    where = compile_condition(statement.where, scope) if statement.where else None
    return (GroupedSelect if _is_grouped(statement) else RowSelect)(statement, scope, where)


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
        message = f"UNNEST takes a list of texts, and {term.name} is {NOUNS[term.kind]}."
        fix = "tags" if table.column("tags") else None
        raise Fault(Reason.TYPE_MISMATCH, message, term.at, fix=fix, example=FORMS["UNNEST"])
    element = statement.unnest.element
    if table.column(element.text) is not None:
        message = f"UNNEST … AS {shown(element.written)}: {table.name} has a column of that name already."
        raise Fault(Reason.SYNTAX_ERROR, message, element.at, fix="tag")
    scope.element = element.text
    return scope


def _is_grouped(statement: ast.Select) -> bool:
    aggregates = any(isinstance(item.term, ast.Aggregate) for item in statement.items)
    return aggregates or bool(statement.group_by) or statement.having is not None
