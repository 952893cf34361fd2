"""Which stored row an id in an archive means.

An id belongs to whoever used it first. Where it is taken, the row gets one that follows from the target and the old id
(UUID version 5), so that importing again finds the same row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple
from uuid import UUID, uuid5

Owners = Callable[[Iterable[UUID]], Mapping[UUID, UUID]]


class Resolved(NamedTuple):
    """The id of the row, and whether the target has it already."""

    id: UUID
    exists: bool


def resolve_ids(ids: Iterable[UUID], target: UUID, owners_of: Owners, *, is_new: bool = False) -> dict[UUID, Resolved]:
    """What each of `ids` means in `target`.

    `owners_of` tells, for those ids that are stored, what they belong to. A row that `target` has under the id itself
    or under the derived one is found again; else the row takes the first of the two that is free. A derived id that is
    taken elsewhere, too, is derived from in turn. `is_new` says that the target has no rows yet: one look-up less.
    """
    resolved: dict[UUID, Resolved] = {}
    asked = {old: old for old in ids}
    while asked:
        owners = dict(owners_of(asked.values()))
        derived = {
            id_: uuid5(target, str(id_)) for id_ in asked.values() if _may_be_derived(id_, target, owners, is_new)
        }
        owners |= owners_of(derived.values()) if derived else {}
        again: dict[UUID, UUID] = {}
        for old, id_ in asked.items():
            choice = _choose((id_, derived.get(id_)), target, owners)
            if choice:
                resolved[old] = choice
            else:
                again[old] = derived[id_]
        asked = again
    return resolved


def _may_be_derived(id_: UUID, target: UUID, owners: Mapping[UUID, UUID], is_new: bool) -> bool:
    owner = owners.get(id_)
    return not is_new if owner is None else owner != target


def _choose(candidates: Iterable[UUID | None], target: UUID, owners: Mapping[UUID, UUID]) -> Resolved | None:
    named = [id_ for id_ in candidates if id_ is not None]
    for id_ in named:
        if owners.get(id_) == target:
            return Resolved(id_, exists=True)
    return next((Resolved(id_, exists=False) for id_ in named if id_ not in owners), None)
