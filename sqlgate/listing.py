"""SELECT without groups: rows of the table, or of its UNNEST."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import F, OrderBy, Q

from sqlgate import ast
from sqlgate.conditions import Compiled
from sqlgate.errors import Fault, Reason, shown
from sqlgate.expressions import DateText
from sqlgate.rows import Row, as_rows
from sqlgate.schema import Kind, Rows
from sqlgate.scope import RowScope, Term
from sqlgate.search import matching
from sqlgate.selection import (
    Output,
    Page,
    check_names,
    dated,
    fetch_page,
    fetch_page_with_total,
    no_such_output,
    order_keys,
    ordered,
)

DEEP_OFFSET = 200
TOP_TAGS_MAX = 8
TOP_ROWS_MAX = 1_000
DISTINCT_EXAMPLE = "SELECT DISTINCT reps FROM cards ORDER BY reps"


class RowSelect:
    """A SELECT whose rows are rows of the table, or of its UNNEST."""

    def __init__(self, statement: ast.Select, scope: RowScope, where: Compiled | None) -> None:
        self.scope = scope
        self.where = where
        self.outputs = self._outputs(statement)
        self.distinct = statement.distinct and not self._shows_key()
        if self.distinct:
            self._check_distinct(statement)
        self.order = self._order(statement)
        self.newest_first = not self.distinct and self._is_newest_first(statement)

    # Outputs

    def _outputs(self, statement: ast.Select) -> list[Output]:
        if not statement.items:
            nodes = [ast.Column(name, None, statement.at, name) for name in self.scope.names]
            return [Output(node.name, self.scope.column(node), statement.at) for node in nodes]
        outputs = [self._output(item, index) for index, item in enumerate(statement.items)]
        check_names(outputs)
        return outputs

    def _output(self, item: ast.Item, index: int) -> Output:
        match item.term:
            case ast.Column() as node:
                return Output.of(item, node.name, self.scope.column(node))
            case ast.DateOf() as node:
                term, source = dated(node, self.scope, f"date_{index}")
                return Output.of(item, f"date_{node.column.name}", term, source=source)
            case _:
                raise no_such_output(item.term)

    def _shows_key(self) -> bool:
        key = self.scope.table.key
        return not self.scope.element and any(output.term.path == key for output in self.outputs)

    def _check_distinct(self, statement: ast.Select) -> None:
        for output in self.outputs:
            if output.term.kind in (Kind.JSON, Kind.INTEGERS):
                key = self.scope.table.key
                message = f"DISTINCT cannot compare {output.term.name}. Leave it out, or select {key} too."
                raise Fault(Reason.NOT_GROUPABLE, message, output.at, example=DISTINCT_EXAMPLE)
        if statement.order_by == ():
            message = "DISTINCT and ORDER BY RANDOM() do not go together."
            raise Fault(Reason.DISTINCT_ORDER, message, statement.at, example=DISTINCT_EXAMPLE)

    # Order

    def _order(self, statement: ast.Select) -> Sequence[OrderBy | str]:
        if statement.order_by == ():
            return ["?"]
        names = {output.name: output.term for output in self.outputs}
        keys = order_keys(statement.order_by or (), lambda node: self._order_term(node, names))
        if self.distinct:
            return [*keys, *(ordered(output.term) for output in self.outputs if output.term.name != "deleted_at")]
        return [*keys, *self._ties(newest_first=not keys)]

    def _order_term(self, node: ast.Column, names: dict[str, Term]) -> Term:
        named = names.get(node.name) if node.table is None else None
        if self.distinct and named is None and node.name not in self.scope.names:
            raise self._not_selected(node, names)
        term = named or self.scope.column(node, also=tuple(names))
        if self.distinct and all(term.path != output.term.path for output in self.outputs):
            raise self._not_selected(node, names)
        return term

    def _not_selected(self, node: ast.Column, names: dict[str, Term]) -> Fault:
        message = f"ORDER BY {shown(node.written)}: with DISTINCT, only what is selected can be ordered by."
        known = tuple(names)
        wrong_name = "" if node.name in self.scope.names else node.name
        return Fault(
            Reason.DISTINCT_ORDER, message, node.at, known=known, wrong_name=wrong_name, example=DISTINCT_EXAMPLE
        )

    def _ties(self, *, newest_first: bool) -> list[OrderBy]:
        table = self.scope.table
        # On the rows of an UNNEST of cards the card's time stands in the row itself, where its index is.
        newest = "created_at" if self.scope.element and table.name == "cards" else self.scope.prefix + table.newest_by
        ties = [F(newest).desc()] if newest_first else []
        ties.append(F(table.key).asc())
        return [*ties, F("position").asc()] if self.scope.element else ties

    def _is_newest_first(self, statement: ast.Select) -> bool:
        """Whether the order is that of no ORDER BY, written or not."""
        keys = [(key.key.name, key.descending) for key in statement.order_by or ()]
        usual = [(self.scope.table.newest_by, True), (self.scope.table.key, False)]
        return statement.order_by != () and keys == usual[: len(keys)]

    # Rows

    def page(self, limit: int, offset: int) -> Page[Row]:
        """Up to limit + 1 rows, and how many there are in all."""
        end = offset + limit + 1
        if self._is_tag_page(end):
            page = self._fetched(self.scope.rows().filter(self._top_of_tags(end)), limit, offset)
        elif self._is_deep(offset):
            page = self._fetched(self._by_id(offset, end), limit, offset, shift=offset)
        elif self._is_counted_on_the_way():
            query = self._dated(self._matching()).order_by(*self.order)
            page = fetch_page_with_total(query, self._paths(), limit=limit, offset=offset)
        else:
            page = self._fetched(self._matching(), limit, offset)
        return Page(self._shown(page.records), page.total)

    def _matching(self) -> Rows:
        rows = self.scope.rows()
        return rows if self.where is None else matching(rows, self.where.condition, self.where.needs)

    def _paths(self) -> list[str]:
        return list(dict.fromkeys(output.term.path for output in self.outputs))

    def _dated(self, rows: Rows) -> Rows:
        dates = {output.term.path: DateText(F(output.source)) for output in self.outputs if output.source}
        return rows.annotate(**dates) if dates else rows

    def _fetched(self, rows: Rows, limit: int, offset: int, *, shift: int = 0) -> Page[Any]:
        query = self._dated(rows).order_by(*self.order).values_list(*self._paths())
        if self.distinct:
            query = query.distinct()
        return fetch_page(query, self._count, limit=limit, offset=offset, shift=shift)

    def _is_deep(self, offset: int) -> bool:
        """Whether the rows before the page are so many that fetching them would cost; SQLite does not fetch them."""
        plain = not self.distinct and not self.scope.element and self.order != ["?"]
        return offset >= DEEP_OFFSET and plain and connection.vendor == "postgresql"

    def _is_counted_on_the_way(self) -> bool:
        """Whether the page has to visit every hit of the search index, and may count them in the same statement.

        PostgreSQL would expect a window over them to end with the page, and walk the table in its order instead.
        """
        searched = self.where is not None and bool(self.where.needs)
        return searched and not self.distinct and connection.vendor == "sqlite"

    def _by_id(self, offset: int, end: int) -> Rows:
        """The rows of a page far down, found by their ids: the way there needs the index alone."""
        key = self.scope.table.key
        ids = self._dated(self._matching()).order_by(*self.order).values(key)[offset:end]
        return self.scope.rows().filter(**{f"{key}__in": ids})

    def _is_tag_page(self, end: int) -> bool:
        tags = self.where.only_tags if self.where else None
        few = tags is not None and 0 < len(tags) <= TOP_TAGS_MAX and end <= TOP_ROWS_MAX
        return few and self.newest_first and not self.scope.element and self.scope.table.name == "cards"

    def _top_of_tags(self, end: int) -> Q:
        """The newest cards of each tag: the newest of them all are among these."""
        assert self.where is not None  # noqa: S101  `_is_tag_page` looked
        assert self.where.only_tags is not None  # noqa: S101
        tag_rows = self._tag_rows()
        newest = [
            tag_rows.filter(tag=tag).order_by("-created_at", "card_id").values("card_id")[:end]
            for tag in self.where.only_tags
        ]
        if len(newest) > 1 and connection.features.supports_slicing_ordering_in_compound:
            newest = [newest[0].union(*newest[1:])]
        return Q(*(Q(card_id__in=ids) for ids in newest), _connector=Q.OR)

    def _tag_rows(self) -> Rows:
        unnested = self.scope.table.unnested
        assert unnested is not None  # noqa: S101  only tables with tags have conditions on them
        return unnested(self.scope.workspace_id)

    def _count(self) -> int:
        if self.distinct:
            rows = self._dated(self._matching()).order_by().values_list(*self._paths())
            return rows.distinct().count()
        tags = self.where.only_tags if self.where else None
        if tags is not None and not self.scope.element:
            return self._tag_rows().filter(tag__in=tags).values(self.scope.table.key).distinct().count()
        return self._matching().order_by().count()

    def _shown(self, records: list[Sequence[object]]) -> list[Row]:
        position = {path: index for index, path in enumerate(self._paths())}
        order = [position[output.term.path] for output in self.outputs]
        names = [output.name for output in self.outputs]
        writers = [output.write for output in self.outputs]
        return as_rows(names, writers, [[record[index] for index in order] for record in records])
