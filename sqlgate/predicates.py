"""Conditions of the dialect as conditions of the database.

NOT is pushed down to the single predicates, which is sound in three-valued logic. What is left above them is AND and
OR, for which "false" and "unknown" are the same in the end; so a predicate need only hold for exactly the right rows.
"""

from __future__ import annotations

from collections.abc import Hashable

from django.db.models import BooleanField, ExpressionWrapper, Q

from sqlgate import ast
from sqlgate.comparisons import between, comparison, membership, null_test
from sqlgate.conditions import IN_EXAMPLE, PHRASES_MAX, Compiled
from sqlgate.errors import Fault, Reason
from sqlgate.scope import Scope
from sqlgate.tag_tests import any_of, in_deck, list_test, with_any
from sqlgate.texts import like, match

CHAIN_MAX = 500
GROUP_SIZE = 100
DEPTH_MAX = 900
VALUES = (ast.Text, ast.Number, ast.Boolean, ast.Now)


def compile_condition(node: ast.Condition, scope: Scope) -> Compiled:
    """The condition for rows or groups of `scope`; Fault for unknown names, wrong types and excessive size."""
    if _depth(node) > DEPTH_MAX:
        message = "The condition is too large. Use IN for many values, or send several statements."
        raise Fault(Reason.TOO_COMPLEX, message, node.at, example=IN_EXAMPLE)
    return _compile(node, scope, negated=False)


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
            compiled = comparison(node, scope, negated=negated)
        case ast.Between() | ast.Membership():
            compiled = _of_values(node, scope, negated=negated)
        case ast.NullTest():
            compiled = Compiled(null_test(node, scope, negated=negated))
        case ast.Like():
            compiled = like(node, scope, negated=negated)
        case _:
            compiled = _of_tags_or_text(node, scope)
            compiled = Compiled(~compiled.condition) if negated else compiled
    return compiled


def _of_values(node: ast.Between | ast.Membership, scope: Scope, *, negated: bool) -> Compiled:
    if isinstance(node, ast.Between):
        return between(node, scope, negated=negated)
    return membership(node, scope, negated=negated)


def _of_tags_or_text(node: ast.ListTest | ast.AnyOf | ast.Match | ast.InDeck, scope: Scope) -> Compiled:
    match node:
        case ast.ListTest():
            return list_test(node, scope)
        case ast.AnyOf():
            return with_any(scope, [any_of(node, scope)])
        case ast.Match():
            return match(node, scope)
        case ast.InDeck():
            return Compiled(in_deck(node, scope))


def _chain(node: ast.Chain, scope: Scope, *, negated: bool) -> Compiled:
    conditions = _merged(node)
    if len(conditions) > CHAIN_MAX:
        word = "AND" if node.every else "OR"
        message = f"A chain of {len(conditions):,} conditions joined by {word} is too long; at most {CHAIN_MAX}."
        raise Fault(Reason.TOO_COMPLEX, message, node.at, example=IN_EXAMPLE)
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
