"""Conditions on the wording of a text: LIKE, LOWER and UPPER, MATCH."""

from __future__ import annotations

from django.db.models import F, Q
from django.db.models.lookups import Exact

from flashcards.content import is_blank
from flashcards.folding import fold
from flashcards.models import SEARCH_SEPARATOR
from sqlgate import ast, values
from sqlgate.conditions import (
    PHRASE_LENGTH_MAX,
    PHRASE_LENGTH_MIN,
    Compiled,
    column_on_the_right,
    filterable,
    needs_of,
    present,
)
from sqlgate.errors import Fault, Reason, Span
from sqlgate.expressions import FoldText, MatchesPattern
from sqlgate.patterns import PATTERN_LENGTH_MAX, Pattern, PatternTooLong, containing, parse_like
from sqlgate.schema import NOUNS, Kind
from sqlgate.scope import GroupScope, Scope, Term


def like(node: ast.Like, scope: Scope, *, negated: bool) -> Compiled:
    """The condition `term [NOT] LIKE pattern`, or ILIKE."""
    term = filterable(scope.term(node.term))
    word = "ILIKE" if node.ignore_case else "LIKE"
    if term.kind not in (Kind.TEXT, Kind.TIMESTAMP, Kind.UUID):
        form = f"{term.name} OVERLAP ('geo')" if term.kind is Kind.TAGS else f"{term.name} = {_sample(term)}"
        message = f"{word} looks into text, and {term.name} is {NOUNS[term.kind]}."
        raise Fault(Reason.TYPE_MISMATCH, message, node.at, fix=form)
    if isinstance(node.pattern, ast.Null):
        message = f"{word} NULL is never true."
        raise Fault(Reason.NULL_COMPARISON, message, node.at, fix=f"{term.name} IS NULL")
    if isinstance(node.pattern, ast.Column):
        raise column_on_the_right(term, node.pattern)
    if not isinstance(node.pattern, ast.Text):
        raise values.mismatch(f"The pattern of {word}", Kind.TEXT, node.pattern, "'%text%'")
    escape = _escape(node.escape)
    pattern = pattern_of(node.pattern, escape)
    ignore_case = node.ignore_case or term.ignores_case
    return like_text(term, pattern, ignore_case=ignore_case, negated=node.negated != negated)


def pattern_of(literal: ast.Text, escape: str | None = None) -> Pattern:
    """The pattern of a LIKE; Fault for one with wildcards that is too long."""
    try:
        return parse_like(literal.value, escape)
    except PatternTooLong:
        message = f"A pattern has at most {PATTERN_LENGTH_MAX:,} characters; this one is longer."
        raise Fault(Reason.TOO_COMPLEX, message, literal.at, fix="'%text%'") from None


def _sample(term: Term) -> str:
    return {Kind.BOOLEAN: "TRUE", Kind.NUMBER: "2.5"}.get(term.kind, "2")


def _escape(literal: ast.Text | None) -> str | None:
    if literal is None or len(literal.value) == 1:
        return literal.value if literal else None
    message = f"ESCAPE takes exactly one character, not {len(literal.value)}."
    raise Fault(Reason.SYNTAX_ERROR, message, literal.at, fix="'!'")


def like_text(term: Term, pattern: Pattern, *, ignore_case: bool, negated: bool) -> Compiled:
    """That the text of a term matches a pattern."""
    if ignore_case:
        pattern = pattern.folded()
    spelled, literal = term.spelled(folded=ignore_case), pattern.literal
    if literal is None:
        condition = Q(MatchesPattern(spelled, pattern))
    elif term.kind is Kind.TEXT and not ignore_case:
        condition = Q(**{term.path: literal})
    else:
        condition = Q(Exact(spelled, literal))
    if negated:
        return Compiled(~condition & present(term))
    phrases = sorted(map(fold, pattern.texts), key=len, reverse=True)[:3]
    needs = tuple(need for phrase in phrases for need in needs_of(term, [phrase])) if term.searched else ()
    return Compiled(condition, needs)


def match(node: ast.Match, scope: Scope) -> Compiled:
    """MATCH: a phrase somewhere in the texts or tags, ignoring case."""
    if scope.table.unnested is None or isinstance(scope, GroupScope):
        message = f"MATCH searches the text of cards and decks; {place_name(scope)} has none."
        raise Fault(
            Reason.UNSUPPORTED_FUNCTION, message, node.at, example="SELECT front_text FROM cards WHERE MATCH('oslo')"
        )
    phrase = fold(node.text.value.strip())
    if is_blank(phrase):
        raise Fault(Reason.INVALID_VALUE, "MATCH of an empty text would find everything.", node.text.at, fix="'oslo'")
    paths = scope.tags_of()
    if SEARCH_SEPARATOR in phrase:
        return Compiled(_match_by_part(scope, phrase))
    condition = Q(MatchesPattern(F(paths.search_text), containing(phrase)))
    searched = scope.table.name == "cards" and paths.search_text == "search_text" and len(phrase) >= PHRASE_LENGTH_MIN
    return Compiled(condition, (frozenset({phrase[:PHRASE_LENGTH_MAX]}),) if searched else ())


def _match_by_part(scope: Scope, phrase: str) -> Q:
    """MATCH for a phrase with the separator of the search text in it: each text and each tag by itself."""
    pattern = containing(phrase)
    names = ("front_text", "back_text") if scope.table.name == "cards" else ("name",)
    terms = [scope.term(ast.Column(name, None, Span(0, 0), name)) for name in names]
    conditions = [Q(MatchesPattern(term.spelled(folded=True), pattern)) for term in terms]
    unnested, key = scope.table.unnested, scope.tags_of().key
    if unnested is not None:
        tagged = unnested(scope.workspace_id).filter(Q(MatchesPattern(FoldText(F("tag")), pattern)))
        conditions.append(Q(**{f"{key}__in": tagged.values(key)}))
    return Q(*conditions, _connector=Q.OR)


def place_name(scope: Scope) -> str:
    """What a message calls the place of a condition."""
    return "HAVING" if isinstance(scope, GroupScope) else scope.table.name
