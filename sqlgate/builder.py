"""Builds a statement from what the parser reduces: one method a rule of the grammar, named after it. Pure."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar, cast

from sqlgate import ast
from sqlgate.errors import Fault, Reason, Span
from sqlgate.lexer import Token
from sqlgate.literals import parse_braces, parse_interval, unescaped
from sqlgate.place import FORMS

Children: TypeAlias = list[Any]
N = TypeVar("N")


def _only(kind: type[N] | tuple[type[N], ...], children: Children) -> tuple[N, ...]:
    return tuple(child for child in children if isinstance(child, kind))


def _nodes(children: Children) -> tuple[Any, ...]:
    return tuple(child for child in children if child is not None and not isinstance(child, Token))


def _has(word: str, children: Children) -> bool:
    return any(isinstance(child, Token) and child.type == word for child in children)


def _span(children: Children) -> Span:
    parts = [child for child in children if child is not None]
    return Span(parts[0].at.start, parts[-1].at.end)


class Builder:
    """Turns each rule of the grammar into its node, as the parser reduces it."""

    def name(self, children: Children) -> ast.Name:
        token: Token = children[0]
        text = token.text if token.type == "NAME" else token.text[1:-1].replace('""', '"')
        return ast.Name(text.lower(), token.at, text)

    def table(self, children: Children) -> ast.Name:
        return cast("ast.Name", children[0])

    def alias(self, children: Children) -> ast.Name:
        return cast("ast.Name", children[-1])

    def column(self, children: Children) -> ast.Column:
        first, _, second = children
        if second is None:
            return ast.Column(first.text, None, first.at, first.written)
        return ast.Column(second.text, first.text, first.at.to(second.at), second.written)

    # Values

    def text(self, children: Children) -> ast.Text:
        token: Token = children[0]
        return ast.Text(token.text[1:-1].replace("''", "'"), token.at)

    def quoted_element(self, children: Children) -> ast.Text:
        token: Token = children[0]
        return ast.Text(unescaped(token.text), token.at)

    def signed(self, children: Children) -> ast.Number:
        sign, token = children
        digits = token.text.lstrip("0") or "0"
        value: int | Decimal = Decimal(token.text[:60]) if "." in digits[:40] else _whole(digits)
        return ast.Number(value if sign is None else -value, _span(children))

    def boolean(self, children: Children) -> ast.Boolean:
        return ast.Boolean(children[0].type == "TRUE", children[0].at)

    def null(self, children: Children) -> ast.Null:
        return ast.Null(children[0].at)

    def instant(self, children: Children) -> ast.Now:
        return ast.Now(timedelta(0), _span(children))

    def moved_instant(self, children: Children) -> ast.Now:
        offset = parse_interval(children[3])
        return ast.Now(offset if children[1].type == "PLUS" else -offset, _span(children))

    def list_in_signs(self, children: Children) -> ast.ListLiteral:
        return ast.ListLiteral(_nodes(children), _span(children))

    def list_in_braces(self, children: Children) -> ast.ListLiteral:
        token: Token = children[0]
        items = parse_braces(token.text, token.at)
        return ast.ListLiteral(tuple(ast.Text(item, token.at) for item in items), token.at)

    def array_edit(self, children: Children) -> ast.ArrayEdit:
        function, _, column, _, tag, _ = children
        return ast.ArrayEdit(function.word.lower(), column, tag, _span(children))

    # Terms

    def folded(self, children: Children) -> ast.Folded:
        return ast.Folded(children[0].word.lower(), children[2], _span(children))

    def date_of(self, children: Children) -> ast.DateOf:
        return ast.DateOf(children[2], _span(children))

    def count_rows(self, children: Children) -> ast.Aggregate:
        return ast.Aggregate("count", None, distinct=False, at=_span(children))

    def count_values(self, children: Children) -> ast.Aggregate:
        return ast.Aggregate("count", children[3], distinct=children[2] is not None, at=_span(children))

    def aggregate(self, children: Children) -> ast.Aggregate:
        return ast.Aggregate(children[0].word.lower(), children[2], distinct=False, at=_span(children))

    # Conditions

    def comparison(self, children: Children) -> ast.Comparison:
        term, operator, operand = children
        return ast.Comparison(term, _operator(operator), operand, _span(children))

    def between(self, children: Children) -> ast.Between:
        term, negation, _, low, _, high = children
        return ast.Between(term, low, high, negation is not None, _span(children))

    def membership(self, children: Children) -> ast.Membership:
        return ast.Membership(children[0], _nodes(children[4:]), _has("NOT", children), _span(children))

    def null_test(self, children: Children) -> ast.NullTest:
        return ast.NullTest(children[0], children[2] is not None, _span(children))

    def like(self, children: Children) -> ast.Like:
        term, negation, word, pattern, _, escape = children
        return ast.Like(term, pattern, escape, word.type == "ILIKE", negation is not None, _span(children))

    def list_test(self, children: Children) -> ast.ListTest:
        term, operator, operand = children
        return ast.ListTest(term, operator.type.lower(), operand, _span(children))

    def any_element(self, children: Children) -> ast.AnyOf:
        value, operator, _, _, column, _ = children
        return ast.AnyOf(value, _operator(operator), column, _span(children))

    def reversed_comparison(self, children: Children) -> ast.Comparison:
        value, operator, operand = children
        message = "A comparison names its column first, then the value."
        fault = Fault(Reason.SYNTAX_ERROR, message, _span(children), example=FORMS["SELECT"])
        if isinstance(operand, ast.Column) and not isinstance(value, ast.Now | ast.Null):
            fault.fix = f"{operand.written} {MIRRORED.get(operator.text, operator.text)} {literal(value)}"
        raise fault

    def match(self, children: Children) -> ast.Match:
        return ast.Match(children[2], _span(children))

    def in_deck(self, children: Children) -> ast.InDeck:
        return ast.InDeck(children[2], _span(children))

    def negated(self, children: Children) -> ast.Condition:
        inner: ast.Condition = children[1]
        # Twice NOT is the condition itself, in three-valued logic too; a run of NOTs so never nests.
        return inner.condition if isinstance(inner, ast.Not) else ast.Not(inner, _span(children))

    def group(self, children: Children) -> ast.Condition:
        return cast("ast.Condition", children[1])

    def all_of(self, children: Children) -> ast.Chain:
        return ast.Chain(True, _nodes(children), _span(children))

    def any_of(self, children: Children) -> ast.Chain:
        return ast.Chain(False, _nodes(children), _span(children))

    # Clauses

    def everything(self, children: Children) -> tuple[ast.Item, ...]:
        return ()

    def projection(self, children: Children) -> tuple[ast.Item, ...]:
        return _only(ast.Item, children)

    def item(self, children: Children) -> ast.Item:
        return ast.Item(children[0], children[1])

    returned = item

    def unnest(self, children: Children) -> ast.Unnest:
        return ast.Unnest(_only(ast.Column, children)[0], _only(ast.Name, children)[0])

    def where(self, children: Children) -> ast.Condition:
        return cast("ast.Condition", children[1])

    having = where

    def group_by(self, children: Children) -> tuple[ast.Column | ast.DateOf, ...]:
        return _nodes(children)

    def order_by(self, children: Children) -> tuple[ast.OrderBy, ...]:
        return _only(ast.OrderBy, children)

    def random_order(self, children: Children) -> tuple[ast.OrderBy, ...]:
        return ()

    def order_key(self, children: Children) -> ast.OrderBy:
        first = _has("FIRST", children)
        return ast.OrderBy(children[0], _has("DESC", children), first if _has("NULLS", children) else None)

    def page(self, children: Children) -> tuple[ast.Number | None, ast.Number | None]:
        return children[0], children[1]

    def page_offset_first(self, children: Children) -> tuple[ast.Number | None, ast.Number | None]:
        return children[1], children[0]

    def limit(self, children: Children) -> ast.Number:
        return cast("ast.Number", children[1])

    offset = limit

    # Statements

    def select(self, children: Children) -> ast.Select:
        first, distinct, items, _, table, alias, unnest, where, groups, having, order, page = children
        return ast.Select(
            at=first.at.to(table.at),
            distinct=distinct is not None,
            items=items,
            table=table,
            alias=alias,
            unnest=unnest,
            where=where,
            group_by=groups or (),
            having=having,
            order_by=order,
            limit=page[0],
            offset=page[1],
        )

    def show_tables(self, children: Children) -> ast.ShowTables:
        return ast.ShowTables(children[0].at, children[-1])

    def describe(self, children: Children) -> ast.Describe:
        return ast.Describe(children[0].at, children[-1])

    def row(self, children: Children) -> ast.Row:
        return ast.Row(_nodes(children), _span(children))

    def insert(self, children: Children) -> ast.Insert:
        return ast.Insert(
            at=children[0].at,
            table=children[2],
            columns=_only(ast.Column, children),
            rows=_only(ast.Row, children),
            returning=children[-1],
        )

    def assignment(self, children: Children) -> ast.Assignment:
        return ast.Assignment(children[0], children[2])

    def update(self, children: Children) -> ast.Update:
        return ast.Update(
            at=children[0].at,
            table=children[1],
            assignments=_only(ast.Assignment, children),
            where=children[-2],
            returning=children[-1],
        )

    def delete(self, children: Children) -> ast.Delete:
        return ast.Delete(at=children[0].at, table=children[2], where=children[3], returning=children[4])

    def returning(self, children: Children) -> ast.Returning:
        return ast.Returning(_only(ast.Item, children), _span_of_items(children))

    def returning_everything(self, children: Children) -> ast.Returning:
        return ast.Returning((), _span(children))


MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def literal(value: ast.Text | ast.Number | ast.Boolean) -> str:
    """`value` as it is written."""
    if isinstance(value, ast.Text):
        return "'" + value.value.replace("'", "''") + "'"
    return str(value.value).upper()


def _span_of_items(children: Children) -> Span:
    start: Span = children[0].at
    return start.to(children[-1].term.at)


def _operator(token: Token) -> str:
    return "!=" if token.text == "<>" else token.text


def _whole(digits: str) -> int:
    # More digits than any column holds compare like a number of 40 digits, without the cost of a long conversion.
    return int(digits) if len(digits) <= 40 else 10**40
