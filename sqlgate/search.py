"""The search index over the texts of cards: it finds rows that may match. The exact condition is always asked too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import BooleanField, F, Func, Q

from sqlgate.expressions import Compiled
from sqlgate.patterns import containing
from sqlgate.schema import Rows

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.sql.compiler import SQLCompiler

NEEDS_MAX = 3
TRIGRAMS_MAX = 12


def matching(rows: Rows, condition: Q, needs: tuple[frozenset[str], ...]) -> Rows:
    """Those of `rows` that meet the condition; first come the phrases that it needs, which the index finds."""
    strongest = sorted(dict.fromkeys(needs), key=lambda need: (len(need), -min(map(len, need))))[:NEEDS_MAX]
    return rows.filter(*(Q(HoldsPhrase(need)) for need in strongest), condition)


class HoldsPhrase(Func):
    """Whether a card's searched text holds at least one of some folded phrases of three code points or more."""

    conditional = True

    def __init__(self, phrases: frozenset[str]) -> None:
        super().__init__(F("card_id"), F("search_text"), output_field=BooleanField())
        self.phrases = sorted(phrases)

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> Compiled:
        sql, params = compiler.compile(self.source_expressions[0])
        hits = (
            "SELECT found.card_id FROM flashcards_cardsearch AS hit "
            "JOIN flashcards_cardsearchkey AS found ON found.search_id = hit.rowid "
            "WHERE hit.flashcards_cardsearch MATCH %s"
        )
        return f"{sql} IN ({hits})", (*params, " OR ".join(map(trigrams_of, self.phrases)))

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> Compiled:
        sql, params = compiler.compile(self.source_expressions[1])
        patterns = [containing(phrase).as_like() for phrase in self.phrases]
        alike = " OR ".join([f"{sql} LIKE %s"] * len(patterns))
        return f"({alike})", (*(params * len(patterns)), *patterns)


def trigrams_of(phrase: str) -> str:
    """The FTS5 expression for texts that hold all trigrams of a phrase, or a fair sample of those of a long one."""
    every = [phrase[start : start + 3] for start in range(len(phrase) - 2)]
    sample = dict.fromkeys(every[:: -(-len(every) // TRIGRAMS_MAX)])
    return "(" + " AND ".join('"' + trigram.replace('"', '""') + '"' for trigram in sample) + ")"
