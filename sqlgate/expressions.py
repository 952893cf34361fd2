"""Database expressions that give the same answer on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from django.core.exceptions import EmptyResultSet, FullResultSet
from django.db.models import BooleanField, Expression, F, Field, Func, IntegerField, TextField
from django.db.models.expressions import Combinable

from flashcards.folded_text import FoldText as FoldText  # noqa: PLC0414  the dialect takes its expressions from here
from sqlgate.patterns import Pattern

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.sql.compiler import SQLCompiler

Expr: TypeAlias = Expression | F | Combinable
Compiled: TypeAlias = tuple[str, Any]


class Never(Expression):
    """A condition that holds for no row; the database is not asked at all where that settles the query."""

    conditional = True
    output_field = BooleanField()

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> NoReturn:
        raise EmptyResultSet


class Always(Expression):
    """A condition that holds for every row."""

    conditional = True
    output_field = BooleanField()

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> NoReturn:
        raise FullResultSet


class MatchesPattern(Func):
    """Whether a text matches a LIKE pattern, minding case, with one code point for `_`."""

    arity = 1
    conditional = True
    output_field = BooleanField()

    def __init__(self, text: Expr, pattern: Pattern) -> None:
        super().__init__(text)
        self.pattern = pattern

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> Compiled:
        sql, params = compiler.compile(self.source_expressions[0])
        return f"{sql} GLOB %s", (*params, self.pattern.as_glob())

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> Compiled:
        sql, params = compiler.compile(self.source_expressions[0])
        return f"{sql} LIKE %s", (*params, self.pattern.as_like())


class _OfColumn(Func):
    """A value made of one column, by a template for each database."""

    arity = 1
    output_field: Field[Any, Any] = TextField()
    sqlite = ""
    postgresql = ""

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> Compiled:
        return self.as_sql(compiler, connection, template=self.sqlite)

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> Compiled:
        return self.as_sql(compiler, connection, template=self.postgresql)


class InstantText(_OfColumn):
    """A time as answers spell it: `2025-01-31T10:00:00.000Z`."""

    sqlite = (
        "(substr(%(expressions)s, 1, 10) || 'T' || substr(%(expressions)s, 12, 8) || '.' || "
        "coalesce(nullif(substr(%(expressions)s, 21, 3), ''), '000') || 'Z')"
    )
    postgresql = """to_char(%(expressions)s AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') COLLATE "C\""""


class DateText(_OfColumn):
    """The day of a time in UTC: `2025-01-31`."""

    sqlite = "substr(%(expressions)s, 1, 10)"
    postgresql = """(to_char(%(expressions)s AT TIME ZONE 'UTC', 'YYYY-MM-DD') COLLATE "C")"""


class UuidText(_OfColumn):
    """A UUID as answers spell it: lower case, with hyphens."""

    sqlite = (
        "(substr(%(expressions)s, 1, 8) || '-' || substr(%(expressions)s, 9, 4) || '-' || "
        "substr(%(expressions)s, 13, 4) || '-' || substr(%(expressions)s, 17, 4) || '-' || "
        "substr(%(expressions)s, 21))"
    )
    postgresql = '((%(expressions)s)::text COLLATE "C")'


class TagCount(_OfColumn):
    """How many tags an encoded list has: its terminators, counted."""

    output_field = IntegerField()
    sqlite = "(length(%(expressions)s) - length(replace(%(expressions)s, char(1), '')))"
    postgresql = "(length(%(expressions)s) - length(replace(%(expressions)s, chr(1), '')))"
