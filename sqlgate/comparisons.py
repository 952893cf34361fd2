"""Comparisons of a column with values: operators, BETWEEN, IN, IS NULL."""

from __future__ import annotations

from django.db.models import Q
from django.db.models.lookups import In

from flashcards.envelope import instant as instant_text
from flashcards.folding import fold
from sqlgate import ast, values
from sqlgate.conditions import (
    ALWAYS,
    NEVER,
    Compiled,
    column_on_the_right,
    filterable,
    needs_of,
    null_comparison,
    present,
    whole_fix,
)
from sqlgate.errors import Fault, Reason
from sqlgate.patterns import Pattern
from sqlgate.schema import Kind
from sqlgate.scope import Scope, Term
from sqlgate.tag_tests import tags_equality
from sqlgate.texts import like_text

RANGES_MAX = 20
NEGATION = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
LOOKUPS = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}
BETWEEN_EXAMPLE = "SELECT front_text FROM cards WHERE reps BETWEEN 3 AND 10"


def comparison(node: ast.Comparison, scope: Scope, *, negated: bool) -> Compiled:
    """The comparison `term operator value`, for every kind of term."""
    term = filterable(scope.term(node.term))
    operator = NEGATION[node.operator] if negated else node.operator
    if isinstance(node.operand, ast.Null):
        raise null_comparison(term, node.operator, node.at)
    if isinstance(node.operand, ast.Column):
        with whole_fix(term, node):
            raise column_on_the_right(term, node.operand)
    if term.kind is Kind.TAGS:
        return Compiled(tags_equality(node, scope, negated=negated))
    if term.ignores_case:
        if node.operator != "=":
            raise _only_equality(term, node)
        with whole_fix(term, node):
            text = values.text(term.name, node.operand)
        return like_text(term, Pattern(((text, ""),)), ignore_case=True, negated=negated)
    needs: tuple[frozenset[str], ...] = ()
    if operator == "=" and term.searched and isinstance(node.operand, ast.Text):
        needs = needs_of(term, [node.operand.value])
    with whole_fix(term, node):
        return Compiled(compare(term, operator, node.operand, scope), needs)


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
        return ~Q(**{term.path: value}) & present(term)
    return Q(**{f"{term.path}__{LOOKUPS[operator]}": value})


def _whole(term: Term, operator: str, operand: ast.Operand) -> Q:
    asked = values.whole_range(operator, values.number(term.name, term.kind, operand), term.integer_max)
    if asked.never:
        return NEVER
    # Django drops a comparison that every value of the column's size fulfils; NULL does not fulfil it.
    return present(term) if asked.always else _ordered(term, asked.operator, asked.bound) & present(term)


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
    return NEVER if operator == "=" else present(term)


def _only_equality(term: Term, node: ast.Comparison) -> Fault:
    message = f"{term.name} takes =, LIKE, ILIKE and IN, each with NOT; {node.operator} is not among them."
    form = f"NOT {term.name} = 'text'" if node.operator == "!=" else f"{term.name} LIKE 'c%'"
    return Fault(Reason.UNSUPPORTED_EXPRESSION, message, node.at, fix=form)


def between(node: ast.Between, scope: Scope, *, negated: bool) -> Compiled:
    """The condition `term [NOT] BETWEEN low AND high`, both ends included."""
    term = filterable(scope.term(node.term))
    if term.ignores_case or term.kind is Kind.TAGS:
        message = f"{term.name} takes no BETWEEN."
        raise Fault(Reason.TYPE_MISMATCH, message, node.at, example=BETWEEN_EXAMPLE)
    for bound in (node.low, node.high):
        if isinstance(bound, ast.Null):
            message = "BETWEEN with NULL is never true."
            raise Fault(Reason.NULL_COMPARISON, message, bound.at, example=BETWEEN_EXAMPLE)
    if node.negated != negated:
        return Compiled(compare(term, "<", node.low, scope) | compare(term, ">", node.high, scope))
    return Compiled(compare(term, ">=", node.low, scope) & compare(term, "<=", node.high, scope))


def membership(node: ast.Membership, scope: Scope, *, negated: bool) -> Compiled:
    """The condition `term [NOT] IN (values)`; an empty list holds for no row, and its negation for every row."""
    term = filterable(scope.term(node.term))
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
        return Compiled(~condition & present(term))
    texts = [item.value for item in items if isinstance(item, ast.Text)]
    return Compiled(condition, needs_of(term, texts) if term.searched else ())


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
    return ~condition & present(term) if negated else condition


def null_test(node: ast.NullTest, scope: Scope, *, negated: bool) -> Q:
    """The condition `term IS [NOT] NULL`."""
    term = scope.term(node.term)
    negated = node.negated != negated
    if term.name == "deleted_at":
        return NEVER if negated else ALWAYS
    filterable(term)
    if not term.nullable:
        return ALWAYS if negated else NEVER
    return Q(**{f"{term.path}__isnull": not negated})
