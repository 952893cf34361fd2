"""Values that INSERT and UPDATE write: checked against their column and tidied as every door tidies them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flashcards.content import (
    ContentRefused,
    clean_back_text,
    clean_card_type,
    clean_deck_name,
    clean_front_text,
    clean_tags,
)
from sqlgate import ast, values
from sqlgate.errors import Fault, Reason, shown
from sqlgate.place import FORMS
from sqlgate.schema import Kind, PublishedColumn, PublishedTable
from sqlgate.scope import find_column

CLEAN: dict[str, Callable[[object], Any]] = {
    "front_text": clean_front_text,
    "back_text": clean_back_text,
    "card_type": clean_card_type,
    "name": clean_deck_name,
    "tags": clean_tags,
    "suspended": bool,
}
EXAMPLES = {
    "cards": "INSERT INTO cards (front_text, back_text, tags) VALUES ('Question?', 'Answer', ('geo'))",
    "decks": "INSERT INTO decks (name, tags) VALUES ('Geography', ('geo'))",
}


def writable_columns(nodes: Sequence[ast.Column], table: PublishedTable, example: str) -> list[PublishedColumn]:
    """The columns to write; Fault for unknown, read-only and repeated ones, the last with `example`."""
    writable = tuple(column.name for column in table.columns if column.writable)
    found: list[PublishedColumn] = []
    for node in nodes:
        if node.table not in (None, table.name):
            raise Fault(Reason.UNKNOWN_TABLE, f"This statement writes {table.name}.", node.at, fix=node.written)
        column = find_column(table, node, writable)
        if not column.writable:
            message = f"{column.name} is read-only. Writable in {table.name}: {', '.join(writable)}."
            raise Fault(Reason.READ_ONLY_COLUMN, message, node.at, known=writable)
        if column in found:
            message = f"{column.name} stands twice. Each column is written once."
            raise Fault(Reason.SYNTAX_ERROR, message, node.at, example=example)
        found.append(column)
    return found


def clean_rows(statement: ast.Insert, table: PublishedTable) -> list[dict[str, Any]]:
    """The rows of an INSERT as field values; Fault for a missing column and for rows of another length."""
    columns = writable_columns(statement.columns, table, EXAMPLES[table.name])
    missing = [column.name for column in table.columns if column.required and column not in columns]
    if missing:
        empty = " It may be empty: ''." if missing == ["back_text"] else ""
        message = f"INSERT INTO {table.name} needs {' and '.join(missing)}.{empty}"
        raise Fault(Reason.MISSING_COLUMN, message, statement.table.at, example=EXAMPLES[table.name])
    return [_clean_row(row, columns, table, number) for number, row in enumerate(statement.rows, start=1)]


def _clean_row(row: ast.Row, columns: list[PublishedColumn], table: PublishedTable, number: int) -> dict[str, Any]:
    if len(row.values) != len(columns):
        message = f"Row {number} has {len(row.values)} values for {len(columns)} columns."
        raise Fault(Reason.SYNTAX_ERROR, message, row.at, example=EXAMPLES[table.name])
    cleaned = {}
    for column, value in zip(columns, row.values, strict=True):
        try:
            cleaned[column.name] = clean_value(column, value, table)
        except Fault as fault:
            if number > 1 and fault.reason is Reason.INVALID_VALUE:
                fault.message = f"Row {number}: {fault.message}"
            raise
    return cleaned


def clean_value(column: PublishedColumn, value: ast.NewValue, table: PublishedTable) -> Any:
    """A literal as the column stores it."""
    if isinstance(value, ast.Column):
        raise _name_as_value(column, value, table)
    try:
        return CLEAN[column.name](_typed(column, value))
    except ContentRefused as refused:
        raise Fault(Reason.INVALID_VALUE, f"{column.name} {refused.message}.", value.at) from None


def _name_as_value(column: PublishedColumn, value: ast.Column, table: PublishedTable) -> Fault:
    double_quoted = value.at.end - value.at.start > len(value.written)
    if table.column(value.name) and not double_quoted:
        message = f"{column.name} takes a value, not the column {value.name}. Read it first, then write what it holds."
        return Fault(Reason.UNSUPPORTED_EXPRESSION, message, value.at, example=FORMS["UPDATE"])
    message = f"{column.name} takes a value, not the name {shown(value.written)}. Text stands in single quotes."
    text = values.quoted(value.written)
    fix = {Kind.TAGS: f"({text})", Kind.BOOLEAN: "TRUE"}.get(column.kind, text)
    return Fault(Reason.UNSUPPORTED_EXPRESSION, message, value.at, fix=fix)


def _typed(column: PublishedColumn, value: ast.Scalar | ast.ListLiteral | ast.ArrayEdit) -> object:
    if isinstance(value, ast.ArrayEdit):
        message = f"{value.function.upper()} edits the tags that a row has; a new row takes a list."
        raise Fault(Reason.UNSUPPORTED_EXPRESSION, message, value.at, fix="('geo')")
    if isinstance(value, ast.Null):
        fix = {Kind.TAGS: "()", Kind.BOOLEAN: "FALSE"}.get(
            column.kind, "''" if column.name == "back_text" else "'text'"
        )
        fix = "'basic'" if column.name == "card_type" else fix
        raise Fault(Reason.INVALID_VALUE, f"{column.name} cannot be NULL.", value.at, fix=fix)
    if column.kind is Kind.TAGS:
        text = values.quoted(value.value) if isinstance(value, ast.Text) else "'geo'"
        return values.tags(column.name, value, f"({text})", value.at)
    return values.boolean(column.name, value) if column.kind is Kind.BOOLEAN else values.text(column.name, value)
