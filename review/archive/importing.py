"""Reading an archive into a workspace: everything or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, BinaryIO
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from accounts.models import Membership, User
from accounts.services import ensure_user
from flashcards.content import ContentRefused
from flashcards.models import Workspace
from flashcards.statistics import refresh_statistics
from review.archive.contents import Contents, Entry, Progress, look_through, no_progress, seekable
from review.archive.faults import ArchiveRefused, Fault, Faults
from review.archive.fields import WORKSPACE_RULES, FieldRule, read_entry
from review.archive.identity import resolve_ids
from review.archive.json_stream import NotJson
from review.archive.kinds import KINDS, Kind, Placed, Row, Target

ROWS_MAX = 1000
CHARACTERS_MAX = 2_000_000
NOBODY = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import stored: the workspace, whether it is new, and how many entries each list had."""

    workspace: Workspace
    is_new: bool
    counts: Mapping[str, int]


def import_archive(
    file: BinaryIO,
    *,
    email: str,
    now: datetime,
    name: str | None = None,
    progress: Progress = no_progress,
) -> Imported:
    """Store the archive in `file` as a workspace of the user with that clean address, who is made if need be.

    The file is looked through once and then read list by list in the order cards, decks, review events, whatever its
    own order; one that can be read only once, such as a pipe, is copied to disk first. All storing happens in one
    transaction (a savepoint inside an open one), which begins once the file is known to be JSON from end to end.
    Memory stays bounded: rows go to the database in batches, and what is kept are the ids of one list.

    `name` overrides the workspace's name. `progress` is called with the list's name, the entries done and their number.

    Raises ArchiveRefused with the first ten faults.
    """
    faults = Faults()
    try:
        with seekable(file) as source:
            contents = look_through(source, faults)
            with transaction.atomic():
                owner = ensure_user(email, now=now)
                workspace, is_new = _store_workspace(contents.workspace, faults, owner=owner, name=name, now=now)
                for kind in KINDS:
                    _import_list(kind, contents, Target(workspace, is_new, now), faults, progress)
                faults.end()
                refresh_statistics()
                return Imported(workspace, is_new, contents.counts)
    except NotJson as refusal:
        raise ArchiveRefused([Fault("", f"changed while it was read: it {refusal}")]) from None
    except IntegrityError:
        raise ArchiveRefused([Fault("", "met rows that were written at the same moment; import it again")]) from None


def _read_row(value: object, place: str, rules: Mapping[str, FieldRule], faults: Faults) -> Row | None:
    row: Row = {}
    is_sound = True
    for field, outcome in read_entry(value, rules):
        if isinstance(outcome, ContentRefused):
            faults.add(f"{place}.{field}" if field else place, outcome.message)
            is_sound = False
        row[field] = outcome
    return row if is_sound else None


# The workspace


def _store_workspace(
    value: object, faults: Faults, *, owner: User, name: str | None, now: datetime
) -> tuple[Workspace, bool]:
    if name is not None and isinstance(value, dict):
        value = value | {"name": name}
    row = None if value is None else _read_row(value, "workspace", WORKSPACE_RULES, faults)
    if row is None:
        return Workspace(), True
    old = row.pop("workspace_id")
    id_, exists = resolve_ids([old], owner.id, lambda ids: _owners_of_workspaces(ids, owner))[old]
    workspace = Workspace.objects.get(pk=id_) if exists else Workspace(workspace_id=id_, created_at=now)
    for field, stored in row.items():
        setattr(workspace, field, stored)
    workspace.save(force_insert=not exists, force_update=exists)
    if not exists:
        Membership.objects.create(user=owner, workspace=workspace)
    return workspace, not exists


def _owners_of_workspaces(ids: Iterable[UUID], owner: User) -> dict[UUID, UUID]:
    found = Workspace.objects.filter(pk__in=list(ids)).values_list("pk", flat=True)
    owned = set(Membership.objects.filter(user=owner, workspace__in=found).values_list("workspace_id", flat=True))
    return {id_: owner.id if id_ in owned else NOBODY for id_ in found}


# The lists


def _import_list(kind: Kind[Any], contents: Contents, target: Target, faults: Faults, progress: Progress) -> None:
    seen: set[int] = set()
    done, total = 0, contents.counts[kind.name]
    for batch in _batches(contents.entries(kind.name)):
        placed = [each for entry in batch if (each := _checked(kind, entry, faults))]
        if not faults:
            _place(kind, placed, target, seen, faults)
        if not faults:
            _store(kind, placed, target)
        done += len(batch)
        progress(kind.name, done, total)


def _batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    characters = 0
    for entry in entries:
        batch.append(entry)
        characters += entry.characters
        if len(batch) >= ROWS_MAX or characters >= CHARACTERS_MAX:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _checked(kind: Kind[Any], entry: Entry, faults: Faults) -> Placed | None:
    row = _read_row(entry.value, entry.place, kind.rules, faults)
    if row is None:
        return None
    for field, message in kind.faults_of(row):
        faults.add(f"{entry.place}.{field}", message)
    return Placed(entry, row)


def _place(kind: Kind[Any], placed: Sequence[Placed], target: Target, seen: set[int], faults: Faults) -> None:
    kind.link(placed, target)
    ids = [each.row[kind.key] for each in placed]
    resolved = resolve_ids(ids, target.id, kind.owners_of, is_new=target.is_new)
    for each in placed:
        each.id, each.exists = resolved[each.row[kind.key]]
        each.row[kind.key] = each.id
        # Numbers take half the memory of UUIDs, and there may be hundreds of thousands.
        if each.id.int in seen:
            faults.add(f"{each.entry.place}.{kind.key}", "is the one of an earlier entry")
        seen.add(each.id.int)
    kind.check_stored(placed, target, faults)


def _store(kind: Kind[Any], placed: Sequence[Placed], target: Target) -> None:
    rows = kind.model._default_manager
    known = rows.in_bulk([each.id for each in placed if each.exists])
    stored = {id_: {field: getattr(row, field) for field in kind.rules} for id_, row in known.items()}
    new, changed = [], []
    for each in placed:
        row = {field: stored[each.id][field] for field in kind.filled} | each.row if each.exists else each.row
        kind.fill(row, target.now + timedelta(microseconds=each.entry.index))
        if not each.exists:
            new.append(kind.build(row, target))
        elif row != stored[each.id]:
            changed.append(kind.build(row, target))
    rows.bulk_create(new)
    if changed:
        fields = [field for field in kind.rules if field != kind.key]
        rows.bulk_create(
            changed, update_conflicts=True, unique_fields=[kind.key], update_fields=[*fields, *kind.derived]
        )
    kind.stored(new + changed)
    if connection.vendor == "postgresql":
        # Foreign keys are checked here and now: left to COMMIT, half a million of them outlast its time limit.
        connection.check_constraints()
