"""Statements that write. Each touches at most ROWS_MAX rows of one workspace, or refuses to touch any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Model, TextField, Value
from django.db.models.functions import Concat, Length, Substr

from flashcards.content import ContentRefused, clean_tags
from flashcards.folding import fold
from flashcards.models import SEARCH_SEPARATOR, Card, CardTag, Deck, new_metadata
from sqlgate import ast
from sqlgate.errors import Fault, Reason, Span
from sqlgate.place import FORMS
from sqlgate.predicates import compile_condition
from sqlgate.rows import Row, as_rows, written
from sqlgate.schema import PublishedTable, Rows
from sqlgate.scope import RowScope, find_table
from sqlgate.search import matching
from sqlgate.selection import Output, check_names
from sqlgate.stored import clean_rows, clean_value, writable_columns

ROWS_MAX = 100
Find = Callable[[], list[Any]]


@dataclass
class WriteResult:
    """What a write did. `ids` are those of `rows`, in the same order; `rows` may shrink to them."""

    statement_type: str
    table: PublishedTable
    affected: int
    rows: list[Row]
    ids: list[str]
    omitted: bool = False

    def as_data(self) -> dict[str, Any]:
        """The result as answers show it."""
        return {
            "statementType": self.statement_type,
            "resource": self.table.name,
            "affectedCount": self.affected,
            "rows": self.rows,
            "rowsOmitted": self.omitted,
        }

    def shrink_to_ids(self) -> None:
        """Show of each row its id alone."""
        shrunk: list[Row] = [{self.table.key: row_id} for row_id in self.ids]
        self.omitted = self.omitted or shrunk != self.rows
        self.rows = shrunk

    def drop_rows(self) -> None:
        """Show no rows."""
        self.omitted = self.omitted or bool(self.rows)
        self.rows = []


@dataclass
class Writing:
    """The writes of one call: in which workspace, at which time, and how many rows they made so far.

    A write is prepared first, which refuses what can never be done, and done later, inside of a transaction.
    """

    workspace_id: UUID
    now: datetime
    made: int = field(default=0)

    def next_instant(self) -> datetime:
        """The creation time of the next new row: one microsecond after the one before."""
        self.made += 1
        return self.now + timedelta(microseconds=self.made - 1)

    def prepared(self, statement: ast.Write) -> Callable[[], WriteResult]:
        """What does the statement when it is called; Fault for what can never be done, without asking the database."""
        table = _writable_table(statement)
        outputs = _returned(statement.returning, RowScope(table, self.workspace_id, self.now))
        match statement:
            case ast.Insert():
                _check_row_count(len(statement.rows), statement.rows[-1].at)
                return partial(self._insert, clean_rows(statement, table), table, outputs)
            case ast.Update():
                change = _changed(statement, table)
                find = self._finding(statement.where, table)
                return partial(self._update, change, find, table, outputs, reload=statement.returning is not None)
            case ast.Delete():
                find = self._finding(statement.where, table)
                return partial(self._delete, find, table, outputs, show=statement.returning is not None)

    def _insert(self, values: list[dict[str, Any]], table: PublishedTable, outputs: list[Output]) -> WriteResult:
        instants = [self.next_instant() for _ in values]
        if table.name == "cards":
            made: list[Any] = [
                Card(workspace_id=self.workspace_id, metadata=new_metadata(at), created_at=at, updated_at=at, **row)
                for at, row in zip(instants, values, strict=True)
            ]
            Card.objects.insert(made)
        else:
            made = [
                Deck(workspace_id=self.workspace_id, created_at=at, updated_at=at, **row)
                for at, row in zip(instants, values, strict=True)
            ]
            for deck in made:
                deck.refresh_search_text()
            Deck.objects.bulk_create(made)
        return _result("insert", table, made, outputs)

    def _update(
        self, change: Change, find: Find, table: PublishedTable, outputs: list[Output], *, reload: bool
    ) -> WriteResult:
        rows = find()
        for tags, alike in _by_tags(rows, change.edit):
            self._change(table, alike, change.values | ({"tags": tags} if tags is not None else {}))
        return _result("update", table, _reloaded(table, rows, self.workspace_id) if reload else rows, outputs)

    def _change(self, table: PublishedTable, rows: Sequence[Any], changes: dict[str, Any]) -> None:
        stored = table.rows(self.workspace_id).filter(pk__in=[row.pk for row in rows])
        stored.update(**changes, updated_at=self.now, **_search_text(table, changes))
        if table.name == "cards" and "tags" in changes:
            for row in rows:
                row.tags = changes["tags"]
            CardTag.objects.sync(rows)

    def _delete(self, find: Find, table: PublishedTable, outputs: list[Output], *, show: bool) -> WriteResult:
        rows = find()
        result = _result("delete", table, rows if show else [], outputs)
        result.affected = len(rows)
        if table.name == "cards":
            Card.objects.in_workspace(self.workspace_id).move_to_trash(rows, now=self.now)
        else:
            stored = table.rows(self.workspace_id).filter(pk__in=[row.pk for row in rows])
            stored.update(deleted_at=self.now, updated_at=self.now)
        return result

    def _finding(self, where: ast.Condition, table: PublishedTable) -> Find:
        """What finds the rows of a checked condition; its decks are looked up then, among those that are there then."""
        compile_condition(where, RowScope(table, self.workspace_id, self.now, looks_up_decks=False))
        return partial(self._matching, where, table)

    def _matching(self, where: ast.Condition, table: PublishedTable) -> list[Any]:
        """The rows that the statement is about, locked, newest first."""
        scope = RowScope(table, self.workspace_id, self.now)
        compiled = compile_condition(where, scope)
        found: Rows = matching(scope.rows(), compiled.condition, compiled.needs).order_by(table.key)
        if connection.features.has_select_for_update_of:
            found = found.select_for_update(of=("self",))
        rows = list(found[: ROWS_MAX + 1])
        _check_row_count(len(rows), where.at)
        return sorted(rows, key=lambda row: row.created_at, reverse=True)


@dataclass(frozen=True, slots=True)
class Change:
    """What an UPDATE sets: field values for all rows, and an edit of the tags that each row has."""

    values: dict[str, Any]
    edit: ast.ArrayEdit | None


def _changed(statement: ast.Update, table: PublishedTable) -> Change:
    columns = writable_columns([assignment.column for assignment in statement.assignments], table, FORMS["UPDATE"])
    values: dict[str, Any] = {}
    edit: ast.ArrayEdit | None = None
    for column, assignment in zip(columns, statement.assignments, strict=True):
        if isinstance(assignment.value, ast.ArrayEdit):
            edit = _checked_edit(assignment, table)
        else:
            values[column.name] = clean_value(column, assignment.value, table)
    return Change(values, edit)


def _writable_table(statement: ast.Write) -> PublishedTable:
    table = find_table(statement.table)
    if not table.writable:
        message = f"{table.name} is read-only. SQL writes cards and decks; reviews are given by submit_review."
        raise Fault(Reason.READ_ONLY_TABLE, message, statement.table.at, known=("cards", "decks"))
    return table


def _check_row_count(count: int, at: Span) -> None:
    if count > ROWS_MAX:
        message = f"A statement writes at most {ROWS_MAX} rows; this one would touch more. Nothing was changed."
        raise Fault(Reason.ROW_LIMIT, f"{message} Narrow the WHERE, or split the rows over several statements.", at)


def _returned(returning: ast.Returning | None, scope: RowScope) -> list[Output]:
    """What RETURNING shows; without one, the id."""
    if returning is None:
        return [Output(scope.table.key, scope.column(ast.Column(scope.table.key, None, Span(0, 0))), Span(0, 0))]
    if not returning.items:
        nodes = [ast.Column(name, None, returning.at, name) for name in scope.names]
        return [Output(node.name, scope.column(node), returning.at) for node in nodes]
    outputs = []
    for item in returning.items:
        if not isinstance(item.term, ast.Column):
            raise Fault(Reason.UNSUPPORTED_EXPRESSION, "RETURNING takes columns.", item.term.at)
        outputs.append(Output.of(item, item.term.name, scope.column(item.term)))
    check_names(outputs)
    return outputs


def _result(kind: str, table: PublishedTable, rows: Sequence[Model], outputs: list[Output]) -> WriteResult:
    records = [[getattr(row, output.term.path) for output in outputs] for row in rows]
    shown = as_rows([output.name for output in outputs], [written] * len(outputs), records)
    return WriteResult(kind, table, len(rows), shown, [str(row.pk) for row in rows])


def _reloaded(table: PublishedTable, rows: Sequence[Model], workspace_id: UUID) -> list[Model]:
    by_id = table.rows(workspace_id).in_bulk([row.pk for row in rows])
    return [by_id[row.pk] for row in rows]


def _checked_edit(assignment: ast.Assignment, table: PublishedTable) -> ast.ArrayEdit:
    edit = assignment.value
    assert isinstance(edit, ast.ArrayEdit)  # noqa: S101  the caller looked
    function = edit.function.upper()
    if assignment.column.name != "tags" or edit.column.name != "tags":
        message = f"{function} adds to or takes from the tags that a row has."
        raise Fault(
            Reason.TYPE_MISMATCH,
            message,
            edit.at,
            example=f"UPDATE {table.name} SET tags = {function}(tags, 'exam') WHERE tags OVERLAP ('geo')",
        )
    if not isinstance(edit.tag, ast.Text):
        raise Fault(Reason.TYPE_MISMATCH, f"{function} takes one text.", edit.tag.at, fix="'exam'")
    _edited([], edit)
    return edit


def _by_tags(rows: Sequence[Any], edit: ast.ArrayEdit | None) -> list[tuple[list[str] | None, list[Any]]]:
    """The rows by the tags that they are to have; None when the statement gives all the same, or leaves them."""
    if edit is None:
        return [(None, list(rows))] if rows else []
    groups: dict[tuple[str, ...], list[Any]] = {}
    for row in rows:
        groups.setdefault(tuple(_edited(row.tags, edit)), []).append(row)
    return [(list(tags), alike) for tags, alike in groups.items()]


def _edited(tags: list[str], edit: ast.ArrayEdit) -> list[str]:
    assert isinstance(edit.tag, ast.Text)  # noqa: S101  `_checked_edit` looked
    if edit.function == "array_remove":
        return [tag for tag in tags if tag != edit.tag.value]
    try:
        return clean_tags([*tags, edit.tag.value])
    except ContentRefused as refused:
        raise Fault(Reason.INVALID_VALUE, f"tags {refused.message}.", edit.tag.at) from None


def _search_text(table: PublishedTable, changes: dict[str, Any]) -> dict[str, Any]:
    """The new search text made in the database from the old one and what changes; nothing when nothing of it does."""
    names = ("front_text", "back_text") if table.name == "cards" else ("name",)
    if not {*names, "tags"} & changes.keys():
        return {}
    parts: list[Any] = []
    start: Any = Value(1)
    for name in names:
        parts += [Value(SEARCH_SEPARATOR)] if parts else []
        parts.append(_value(fold(changes[name])) if name in changes else Substr("search_text", start, Length(name)))
        start = start + Length(name) + 1
    if "tags" in changes:
        parts.append(_value("".join(SEARCH_SEPARATOR + fold(tag) for tag in changes["tags"])))
    else:
        parts.append(Substr("search_text", start - 1))
    return {"search_text": Concat(*parts, output_field=TextField()) if len(parts) > 1 else parts[0]}


def _value(text: str) -> Value:
    return Value(text, output_field=TextField())
