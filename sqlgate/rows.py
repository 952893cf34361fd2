"""Values of the database as answers write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any, TypeAlias
from uuid import UUID

from flashcards.envelope import instant

Row: TypeAlias = dict[str, Any]
SIGNIFICANT_DIGITS = 12


def written(value: Any) -> Any:
    """A value as JSON: instants with milliseconds and Z, ids as text, everything else as it is."""
    if isinstance(value, datetime):
        return instant(value)
    if isinstance(value, UUID | date):
        return str(value)
    return value


def calculated(value: Any) -> Any:
    """The result of SUM or AVG: the last digits, which depend on the order of adding, are rounded away."""
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") if isinstance(value, float) else written(value)


Writer: TypeAlias = Callable[[Any], Any]


def as_rows(names: Sequence[str], writers: Sequence[Writer], records: Sequence[Sequence[Any]]) -> list[Row]:
    """One dict a record, under the output names in their order."""
    return [
        {name: write(value) for name, write, value in zip(names, writers, record, strict=True)} for record in records
    ]
