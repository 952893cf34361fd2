"""What a SELECT answers, worked out over plain Python rows: slow, simple, and of the code under test the AST alone.

Conditions are three-valued: True, False, or None for unknown.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlgate import ast

Row = dict[str, Any]
Truth = bool | None
TIMES = {
    *("due_at", "created_at", "updated_at", "fsrs_last_reviewed_at", "reviewed_at_client", "reviewed_at_server"),
    *("undone_at", "deleted_at"),
}
IDS = {"card_id", "deck_id", "review_event_id", "replica_id", "workspace_id"}
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
KEYS = {"cards": "card_id", "decks": "deck_id", "review_events": "review_event_id", "workspace": "workspace_id"}


def fold(text: str) -> str:
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


def spelled(name: str, value: Any) -> Any:
    """A value as answers write it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return str(value) if name in IDS else value


class Oracle:
    """The data of one workspace: its live rows by table."""

    def __init__(self, tables: dict[str, list[Row]], now: datetime) -> None:
        self.tables = tables
        self.now = now
        self.table = ""
        self.element = ""

    def answer(self, select: ast.Select) -> dict[str, Any]:
        """`rows`, `hasMore` and `totalRowCount` of a SELECT."""
        self.table = select.table.text
        self.element = select.unnest.element.text if select.unnest else ""
        rows = [row for row in self._rows() if select.where is None or self.truth(select.where, row) is True]
        grouped = select.group_by or select.having or any(isinstance(i.term, ast.Aggregate) for i in select.items)
        shown = self._groups(select, rows) if grouped else self._plain(select, rows)
        limit = min(int(select.limit.value) if select.limit else 100, 100)
        offset = int(select.offset.value) if select.offset else 0
        page = shown[offset : offset + limit]
        return {"rows": page, "hasMore": len(shown) > offset + limit, "totalRowCount": len(shown)}

    def _rows(self) -> Iterable[Row]:
        for row in self.tables[self.table]:
            if not self.element:
                yield row
                continue
            for position, tag in enumerate(row["tags"]):
                yield row | {self.element: tag, "\x00position": position}

    # Output

    def _names(self, rows: list[Row]) -> list[str]:
        del rows
        first = self.tables[self.table][0] if self.tables[self.table] else {}
        return [*(name for name in first if not name.startswith("\x00")), *([self.element] if self.element else [])]

    def _plain(self, select: ast.Select, rows: list[Row]) -> list[Row]:
        items = select.items or tuple(
            ast.Item(ast.Column(name, None, select.at, name), None) for name in self._names(rows)
        )
        named = [(item.alias.text if item.alias else default_name(item.term), item.term) for item in items]
        pairs = [({name: self._value(term, row) for name, term in named}, row) for row in rows]
        aliases = dict(named)
        if select.distinct and not self._shows_key(named):
            seen: dict[str, tuple[Row, Row]] = {}
            for output, row in pairs:
                seen.setdefault(repr(output), (output, row))
            pairs = list(seen.values())
            for name, _ in reversed(named):
                if name != "deleted_at":
                    pairs.sort(key=lambda pair, name=name: sort_key(pair[0][name], False, True))  # type: ignore[misc]  # a lambda with defaults is beyond inference
        else:
            self._sort_ties(pairs, newest=not select.order_by)
        for order in reversed(select.order_by or ()):
            first = (not order.descending) if order.nulls_first is None else order.nulls_first

            def key(pair: tuple[Row, Row], order: ast.OrderBy = order, first: bool = first) -> Any:
                term = aliases.get(order.key.name, order.key)
                return sort_key(self._value(term, pair[1]), order.descending, first)

            pairs.sort(key=key)
        return [{name: spelled(base_name(term), output[name]) for name, term in named} for output, _ in pairs]

    def _shows_key(self, named: list[tuple[str, Any]]) -> bool:
        return not self.element and any(base_name(term) == KEYS[self.table] for _, term in named)

    def _sort_ties(self, pairs: list[tuple[Row, Row]], *, newest: bool) -> None:
        pairs.sort(key=lambda pair: pair[1].get("\x00position", 0))
        pairs.sort(key=lambda pair: UUID(str(pair[1][KEYS[self.table]])).int)
        if newest:
            time = "reviewed_at_server" if self.table == "review_events" else "created_at"
            pairs.sort(key=lambda pair: pair[1][time], reverse=True)

    def _value(self, term: Any, row: Row) -> Any:
        if isinstance(term, ast.DateOf):
            value = row[term.column.name]
            return None if value is None else value.astimezone(UTC).date().isoformat()
        return row[term.name]

    # Groups

    def _groups(self, select: ast.Select, rows: list[Row]) -> list[Row]:
        terms = {item.alias.text: item.term for item in select.items if item.alias}
        keys = [terms[k.name] if isinstance(k, ast.Column) and k.name in terms and k.name not in rows_names(self) else k
                for k in select.group_by]  # fmt: skip
        groups: dict[str, list[Row]] = {}
        for row in rows:
            groups.setdefault(repr([self._value(key, row) for key in keys]), []).append(row)
        if not keys:
            groups = {"": rows}
        kept = []
        for members in groups.values():
            scope = GroupValues(self, select, keys, members)
            if select.having is None or self.truth(select.having, scope) is True:
                kept.append(scope)
        for key in reversed(keys):
            kept.sort(key=lambda scope, key=key: sort_key(self._value(key, scope.members[0]), False, True))  # type: ignore[misc]  # a lambda with defaults is beyond inference
        if select.order_by:
            for order in reversed(select.order_by):
                first = (not order.descending) if order.nulls_first is None else order.nulls_first
                kept.sort(key=lambda s, o=order, f=first: sort_key(s.named(o.key.name), o.descending, f))  # type: ignore[misc]  # a lambda with defaults is beyond inference
        return [scope.output() for scope in kept]

    # Conditions

    def truth(self, node: ast.Condition, row: Any) -> Truth:
        """Whether a condition holds for a row, or for a group."""
        match node:
            case ast.Not():
                truth = negated(self.truth(node.condition, row))
            case ast.Chain():
                truth = chained([self.truth(condition, row) for condition in node.conditions], every=node.every)
            case ast.Comparison():
                truth = self._comparison(node, row)
            case ast.Between() | ast.Membership():
                inside = self._inside(node, row)
                truth = negated(inside) if node.negated else inside
            case ast.NullTest():
                truth = (self._left(node.term, row)[1] is None) != node.negated
            case ast.Like():
                truth = self._like(node, row)
            case _:
                truth = self._special(node, row)
        return truth

    def _inside(self, node: ast.Between | ast.Membership, row: Any) -> Truth:
        if isinstance(node, ast.Between):
            low = ast.Comparison(node.term, ">=", node.low, node.at)
            high = ast.Comparison(node.term, "<=", node.high, node.at)
            return chained([self._comparison(low, row), self._comparison(high, row)], every=True)
        found = [self._comparison(ast.Comparison(node.term, "=", item, node.at), row) for item in node.items]
        return chained(found, every=False) if found else False

    def _left(self, term: Any, row: Any) -> tuple[str, Any, bool]:
        folded = isinstance(term, ast.Folded)
        column = term.column if folded else term
        if isinstance(row, GroupValues):
            return base_name(column), row.value(column), folded
        return column.name, row[column.name], folded

    def _comparison(self, node: ast.Comparison, row: Any) -> Truth:
        operand: Any = node.operand
        name, left, folded = self._left(node.term, row)
        if left is None:
            return None
        if isinstance(operand, ast.ListLiteral):
            same = set(left) == {item.value for item in operand.items}
            return same if node.operator == "=" else not same
        if folded:
            return fold(str(spelled(name, left))) == fold(operand.value)
        if name in IDS:
            return compare_ids(str(left), node.operator, operand.value)
        if name in TIMES or isinstance(left, datetime):
            return self._compare_times(left, node.operator, operand)
        right = operand.value
        if isinstance(right, int | Decimal) and not isinstance(right, bool):
            left, right = (
                Decimal(left) if isinstance(left, int) else left,
                right if isinstance(left, int) else float(right),
            )
        return OPERATORS[node.operator](left, right)

    def _compare_times(self, left: datetime, sign: str, operand: Any) -> bool:
        if isinstance(operand, ast.Now):
            return OPERATORS[sign](left, self.now + operand.offset)
        text = operand.value.strip().upper().replace(" ", "T").replace("Z", "+00:00")
        right = datetime.fromisoformat(text)
        right = right.replace(tzinfo=UTC) if right.tzinfo is None else right
        decimals = re.search(r"\.(\d+)", operand.value)
        if decimals is None or len(decimals[1]) <= 3:
            left = left - timedelta(microseconds=left.microsecond % 1000)
        return OPERATORS[sign](left, right)

    def _like(self, node: ast.Like, row: Any) -> Truth:
        name, left, folded = self._left(node.term, row)
        if left is None:
            return None
        like: Any = node
        text, pattern = str(spelled(name, left)), like_pieces(like.pattern.value, like.escape and like.escape.value)
        if folded or node.ignore_case:
            text = fold(text)
            pattern = [piece if piece in (ANY, ONE) else fold(piece) for piece in pattern]
        expression = "".join({ANY: ".*", ONE: "."}.get(piece) or re.escape(piece) for piece in pattern)
        matches = re.fullmatch(expression, text, re.DOTALL) is not None
        return matches != node.negated

    def _special(self, node: Any, row: Row) -> Truth:
        match node:
            case ast.AnyOf():
                return node.value.value in row["tags"]
            case ast.ListTest():
                asked = {item.value for item in node.operand.items}
                return bool(asked & set(row["tags"])) if node.operator == "overlap" else asked <= set(row["tags"])
            case ast.Match():
                phrase = fold(node.text.value.strip())
                texts = [row["name"]] if self.table == "decks" else [row["front_text"], row["back_text"]]
                return any(phrase in fold(text) for text in [*texts, *row["tags"]])
            case _:
                deck = next(deck for deck in self.tables["decks"] if str(deck["deck_id"]) == node.deck.value.lower())
                return not deck["tags"] or bool({*map(fold, deck["tags"])} & {*map(fold, row["tags"])})


class GroupValues:
    """One group: what its keys, aggregates and output names are worth."""

    def __init__(self, oracle: Oracle, select: ast.Select, keys: list[Any], members: list[Row]) -> None:
        self.oracle, self.select, self.keys, self.members = oracle, select, keys, members

    def named(self, name: str) -> Any:
        for item in self.select.items:
            if (item.alias.text if item.alias else default_name(item.term)) == name:
                return self.value(item.term)
        return self.members[0][name]

    def value(self, term: Any) -> Any:
        if isinstance(term, ast.Aggregate):
            return self._aggregate(term)
        if isinstance(term, ast.DateOf):
            return self.oracle._value(term, self.members[0])
        return self.members[0][term.name] if term.name in self.members[0] else self.named(term.name)

    def _aggregate(self, term: ast.Aggregate) -> Any:
        if term.column is None:
            return len(self.members)
        name = term.column.name
        values = [row[name] for row in self.members if row[name] is not None]
        if term.function == "count":
            return len({repr(value) for value in values}) if term.distinct else len(values)
        if not values:
            return None
        if term.function == "avg":
            return sum(values) / len(values)
        functions: dict[str, Any] = {"sum": sum, "min": min, "max": max}
        return functions[term.function](values)

    def output(self) -> Row:
        return {
            (item.alias.text if item.alias else default_name(item.term)): spelled(
                base_name(item.term), self.value(item.term)
            )
            for item in self.select.items
        }


ANY, ONE = "\x00any", "\x00one"


def like_pieces(pattern: str, escape: str | None) -> list[str]:
    pieces, index = [], 0
    while index < len(pattern):
        char, following = pattern[index], pattern[index + 1 : index + 2]
        if char == (escape or "\\") and following and following in ("%", "_", escape):
            pieces.append(following)
            index += 1
        else:
            pieces.append({"%": ANY, "_": ONE}.get(char, char))
        index += 1
    return pieces


def rows_names(oracle: Oracle) -> set[str]:
    return set(oracle._names([]))


def base_name(term: Any) -> str:
    return term.name if isinstance(term, ast.Column) else ""


def default_name(term: Any) -> str:
    if isinstance(term, ast.Column):
        return term.name
    if isinstance(term, ast.DateOf):
        return f"date_{term.column.name}"
    return "count" if term.function == "count" else f"{term.function}_{term.column.name}"


def negated(truth: Truth) -> Truth:
    return None if truth is None else not truth


def chained(truths: list[Truth], *, every: bool) -> Truth:
    if every:
        return False if False in truths else None if None in truths else True
    return True if True in truths else None if None in truths else False


def compare_ids(left: str, sign: str, text: str) -> bool:
    digits = re.sub("[-{}]", "", text.lower())
    if not re.fullmatch("[0-9a-f]{32}", digits):
        return sign == "!="
    return OPERATORS[sign](UUID(left).int, UUID(digits).int)


def sort_key(value: Any, descending: bool, nulls_first: bool) -> Any:
    """A key that sorts None where it is wanted, and everything else by code points, numbers or instants."""
    if value is None:
        return (0 if nulls_first else 2, Reversed(()) if descending else ())
    if isinstance(value, str) and re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value):
        value = value.replace("-", "")
    if isinstance(value, list):
        value = tuple(value)
    return (1, Reversed(value) if descending else value)


class Reversed:
    """A value that sorts the other way round."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Reversed) -> bool:
        return other.value < self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reversed) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)
