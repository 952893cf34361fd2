"""What a SELECT puts out, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Count, F, OrderBy, Window

from sqlgate import ast
from sqlgate.errors import Fault, Reason, Span, shown
from sqlgate.rows import Writer, written
from sqlgate.schema import NOUNS, Kind, Rows
from sqlgate.scope import RowScope, Term


@dataclass(frozen=True, slots=True)
class Output:
    """One column of the result: its name, what it shows, and the path that DATE is taken of."""

    name: str
    term: Term
    at: Span
    source: str = ""
    write: Writer = written

    @classmethod
    def of(cls, item: ast.Item, default_name: str, term: Term, **more: Any) -> Output:
        """The output of `item`, under its alias or the default name."""
        name = item.alias.text if item.alias else default_name
        return cls(name, term, item.alias.at if item.alias else item.term.at, **more)


def check_names(outputs: Sequence[Output]) -> None:
    """Fault when two outputs have one name."""
    seen: set[str] = set()
    for output in outputs:
        if output.name in seen:
            message = f"The output name {shown(output.name)} stands twice. Give one of them another name with AS."
            raise Fault(Reason.SYNTAX_ERROR, message, output.at, example="SELECT reps, reps AS reviews FROM cards")
        seen.add(output.name)


def order_keys(order_by: Sequence[ast.OrderBy], find: Callable[[ast.Column], Term]) -> list[OrderBy]:
    """The keys of ORDER BY. NULLs come first ascending and last descending, unless said."""
    keys = []
    for order in order_by:
        term = find(order.key)
        if not term.sortable or term.kind in (Kind.JSON, Kind.INTEGERS):
            message = f"{shown(order.key.written)} takes no order."
            raise Fault(
                Reason.NOT_SORTABLE, message, order.key.at, example="SELECT * FROM cards ORDER BY created_at DESC"
            )
        keys.append(ordered(term, descending=order.descending, nulls_first=order.nulls_first))
    return keys


def ordered(term: Term, *, descending: bool = False, nulls_first: bool | None = None) -> OrderBy:
    """The order by one term; a column that has no NULLs is ordered plainly, so that its index serves."""
    expression = F(term.path)
    if not term.nullable:
        return expression.desc() if descending else expression.asc()
    first = (not descending) if nulls_first is None else nulls_first
    placed: dict[str, Any] = {"nulls_first": True} if first else {"nulls_last": True}
    return expression.desc(**placed) if descending else expression.asc(**placed)


T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Page(Generic[T_co]):
    """Up to one row more than was asked for, and how many there are without LIMIT."""

    records: list[T_co]
    total: int


def fetch_page(query: Rows, count: Callable[[], int], *, limit: int, offset: int, shift: int = 0) -> Page[Any]:
    """One page of `query`, whose first row is row `shift` of the result; counts only when the page does not tell."""
    records = list(query[offset - shift : offset - shift + limit + 1])
    if len(records) <= limit and (records or not offset):
        return Page(records, offset + len(records))
    return Page(records, count())


def fetch_page_with_total(query: Rows, paths: Sequence[str], *, limit: int, offset: int) -> Page[Any]:
    """One page of a query that has to visit all its rows anyhow, so that it may as well count them on the way."""
    counted = query.annotate(total_row_count=Window(Count("*"))).values_list(*paths, "total_row_count")
    records = list(counted[offset : offset + limit + 1])
    if records:
        return Page([record[:-1] for record in records], records[0][-1])
    return Page([], query.order_by().count() if offset else 0)


def dated(node: ast.DateOf, scope: RowScope, path: str) -> tuple[Term, str]:
    """The term of DATE(column) under the annotation `path`, and the path of the column."""
    column = scope.column(node.column)
    if column.kind is not Kind.TIMESTAMP:
        message = f"DATE takes a timestamp, and {column.name} is {NOUNS[column.kind]}."
        raise Fault(Reason.TYPE_MISMATCH, message, node.at, example="SELECT DATE(created_at) AS day FROM cards")
    return Term(f"DATE({column.name})", Kind.TEXT, path, node.at, nullable=column.nullable), column.path


def no_such_output(term: ast.Term) -> Fault:
    """The fault of a function in the SELECT list that is none of its own."""
    at: Span = term.at
    name = term.function.upper() if isinstance(term, ast.Folded | ast.Aggregate) else "This"
    message = f"SELECT takes columns, DATE(column) and aggregates, not {name}(…). Fold the text yourself."
    return Fault(
        Reason.UNSUPPORTED_FUNCTION,
        message,
        at,
        example="SELECT front_text FROM cards WHERE LOWER(front_text) LIKE 'c%'",
    )
