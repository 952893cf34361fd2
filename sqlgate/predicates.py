"""Conditions of the dialect as conditions of the database.

NOT is pushed down to the single predicates, which is sound in three-valued logic. What is left above them is AND and
OR, for which "false" and "unknown" are the same in the end; so a predicate need only hold for exactly the right rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db.models import BooleanField, ExpressionWrapper, F, Q
from django.db.models.lookups import Exact, In

from flashcards.content import TAGS_MAX, is_blank
from flashcards.envelope import instant as instant_text
from flashcards.folding import fold
from flashcards.models import SEARCH_SEPARATOR as SEPARATOR
from sqlgate import ast, values
from sqlgate.decks import cards_of, find_deck
from sqlgate.errors import Fault, Reason, Span, shown
from sqlgate.expressions import Always, FoldText, MatchesPattern, Never, TagCount
from sqlgate.patterns import Pattern, containing, parse_like
from sqlgate.schema import NOUNS, Kind
from sqlgate.scope import GroupScope, Scope, Term, not_filterable

CHAIN_MAX = 500
GROUP_SIZE = 100
DEPTH_MAX = 900
PATTERN_LENGTH_MAX = 10_000
RANGES_MAX = 20
PHRASE_LENGTH_MIN = 3
PHRASES_MAX = 20
NEGATION = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
LOOKUPS = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}

VALUES = (ast.Text, ast.Number, ast.Boolean, ast.Now)
NEVER, ALWAYS = Q(Never()), Q(Always())


@dataclass(frozen=True, slots=True)
class Compiled:
    """A condition, and what follows from it for the search index.

    Each entry of `needs` is a set of folded phrases of which a row's searched text must contain at least one.
    `only_tags` are set when the condition asks for nothing but at least one of these tags.
    """

    condition: Q
    needs: tuple[frozenset[str], ...] = ()
    only_tags: tuple[str, ...] | None = None


def compile_condition(node: ast.Condition, scope: Scope) -> Compiled:
    """The condition for rows or groups of `scope`; Fault for unknown names, wrong types and excessive size."""
    if _depth(node) > DEPTH_MAX:
        message = "The condition is too large. Use IN for many values, or send several statements."
        raise Fault(Reason.TOO_COMPLEX, message, node.at, example=_IN_EXAMPLE)
    return _compile(node, scope, negated=False)


_IN_EXAMPLE = "SELECT front_text FROM cards WHERE reps IN (1, 2, 3)"


def _depth(node: ast.Condition) -> int:
    if isinstance(node, ast.Not):
        return _depth(node.condition)
    if isinstance(node, ast.Chain):
        length = len(_merged(node))
        return 2 * min(length, GROUP_SIZE) + length // GROUP_SIZE + max(map(_depth, node.conditions))
    return 4


def _compile(node: ast.Condition, scope: Scope, *, negated: bool) -> Compiled:
    match node:
        case ast.Not():
            compiled = _compile(node.condition, scope, negated=not negated)
        case ast.Chain():
            compiled = _chain(node, scope, negated=negated)
        case ast.Comparison():
            compiled = _comparison(node, scope, negated=negated)
        case ast.Between() | ast.Membership():
            compiled = _of_values(node, scope, negated=negated)
        case ast.NullTest():
            compiled = Compiled(_null_test(node, scope, negated=negated))
        case ast.Like():
            compiled = _like(node, scope, negated=negated)
        case _:
            compiled = _of_tags_or_text(node, scope)
            compiled = Compiled(~compiled.condition) if negated else compiled
    return compiled


def _of_values(node: ast.Between | ast.Membership, scope: Scope, *, negated: bool) -> Compiled:
    if isinstance(node, ast.Between):
        return _between(node, scope, negated=negated)
    return _membership(node, scope, negated=negated)


def _of_tags_or_text(node: ast.ListTest | ast.AnyOf | ast.Match | ast.InDeck, scope: Scope) -> Compiled:
    match node:
        case ast.ListTest():
            return _list_test(node, scope)
        case ast.AnyOf():
            return _with_any(scope, [_any_of(node, scope)])
        case ast.Match():
            return _match(node, scope)
        case ast.InDeck():
            return Compiled(_in_deck(node, scope))


# Chains


def _chain(node: ast.Chain, scope: Scope, *, negated: bool) -> Compiled:
    conditions = _merged(node)
    if len(conditions) > CHAIN_MAX:
        word = "AND" if node.every else "OR"
        message = f"A chain of {len(conditions):,} conditions joined by {word} is too long; at most {CHAIN_MAX}."
        raise Fault(Reason.TOO_COMPLEX, message, node.at, example=_IN_EXAMPLE)
    parts = [_compile(condition, scope, negated=negated) for condition in conditions]
    every = node.every != negated
    condition = _connected([part.condition for part in parts], Q.AND if every else Q.OR)
    needs = tuple(need for part in parts for need in part.needs) if every else _any_need(parts)
    return Compiled(condition, needs)


def _connected(conditions: list[Q], connector: str) -> Q:
    """The conditions joined; many of them in groups, because SQLite counts a chain's length as depth."""
    while len(conditions) > GROUP_SIZE:
        groups = [conditions[start : start + GROUP_SIZE] for start in range(0, len(conditions), GROUP_SIZE)]
        # As an expression a group stays one; as a plain Q, Django would dissolve it into the chain.
        joined = (Q(*group, _connector=connector) for group in groups)
        conditions = [Q(ExpressionWrapper(group, output_field=BooleanField())) for group in joined]
    return Q(*conditions, _connector=connector)


def _any_need(parts: list[Compiled]) -> tuple[frozenset[str], ...]:
    """What follows when one of the parts holds: one phrase out of a need of each."""
    if not all(part.needs for part in parts):
        return ()
    union = frozenset().union(*(min(part.needs, key=_weakness) for part in parts))
    return (union,) if len(union) <= PHRASES_MAX else ()


def _weakness(need: frozenset[str]) -> tuple[int, int]:
    return len(need), -min(map(len, need))


def _merged(chain: ast.Chain) -> tuple[ast.Condition, ...]:
    """The conditions of a chain; in a chain of ORs, equalities of one column become one IN."""
    if chain.every:
        return chain.conditions
    merged: dict[Hashable, list[ast.Condition]] = {}
    for position, condition in enumerate(chain.conditions):
        key, _ = _equality(condition)
        merged.setdefault(position if key is None else key, []).append(condition)
    return tuple(alike[0] if len(alike) == 1 else _one_membership(alike) for alike in merged.values())


def _one_membership(alike: list[ast.Condition]) -> ast.Membership:
    first = alike[0]
    assert isinstance(first, ast.Comparison | ast.Membership)  # noqa: S101  what `_equality` knows
    items = tuple(item for condition in alike for item in _equality(condition)[1])
    return ast.Membership(first.term, items, negated=False, at=first.at.to(alike[-1].at))


def _equality(condition: ast.Condition) -> tuple[Hashable, tuple[ast.Scalar, ...]]:
    """The column whose equality `condition` asks for, and the values; None for any other condition."""
    if isinstance(condition, ast.Membership) and not condition.negated:
        term, items = condition.term, condition.items
    elif isinstance(condition, ast.Comparison) and condition.operator == "=" and isinstance(condition.operand, VALUES):
        term, items = condition.term, (condition.operand,)
    else:
        return None, ()
    if isinstance(term, ast.Column):
        return (ast.Column, term.table, term.name), items
    if isinstance(term, ast.Folded):
        return (ast.Folded, term.column.table, term.column.name), items
    return None, ()


# Comparisons


def _comparison(node: ast.Comparison, scope: Scope, *, negated: bool) -> Compiled:
    term = _filterable(scope.term(node.term))
    operator = NEGATION[node.operator] if negated else node.operator
    if isinstance(node.operand, ast.Null):
        raise _null_comparison(term, node.operator, node.at)
    if isinstance(node.operand, ast.Column):
        with _whole_fix(term, node):
            raise _column_on_the_right(term, node.operand)
    if term.kind is Kind.TAGS:
        return Compiled(_tags_equality(node, scope, negated=negated))
    if term.ignores_case:
        if node.operator != "=":
            raise _only_equality(term, node)
        with _whole_fix(term, node):
            text = values.text(term.name, node.operand)
        return _like_text(term, Pattern(((text, ""),)), ignore_case=True, negated=negated)
    needs: tuple[frozenset[str], ...] = ()
    if operator == "=" and term.searched and isinstance(node.operand, ast.Text):
        needs = _needs(term, [node.operand.value])
    with _whole_fix(term, node):
        return Compiled(compare(term, operator, node.operand, scope), needs)


@contextmanager
def _whole_fix(term: Term, node: ast.Comparison) -> Iterator[None]:
    """A fault in the value shows the comparison as a whole as it should be."""
    try:
        yield
    except Fault as fault:
        if fault.fix is not None and fault.at == node.operand.at:
            fault.fix, fault.at = f"{term.name} {node.operator} {fault.fix}", node.at
        raise


def compare(term: Term, operator: str, operand: ast.Operand, scope: Scope) -> Q:
    """`term operator operand` for every kind of column but lists."""
    match term.kind:
        case Kind.TEXT:
            return _ordered(term, operator, values.text(term.name, operand))
        case Kind.INTEGER:
            return _whole(term, operator, operand)
        case Kind.NUMBER:
            return _ordered(term, operator, float(values.number(term.name, term.kind, operand)))
        case Kind.BOOLEAN:
            return _ordered(term, operator, values.boolean(term.name, operand))
        case Kind.TIMESTAMP:
            return _timed(term, operator, values.instant(term.name, operand, now=scope.now))
        case _:
            return _identified(term, operator, operand)


def _ordered(term: Term, operator: str, value: object) -> Q:
    if operator == "=":
        return Q(**{term.path: value})
    if operator == "!=":
        return ~Q(**{term.path: value}) & _present(term)
    return Q(**{f"{term.path}__{LOOKUPS[operator]}": value})


def _present(term: Term) -> Q:
    return Q(**{f"{term.path}__isnull": False}) if term.nullable else ALWAYS


def _whole(term: Term, operator: str, operand: ast.Operand) -> Q:
    asked = values.whole_range(operator, values.number(term.name, term.kind, operand), term.integer_max)
    if asked.never:
        return NEVER
    # Django drops a comparison that every value of the column's size fulfils; NULL does not fulfil it.
    return _present(term) if asked.always else _ordered(term, asked.operator, asked.bound) & _present(term)


def _timed(term: Term, operator: str, instant: values.Instant) -> Q:
    if not instant.rough:
        return _ordered(term, operator, instant.moment)
    start, end = instant.moment, instant.end
    match operator:
        case "=":
            return _ordered(term, ">=", start) & _ordered(term, "<", end)
        case "!=":
            return _ordered(term, "<", start) | _ordered(term, ">=", end)
        case "<" | ">=":
            return _ordered(term, operator, start)
        case "<=":
            return _ordered(term, "<", end)
        case _:
            return _ordered(term, ">=", end)


def _identified(term: Term, operator: str, operand: ast.Operand) -> Q:
    if not isinstance(operand, ast.Text):
        raise values.mismatch(term.name, term.kind, operand, "'0b7c1f3e-5d2a-4c8b-9e6f-1a2b3c4d5e6f'")
    value = values.parse_uuid(operand.value)
    if value is not None:
        return _ordered(term, operator, value)
    if operator not in ("=", "!="):
        raise values.mismatch(term.name, term.kind, operand, "'0b7c1f3e-5d2a-4c8b-9e6f-1a2b3c4d5e6f'")
    return NEVER if operator == "=" else _present(term)


def _filterable(term: Term) -> Term:
    if not term.filterable:
        raise not_filterable(term)
    return term


def _null_comparison(term: Term, operator: str, at: Span) -> Fault:
    message = f"{term.name} {operator} NULL is never true."
    form = f"{term.name} IS {'NOT ' if operator == '!=' else ''}NULL"
    return Fault(Reason.NULL_COMPARISON, message, at, fix=form)


def _column_on_the_right(term: Term, operand: ast.Column) -> Fault:
    double_quoted = operand.at.end - operand.at.start > len(operand.written)
    if double_quoted:
        message = f'"{shown(operand.written)}" in double quotes is a name. Text goes in single quotes.'
        return Fault(Reason.TYPE_MISMATCH, message, operand.at, fix=values.quoted(operand.written))
    message = f"{term.name} can be compared with a value only, not with the name {shown(operand.written)}."
    form = values.quoted(operand.written) if term.kind is Kind.TEXT else None
    return Fault(Reason.UNSUPPORTED_EXPRESSION, message, operand.at, fix=form, example=_IN_EXAMPLE)


def _only_equality(term: Term, node: ast.Comparison) -> Fault:
    message = f"{term.name} takes =, LIKE, ILIKE and IN, each with NOT; {node.operator} is not among them."
    form = f"NOT {term.name} = 'text'" if node.operator == "!=" else f"{term.name} LIKE 'c%'"
    return Fault(Reason.UNSUPPORTED_EXPRESSION, message, node.at, fix=form)


def _between(node: ast.Between, scope: Scope, *, negated: bool) -> Compiled:
    term = _filterable(scope.term(node.term))
    if term.ignores_case or term.kind is Kind.TAGS:
        message = f"{term.name} takes no BETWEEN."
        raise Fault(Reason.TYPE_MISMATCH, message, node.at, example=_BETWEEN_EXAMPLE)
    for bound in (node.low, node.high):
        if isinstance(bound, ast.Null):
            message = "BETWEEN with NULL is never true."
            raise Fault(Reason.NULL_COMPARISON, message, bound.at, example=_BETWEEN_EXAMPLE)
    if node.negated != negated:
        return Compiled(compare(term, "<", node.low, scope) | compare(term, ">", node.high, scope))
    return Compiled(compare(term, ">=", node.low, scope) & compare(term, "<=", node.high, scope))


_BETWEEN_EXAMPLE = "SELECT front_text FROM cards WHERE reps BETWEEN 3 AND 10"


def _membership(node: ast.Membership, scope: Scope, *, negated: bool) -> Compiled:
    term = _filterable(scope.term(node.term))
    negated = node.negated != negated
    if term.kind is Kind.TAGS:
        message = f"{term.name} is a list: IN compares single values."
        raise Fault(Reason.TYPE_MISMATCH, message, node.at, fix=f"{'NOT ' * node.negated}{term.name} OVERLAP ('geo')")
    null = next((item for item in node.items if isinstance(item, ast.Null)), None)
    if null is not None:
        message = f"IN never finds NULL. Leave it out of the list, and ask for it apart: {term.name} IS NULL."
        raise Fault(
            Reason.NULL_COMPARISON, message, null.at, example="SELECT front_text FROM cards WHERE due_at IS NULL"
        )
    if not node.items:
        return Compiled(ALWAYS if negated else NEVER)
    if term.kind is Kind.TIMESTAMP and not term.ignores_case:
        return Compiled(_among_instants(term, node.items, scope, negated=negated))
    return _among(term, node.items, negated=negated)


def _among(term: Term, items: tuple[ast.Scalar, ...], *, negated: bool) -> Compiled:
    if term.ignores_case:
        texts = [values.text(term.name, item) for item in items]
        condition = Q(In(term.spelled(folded=True), sorted(set(map(fold, texts)))))
    else:
        condition = _equal_to_any(term, items)
    if negated:
        return Compiled(~condition & _present(term))
    texts = [item.value for item in items if isinstance(item, ast.Text)]
    return Compiled(condition, _needs(term, texts) if term.searched else ())


def _equal_to_any(term: Term, items: tuple[ast.Scalar, ...]) -> Q:
    found: list[object]
    match term.kind:
        case Kind.TEXT:
            found = [values.text(term.name, item) for item in items]
        case Kind.INTEGER:
            asked = [
                values.whole_range("=", values.number(term.name, term.kind, item), term.integer_max) for item in items
            ]
            found = [one.bound for one in asked if not one.never]
        case Kind.NUMBER:
            found = [float(values.number(term.name, term.kind, item)) for item in items]
        case Kind.BOOLEAN:
            found = [values.boolean(term.name, item) for item in items]
        case _:
            wrong = next((item for item in items if not isinstance(item, ast.Text)), None)
            if wrong is not None:
                raise values.mismatch(term.name, term.kind, wrong, "'0b7c1f3e-5d2a-4c8b-9e6f-1a2b3c4d5e6f'")
            texts = [item.value for item in items if isinstance(item, ast.Text)]
            found = [value for value in map(values.parse_uuid, texts) if value is not None]
    return Q(**{f"{term.path}__in": list(dict.fromkeys(found))}) if found else NEVER


def _among_instants(term: Term, items: tuple[ast.Scalar, ...], scope: Scope, *, negated: bool) -> Q:
    instants = [values.instant(term.name, item, now=scope.now) for item in items]
    rough = [one for one in instants if one.rough]
    exact = [one.moment for one in instants if not one.rough]
    conditions = [Q(**{f"{term.path}__in": exact})] if exact else []
    if len(rough) <= RANGES_MAX:
        conditions += [_timed(term, "=", one) for one in rough]
    else:
        conditions.append(Q(In(term.spelled(folded=False), sorted({instant_text(one.moment) for one in rough}))))
    condition = Q(*conditions, _connector=Q.OR)
    return ~condition & _present(term) if negated else condition


def _null_test(node: ast.NullTest, scope: Scope, *, negated: bool) -> Q:
    term = scope.term(node.term)
    negated = node.negated != negated
    if term.name == "deleted_at":
        return NEVER if negated else ALWAYS
    _filterable(term)
    if not term.nullable:
        return ALWAYS if negated else NEVER
    return Q(**{f"{term.path}__isnull": not negated})


# Patterns


def _like(node: ast.Like, scope: Scope, *, negated: bool) -> Compiled:
    term = _filterable(scope.term(node.term))
    word = "ILIKE" if node.ignore_case else "LIKE"
    if term.kind not in (Kind.TEXT, Kind.TIMESTAMP, Kind.UUID):
        form = f"{term.name} OVERLAP ('geo')" if term.kind is Kind.TAGS else f"{term.name} = {_sample(term)}"
        message = f"{word} looks into text, and {term.name} is {NOUNS[term.kind]}."
        raise Fault(Reason.TYPE_MISMATCH, message, node.at, fix=form)
    if isinstance(node.pattern, ast.Null):
        message = f"{word} NULL is never true."
        raise Fault(Reason.NULL_COMPARISON, message, node.at, fix=f"{term.name} IS NULL")
    if isinstance(node.pattern, ast.Column):
        raise _column_on_the_right(term, node.pattern)
    if not isinstance(node.pattern, ast.Text):
        raise values.mismatch(f"The pattern of {word}", Kind.TEXT, node.pattern, "'%text%'")
    escape = _escape(node.escape)
    pattern = parse_like(node.pattern.value, escape)
    if pattern.literal is None and pattern.length > PATTERN_LENGTH_MAX:
        message = f"A pattern has at most {PATTERN_LENGTH_MAX:,} characters; this one has {pattern.length:,}."
        raise Fault(Reason.TOO_COMPLEX, message, node.pattern.at, fix="'%text%'")
    ignore_case = node.ignore_case or term.ignores_case
    return _like_text(term, pattern, ignore_case=ignore_case, negated=node.negated != negated)


def _sample(term: Term) -> str:
    return {Kind.BOOLEAN: "TRUE", Kind.NUMBER: "2.5"}.get(term.kind, "2")


def _escape(literal: ast.Text | None) -> str | None:
    if literal is None or len(literal.value) == 1:
        return literal.value if literal else None
    message = f"ESCAPE takes exactly one character, not {len(literal.value)}."
    raise Fault(Reason.SYNTAX_ERROR, message, literal.at, fix="'!'")


def _like_text(term: Term, pattern: Pattern, *, ignore_case: bool, negated: bool) -> Compiled:
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
        return Compiled(~condition & _present(term))
    phrases = sorted(map(fold, pattern.texts), key=len, reverse=True)[:3]
    needs = tuple(need for phrase in phrases for need in _needs(term, [phrase])) if term.searched else ()
    return Compiled(condition, needs)


def _needs(term: Term, texts: list[str]) -> tuple[frozenset[str], ...]:
    """The need that one of `texts` stands in the row, as far as the search index can look for them."""
    phrases = frozenset(fold(text)[:PHRASE_LENGTH_MAX] for text in texts)
    if not term.searched or not phrases or len(phrases) > PHRASES_MAX:
        return ()
    return (phrases,) if all(len(phrase) >= PHRASE_LENGTH_MIN for phrase in phrases) else ()


PHRASE_LENGTH_MAX = 60


# Tags, MATCH and IN_DECK


def _tags_equality(node: ast.Comparison, scope: Scope, *, negated: bool) -> Q:
    name = _tags_name(node.term, scope, node.at)
    form = f"{name} = {_as_list(node.operand)}"
    if node.operator == "=":
        tags = values.tags(name, node.operand, form, node.at)
        condition = _same_tags(scope, list(dict.fromkeys(tags)))
        return ~condition if negated else condition
    message = f"{name} takes =, OVERLAP, @> and 'x' = ANY({name}), each with NOT before it; not {node.operator}."
    fix = f"NOT {form}" if node.operator == "!=" else f"{name} OVERLAP {_as_list(node.operand)}"
    raise Fault(Reason.TYPE_MISMATCH, message, node.at, fix=fix)


def _as_list(operand: ast.Operand) -> str:
    if isinstance(operand, ast.ListLiteral):
        texts = [item.value for item in operand.items if isinstance(item, ast.Text)]
        return f"({', '.join(map(values.quoted, texts))})"
    return f"({values.quoted(operand.value)})" if isinstance(operand, ast.Text) else "('geo')"


def _tags_name(node: ast.Term, scope: Scope, at: Span) -> str:
    if isinstance(scope, GroupScope):
        message = "Conditions on tags go to WHERE; HAVING looks at groups."
        raise Fault(Reason.GROUPING, message, at, example="SELECT COUNT(*) FROM cards WHERE tags OVERLAP ('geo')")
    return scope.term(node).name


def _list_test(node: ast.ListTest, scope: Scope) -> Compiled:
    name = _tags_name(node.term, scope, node.at)
    _require_tags(scope.term(node.term))
    word = "OVERLAP" if node.operator == "overlap" else "@>"
    tags = values.tags(name, node.operand, f"{name} {word} {_as_list(node.operand)}", node.at)
    return _with_any(scope, tags) if node.operator == "overlap" else Compiled(_with_all(scope, tags))


def _require_tags(term: Term) -> None:
    if term.kind is not Kind.TAGS:
        message = f"{term.name} is no list: OVERLAP, @> and ANY look at tags."
        raise Fault(
            Reason.TYPE_MISMATCH, message, term.at, example="SELECT front_text FROM cards WHERE tags OVERLAP ('geo')"
        )


def _any_of(node: ast.AnyOf, scope: Scope) -> str:
    name = _tags_name(node.column, scope, node.at)
    _require_tags(scope.term(node.column))
    value = values.quoted(node.value.value) if isinstance(node.value, ast.Text) else "'geo'"
    form = f"{value} = ANY({name})"
    if node.operator != "=":
        message = f"ANY takes = only, not {node.operator}."
        raise Fault(Reason.UNSUPPORTED_EXPRESSION, message, node.at, fix=f"NOT {form}")
    if not isinstance(node.value, ast.Text):
        raise values.mismatch(f"An element of {name}", Kind.TEXT, node.value, form, node.at)
    return node.value.value


def _with_any(scope: Scope, tags: list[str]) -> Compiled:
    unnested = scope.table.unnested
    if not tags or unnested is None:
        return Compiled(NEVER)
    key = scope.tags_of().key
    asked = tuple(dict.fromkeys(tags))
    tagged = unnested(scope.workspace_id).filter(tag__in=asked)
    return Compiled(Q(**{f"{key}__in": tagged.values(key)}), only_tags=asked)


def _with_all(scope: Scope, tags: list[str]) -> Q:
    asked = list(dict.fromkeys(tags))
    if len(asked) > TAGS_MAX:
        return NEVER
    return Q(*[_with_any(scope, [tag]).condition for tag in asked]) if asked else ALWAYS


def _same_tags(scope: Scope, tags: list[str]) -> Q:
    path = scope.tags_of().tags
    if len(tags) < 2:
        return Q(**{path: tags})
    return _with_all(scope, tags) & Q(Exact(TagCount(F(path)), len(tags)))


def _match(node: ast.Match, scope: Scope) -> Compiled:
    if scope.table.unnested is None or isinstance(scope, GroupScope):
        message = f"MATCH searches the text of cards and decks; {_where(scope)} has none."
        raise Fault(
            Reason.UNSUPPORTED_FUNCTION, message, node.at, example="SELECT front_text FROM cards WHERE MATCH('oslo')"
        )
    phrase = fold(node.text.value.strip())
    if is_blank(phrase):
        raise Fault(Reason.INVALID_VALUE, "MATCH of an empty text would find everything.", node.text.at, fix="'oslo'")
    paths = scope.tags_of()
    if SEPARATOR in phrase:
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


def _where(scope: Scope) -> str:
    return "HAVING" if isinstance(scope, GroupScope) else scope.table.name


def _in_deck(node: ast.InDeck, scope: Scope) -> Q:
    if scope.table.name != "cards" or isinstance(scope, GroupScope):
        message = f"IN_DECK selects cards; {_where(scope)} has none."
        raise Fault(
            Reason.UNSUPPORTED_FUNCTION,
            message,
            node.at,
            example="SELECT COUNT(*) FROM cards WHERE IN_DECK('Geography')",
        )
    deck = find_deck(node.deck, workspace_id=scope.workspace_id)
    if not deck.tags:
        return ALWAYS
    key = scope.tags_of().key
    return Q(**{f"{key}__in": cards_of(deck).values("card_id")})
