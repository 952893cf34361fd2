"""Writing a workspace as an archive."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from flashcards.models import Card, Deck, Workspace
from flashcards.snapshot import snapshot
from review.archive.contents import FORMAT, VERSION, Progress, no_progress
from review.archive.fields import CARD_RULES, DECK_RULES, EVENT_RULES, WORKSPACE_RULES, FieldRule
from review.models import ReviewEvent

ROWS_AT_ONCE = 1000


def export_archive(workspace: Workspace, *, progress: Progress = no_progress) -> Iterator[str]:
    """The archive of `workspace` in pieces of text, one entry a line, from one state of the data.

    The same workspace gives the same bytes on every database, and again after it was imported elsewhere. Oldest rows
    come first, those in the trash last. `progress` is called with the list's name, the entries done and their number.
    """
    with snapshot():
        fields = Workspace.objects.filter(pk=workspace.pk).values(*WORKSPACE_RULES).get()
        yield f'{{"format":"{FORMAT}","version":{VERSION},\n"workspace":{_json(fields)}'
        yield from _list("cards", CARD_RULES, _live_first(Card.objects.in_workspace(workspace), "card_id"), progress)
        yield from _list("decks", DECK_RULES, _live_first(Deck.objects.in_workspace(workspace), "deck_id"), progress)
        events = ReviewEvent.objects.in_workspace(workspace).order_by("reviewed_at_server", "-review_event_id")
        yield from _list("review_events", EVENT_RULES, [events], progress)
        yield "}\n"


def _live_first(rows: QuerySet[Any], key: str) -> list[QuerySet[Any]]:
    # The index of the newest rows serves this order backwards, without a sort.
    ordered = rows.order_by("created_at", f"-{key}")
    return [ordered.filter(deleted_at__isnull=True), ordered.filter(deleted_at__isnull=False)]


def _list(name: str, rules: Mapping[str, FieldRule], parts: list[QuerySet[Any]], progress: Progress) -> Iterator[str]:
    total = sum(part.count() for part in parts)
    yield f',\n"{name}":['
    done = 0
    for part in parts:
        for row in part.values(*rules).iterator(chunk_size=ROWS_AT_ONCE):
            yield f"{',' if done else ''}\n{_json(row)}"
            done += 1
            if done % ROWS_AT_ONCE == 0 or done == total:
                progress(name, done, total)
    yield "\n]" if done else "]"


def _json(row: Mapping[str, Any]) -> str:
    return json.dumps({name: _plain(value) for name, value in row.items()}, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, UUID):
        return str(value)
    # PostgreSQL does not keep the order of a JSON object's keys.
    return _sorted(value) if isinstance(value, dict | list) else value


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(inner) for inner in value] if isinstance(value, list) else value
