"""What compiled conditions are made of, whatever they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db.models import Q

from flashcards.folding import fold
from sqlgate import ast, values
from sqlgate.errors import Fault, Reason, Span, shown
from sqlgate.expressions import Always, Never
from sqlgate.schema import Kind
from sqlgate.scope import Term, not_filterable

PHRASE_LENGTH_MIN, PHRASE_LENGTH_MAX = 3, 60
PHRASES_MAX = 20
NEVER, ALWAYS = Q(Never()), Q(Always())
IN_EXAMPLE = "SELECT front_text FROM cards WHERE reps IN (1, 2, 3)"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A condition, and what follows from it for the search index.

    Each entry of `needs` is a set of folded phrases of which a row's searched text must contain at least one.
    `only_tags` are set when the condition asks for nothing but at least one of these tags.
    """

    condition: Q
    needs: tuple[frozenset[str], ...] = ()
    only_tags: tuple[str, ...] | None = None


def needs_of(term: Term, texts: list[str]) -> tuple[frozenset[str], ...]:
    """The need that one of `texts` stands in the row, as far as the search index can look for them."""
    phrases = frozenset(fold(text)[:PHRASE_LENGTH_MAX] for text in texts)
    if not term.searched or not phrases or len(phrases) > PHRASES_MAX:
        return ()
    return (phrases,) if all(len(phrase) >= PHRASE_LENGTH_MIN for phrase in phrases) else ()


def present(term: Term) -> Q:
    """That the term is not NULL."""
    return Q(**{f"{term.path}__isnull": False}) if term.nullable else ALWAYS


def filterable(term: Term) -> Term:
    """The term, or a fault when its column takes no conditions."""
    if not term.filterable:
        raise not_filterable(term)
    return term


def null_comparison(term: Term, operator: str, at: Span) -> Fault:
    """The fault of a comparison with NULL."""
    message = f"{term.name} {operator} NULL is never true."
    form = f"{term.name} IS {'NOT ' if operator == '!=' else ''}NULL"
    return Fault(Reason.NULL_COMPARISON, message, at, fix=form)


def column_on_the_right(term: Term, operand: ast.Column) -> Fault:
    """The fault of a name where a value should stand."""
    double_quoted = operand.at.end - operand.at.start > len(operand.written)
    if double_quoted:
        message = f'"{shown(operand.written)}" in double quotes is a name. Text goes in single quotes.'
        return Fault(Reason.TYPE_MISMATCH, message, operand.at, fix=values.quoted(operand.written))
    message = f"{term.name} can be compared with a value only, not with the name {shown(operand.written)}."
    form = values.quoted(operand.written) if term.kind is Kind.TEXT else None
    return Fault(Reason.UNSUPPORTED_EXPRESSION, message, operand.at, fix=form, example=IN_EXAMPLE)


@contextmanager
def whole_fix(term: Term, node: ast.Comparison) -> Iterator[None]:
    """A fault in the value shows the comparison as a whole as it should be."""
    try:
        yield
    except Fault as fault:
        if fault.fix is not None and fault.at == node.operand.at:
            fault.fix, fault.at = f"{term.name} {node.operator} {fault.fix}", node.at
        raise
