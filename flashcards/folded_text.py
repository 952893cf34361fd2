"""Text without case as the database computes it, for columns that keep no folded form."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from django.db.models import Func, TextField

from flashcards.folding import fold, folded_pairs

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.sql.compiler import SQLCompiler

Compiled = tuple[str, Any]


class FoldText(Func):
    """A text folded as `flashcards.folding.fold` does."""

    arity = 1
    output_field = TextField()

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> Compiled:
        connection.ensure_connection()
        connection.connection.create_function("flashcards_fold", 1, _fold_or_null, deterministic=True)
        return self.as_sql(compiler, connection, template="flashcards_fold(%(expressions)s)")

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> Compiled:
        # What is ASCII, nearly everything, needs no table: the "C" collation folds A to Z and nothing else.
        sql, params = compiler.compile(self.source_expressions[0])
        capitals, smalls = _fold_alphabets()
        return (
            f'CASE WHEN octet_length({sql}) = char_length({sql}) THEN lower({sql} COLLATE "C") '
            f"ELSE translate({sql}, %s, %s) END",
            (*params, *params, *params, *params, capitals, smalls),
        )


def _fold_or_null(text: str | None) -> str | None:
    return None if text is None else fold(text)


@cache
def _fold_alphabets() -> tuple[str, str]:
    pairs = folded_pairs()
    return "".join(capital for capital, _ in pairs), "".join(small for _, small in pairs)
