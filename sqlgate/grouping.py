"""SELECT with GROUP BY or aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Aggregate as DatabaseAggregate
from django.db.models import (
    Avg,
    BigIntegerField,
    Count,
    DateTimeField,
    F,
    Field,
    FloatField,
    Max,
    Min,
    OrderBy,
    Q,
    Sum,
    TextField,
    Value,
)
from django.db.models.functions import Cast

from flashcards.models import Workspace
from sqlgate import ast
from sqlgate.conditions import Compiled
from sqlgate.errors import Fault, Reason, shown
from sqlgate.expressions import DateText
from sqlgate.predicates import compile_condition
from sqlgate.rows import Row, as_rows, calculated, written
from sqlgate.schema import NOUNS, Kind, Rows
from sqlgate.scope import GroupScope, RowScope, Term
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

NUMERIC = (Kind.INTEGER, Kind.NUMBER)
COMPARABLE = (*NUMERIC, Kind.TEXT, Kind.TIMESTAMP)
GROUP_EXAMPLE = "SELECT card_type, COUNT(*) AS n FROM cards GROUP BY card_type ORDER BY n DESC"


class GroupedSelect:
    """A SELECT whose rows are groups of rows, or the one group of them all."""

    def __init__(self, statement: ast.Select, scope: RowScope, where: Compiled | None) -> None:
        self.statement = statement
        self.scope = scope
        self.where = where
        self.aggregates: dict[tuple[str, str, bool], tuple[Term, DatabaseAggregate]] = {}
        self.dates: dict[str, str] = {}
        if not statement.items:
            message = "SELECT * does not go with GROUP BY or HAVING. Name the group keys and aggregates."
            raise Fault(Reason.GROUPING, message, statement.at, example=GROUP_EXAMPLE)
        self.keys = self._keys()
        self.outputs = [self._output(item) for item in statement.items]
        check_names(self.outputs)
        if not self.keys and not self.aggregates:
            self._refuse_having_of_rows()
        self.having = (
            compile_condition(statement.having, self._group_scope()).condition if statement.having is not None else None
        )
        self.order = self._order()

    def _refuse_having_of_rows(self) -> None:
        message = "HAVING looks at groups: it needs GROUP BY or an aggregate. Conditions on rows go to WHERE."
        raise Fault(Reason.GROUPING, message, self.statement.at, example=GROUP_EXAMPLE)

    # Group keys

    def _keys(self) -> dict[str, Term]:
        keys: dict[str, Term] = {}
        for node in self.statement.group_by:
            term = self._key(node)
            if term.kind in (Kind.JSON, Kind.INTEGERS) or term.name == "deleted_at":
                message = f"GROUP BY cannot compare {term.name}."
                raise Fault(Reason.NOT_GROUPABLE, message, node.at, example=GROUP_EXAMPLE)
            keys[term.path] = term
        return keys

    def _key(self, node: ast.Column | ast.DateOf) -> Term:
        if isinstance(node, ast.DateOf):
            return self._date(node)
        if node.table is None and node.name not in self.scope.names:
            item = next((item for item in self.statement.items if item.alias and item.alias.text == node.name), None)
            if item is not None:
                return self._key_of_item(item.term, node)
        return self.scope.column(node)

    def _key_of_item(self, term: ast.Term, node: ast.Column) -> Term:
        if isinstance(term, ast.Column):
            return self.scope.column(term)
        if isinstance(term, ast.DateOf):
            return self._date(term)
        message = f"GROUP BY {shown(node.written)} would group by an aggregate. Group by a column or DATE(column)."
        raise Fault(Reason.GROUPING, message, node.at, example=GROUP_EXAMPLE)

    def _date(self, node: ast.DateOf) -> Term:
        source = self.scope.column(node.column).path
        term, source = dated(node, self.scope, f"date_of_{source}")
        self.dates[term.path] = source
        return term

    # Outputs

    def _output(self, item: ast.Item) -> Output:
        match item.term:
            case ast.Aggregate() as node:
                term = self.aggregate(node)
                name = (
                    "count"
                    if node.function == "count"
                    else f"{node.function}_{node.column.name if node.column else ''}"
                )
                return Output.of(item, name, term, write=calculated if node.function in ("sum", "avg") else written)
            case ast.Column() as node:
                return Output.of(item, node.name, self._grouped(self.scope.column(node), node))
            case ast.DateOf() as node:
                return Output.of(item, f"date_{node.column.name}", self._grouped(self._date(node), node))
            case _:
                raise no_such_output(item.term)

    def _grouped(self, term: Term, node: ast.Column | ast.DateOf) -> Term:
        if term.path in self.keys:
            return term
        message = f"{term.name} is neither in GROUP BY nor inside an aggregate."
        raise Fault(Reason.GROUPING, message, node.at, example=GROUP_EXAMPLE)

    def aggregate(self, node: ast.Aggregate) -> Term:
        """The term of an aggregate; the same aggregate is computed once."""
        column = self.scope.column(node.column) if node.column else None
        identity = (node.function, column.path if column else "*", node.distinct)
        if identity not in self.aggregates:
            path = f"aggregate_{len(self.aggregates)}"
            self.aggregates[identity] = _aggregate(node, column, path)
        return replace(self.aggregates[identity][0], at=node.at)

    # Conditions and order

    def _group_scope(self) -> GroupScope:
        return GroupScope(
            self.scope,
            outputs={output.name: output.term for output in self.outputs},
            keys={term.name: term for term in self.keys.values()},
            aggregate=self.aggregate,
            date=self._date_key,
        )

    def _date_key(self, node: ast.DateOf) -> Term | None:
        term = self._date(node)
        return replace(term, at=node.at) if term.path in self.keys else None

    def _order(self) -> Sequence[OrderBy | str]:
        order_by = self.statement.order_by
        if order_by == ():
            if self._drops_keys():
                message = "DISTINCT and ORDER BY RANDOM() do not go together."
                raise Fault(Reason.DISTINCT_ORDER, message, self.statement.at, example=GROUP_EXAMPLE)
            return ["?"]
        keys = order_keys(order_by or (), self._order_term)
        ties = {output.term.path: output.term for output in self.outputs} if self._drops_keys() else self.keys
        return [*keys, *(ordered(term) for term in ties.values())]

    def _order_term(self, node: ast.Column) -> Term:
        outputs = {output.name: output.term for output in self.outputs}
        found = (outputs.get(node.name) if node.table is None else None) or self._key_named(node)
        if found is None:
            message = f"ORDER BY {shown(node.written)}: groups are ordered by their keys and by output names."
            known = tuple(outputs)
            raise Fault(Reason.GROUPING, message, node.at, known=known, wrong_name=node.name, example=GROUP_EXAMPLE)
        if self._drops_keys() and found.path not in {term.path for term in outputs.values()}:
            message = f"ORDER BY {shown(node.written)}: with DISTINCT, only what is selected can be ordered by."
            raise Fault(Reason.DISTINCT_ORDER, message, node.at, known=tuple(outputs), example=GROUP_EXAMPLE)
        return found

    def _key_named(self, node: ast.Column) -> Term | None:
        if node.name not in self.scope.names:
            return None
        return self.keys.get(self.scope.column(node).path)

    def _drops_keys(self) -> bool:
        """Whether DISTINCT may make one row of several groups."""
        selected = {output.term.path for output in self.outputs}
        return self.statement.distinct and not set(self.keys) <= selected

    # Results

    def page(self, limit: int, offset: int) -> Page[Row]:
        """Up to limit + 1 groups, and how many there are in all."""
        rows = self.scope.rows()
        if self.where is not None:
            rows = matching(rows, self.where.condition, self.where.needs)
        if not self.keys:
            return self._one_group(rows, offset)
        groups = self._groups(rows).order_by(*self.order)
        paths = list(dict.fromkeys(output.term.path for output in self.outputs))
        if self._drops_keys():
            query = groups.values_list(*paths).distinct()
            page = fetch_page(query, query.order_by().count, limit=limit, offset=offset)
        else:
            page = fetch_page_with_total(groups, paths, limit=limit, offset=offset)
        return Page(self._written([dict(zip(paths, record, strict=True)) for record in page.records]), page.total)

    def _groups(self, rows: Rows) -> Rows:
        dates = {path: DateText(F(source)) for path, source in self.dates.items()}
        aggregates = {term.path: value for term, value in self.aggregates.values()}
        groups: Rows = rows.annotate(**dates).values(*self.keys).annotate(**aggregates, group_size=Count("*"))
        return groups if self.having is None else groups.filter(self.having)

    def _written(self, records: list[dict[str, Any]]) -> list[Row]:
        names = [output.name for output in self.outputs]
        writers = [output.write for output in self.outputs]
        return as_rows(names, writers, [[record[output.term.path] for output in self.outputs] for record in records])

    def _one_group(self, rows: Rows, offset: int) -> Page[Row]:
        values = {term.path: value for term, value in self.aggregates.values()}
        found = rows.order_by().aggregate(**values)
        total = 1 if self.having is None or self._holds(self.having, found) else 0
        return Page(self._written([found] if total and not offset else []), total)

    def _holds(self, having: Q, found: dict[str, Any]) -> bool:
        """Whether the one group fulfils HAVING: asked of the database, on the workspace's own row."""
        constants = {term.path: _constant(found[term.path], term.kind) for term, _ in self.aggregates.values()}
        one = Workspace.objects.filter(workspace_id=self.scope.workspace_id).annotate(**constants)
        return one.filter(having).exists()


_FIELDS: dict[Kind, type[Field[Any, Any]]] = {
    Kind.INTEGER: BigIntegerField,
    Kind.NUMBER: FloatField,
    Kind.TEXT: TextField,
    Kind.TIMESTAMP: DateTimeField,
}


def _constant(value: Any, kind: Kind) -> Value | Cast:
    """`value` as an expression; a NULL has to be told its type."""
    constant = Value(value, output_field=_FIELDS[kind]())
    return constant if value is not None else Cast(constant, _FIELDS[kind]())


def _aggregate(node: ast.Aggregate, column: Term | None, path: str) -> tuple[Term, DatabaseAggregate]:
    function = node.function
    if function == "count":
        if node.distinct and column is not None and column.kind in (Kind.JSON, Kind.INTEGERS):
            raise Fault(
                Reason.NOT_GROUPABLE, f"COUNT(DISTINCT …) cannot compare {column.name}.", node.at, example=GROUP_EXAMPLE
            )
        value: DatabaseAggregate = Count(F(column.path) if column else "*", distinct=node.distinct)
        return _term("COUNT", Kind.INTEGER, path, node, nullable=False), value
    if column is None:
        message = f"{function.upper()} takes the name of one column."
        raise Fault(Reason.SYNTAX_ERROR, message, node.at, example="SELECT SUM(reps) FROM cards")
    if column.kind not in (NUMERIC if function in ("sum", "avg") else COMPARABLE) or not column.sortable:
        raise _wrong_aggregate(node, column)
    name = f"{function.upper()}({column.name})"
    if function == "avg":
        return _term(name, Kind.NUMBER, path, node), Avg(F(column.path), output_field=FloatField())
    if function == "sum":
        output = BigIntegerField() if column.kind is Kind.INTEGER else FloatField()
        return _term(name, column.kind, path, node), Sum(F(column.path), output_field=output)
    kind = Min if function == "min" else Max
    return _term(name, column.kind, path, node), kind(F(column.path))


def _term(name: str, kind: Kind, path: str, node: ast.Aggregate, *, nullable: bool = True) -> Term:
    return Term(name, kind, path, node.at, nullable=nullable, integer_max=2**63 - 1)


def _wrong_aggregate(node: ast.Aggregate, column: Term) -> Fault:
    function = node.function.upper()
    takes = "a numeric column" if node.function in ("sum", "avg") else "a numeric, text or timestamp column"
    message = f"{function} takes {takes}, and {column.name} is {NOUNS[column.kind]}."
    example = f"SELECT {function}(reps) FROM cards"
    return Fault(Reason.TYPE_MISMATCH, message, node.at, example=example)
