"""Workspaces of a user: which one a call works in, and how they are listed, made and selected."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core import signing
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.errors import WorkspaceNotFound, WorkspaceSelectionRequired
from accounts.models import Connection, Membership, User
from flashcards.envelope import instant
from flashcards.errors import Advice, InvalidRequest, validation_issue
from flashcards.models import Card, Workspace
from flashcards.outcome import committed

FIRST_WORKSPACE_NAME = "Personal"
PAGE_MAX = 100

MAKE_FIRST = Advice(
    rest='There is no workspace yet. Make one: POST /v1/agent/workspaces with {"name": "Personal"}.',
    mcp="There is no workspace yet. Ask the user to make one on the settings page of this service.",
)


def owned_workspaces(user: User) -> QuerySet[Workspace]:
    """The user's workspaces, oldest first."""
    return Workspace.objects.filter(memberships__user=user).order_by("created_at", "workspace_id")


def resolve_workspace(user: User, *, workspace_id: UUID | None, selected_id: UUID | None) -> Workspace:
    """The workspace a call works in: the one named, else the one selected, else the user's only one.

    Raises WorkspaceNotFound for one that is not the user's, WorkspaceSelectionRequired when none is determined.
    """
    if workspace_id is not None:
        workspace = owned_workspaces(user).filter(workspace_id=workspace_id).first()
        if workspace is None:
            raise WorkspaceNotFound("There is no such workspace.")
        return workspace
    choice = list(owned_workspaces(user))
    if len(choice) == 1:
        return choice[0]
    for workspace in choice:
        if workspace.workspace_id == selected_id:
            return workspace
    raise WorkspaceSelectionRequired(
        "Several workspaces exist and none is selected." if choice else "There is no workspace yet.",
        details={"workspaces": [workspace_choice(workspace) for workspace in choice]},
        instructions=None if choice else MAKE_FIRST,
    )


def workspace_choice(workspace: Workspace) -> dict[str, str]:
    """A workspace as an entry to choose from."""
    return {
        "workspaceId": str(workspace.workspace_id),
        "name": workspace.name,
        "createdAt": instant(workspace.created_at),
    }


@dataclass(frozen=True, slots=True)
class Selection:
    """Where a connection stands: how many workspaces its user has, and the one its calls work in by default."""

    count: int
    workspace_id: UUID | None


def current_selection(user: User, *, selected_id: UUID | None) -> Selection:
    """The selection as `resolve_workspace` would find it; one query."""
    owned = list(Membership.objects.filter(user=user).values_list("workspace_id", flat=True))
    if len(owned) == 1:
        return Selection(1, owned[0])
    return Selection(len(owned), selected_id if selected_id in owned else None)


@dataclass(frozen=True, slots=True)
class WorkspacePage:
    """Workspaces as answers show them (isSelected apart), and the cursor of the next page, None on the last."""

    entries: list[dict[str, Any]]
    next_cursor: str | None


def page_of_workspaces(user: User, *, limit: int | None = None, cursor: str | None = None) -> WorkspacePage:
    """The user's workspaces, oldest first, with card count and last activity; one query, whatever they hold.

    Without `limit` every one. Raises InvalidRequest for a cursor that was not given to this user.
    """
    rows = _with_activity(owned_workspaces(user))
    if cursor is not None:
        rows = rows.filter(_after(*_read_cursor(user, cursor)))
    found = list(rows if limit is None else rows[: limit + 1])
    page = found[:limit]
    more = len(found) > len(page)
    return WorkspacePage([_entry(row) for row in page], _write_cursor(user, page[-1]) if more else None)


def _with_activity(workspaces: QuerySet[Workspace]) -> QuerySet[Workspace]:
    # Each figure is a look-up in an index that begins with the workspace: no workspace's cards are read to tell
    # when the last of them changed.
    cards = Card.objects.in_workspace(OuterRef("workspace_id")).live()  # type: ignore[arg-type]  # a reference, not an id
    count = cards.order_by().values("workspace_id").annotate(count=Count("card_id")).values("count")
    updated = cards.order_by("-updated_at").values("updated_at")[:1]
    reviewed = cards.filter(fsrs_last_reviewed_at__isnull=False).order_by("-fsrs_last_reviewed_at")
    return workspaces.annotate(
        card_count=Coalesce(Subquery(count), 0),
        last_updated_at=Subquery(updated),
        last_reviewed_at=Subquery(reviewed.values("fsrs_last_reviewed_at")[:1]),
    )


def workspace_entry(workspace: Workspace) -> dict[str, Any]:
    """One workspace as a page of them shows it."""
    return _entry(_with_activity(Workspace.objects.filter(pk=workspace.pk)).get())


def _entry(row: Any) -> dict[str, Any]:
    moments = (row.created_at, row.last_updated_at, row.last_reviewed_at)
    latest = max(moment for moment in moments if moment is not None)
    return workspace_choice(row) | {"cardCount": row.card_count, "lastActivityAt": instant(latest)}


def _after(created_at: datetime, workspace_id: UUID) -> Q:
    return Q(created_at__gt=created_at) | Q(created_at=created_at, workspace_id__gt=workspace_id)


def _cursor_salt(user: User) -> str:
    return f"accounts.workspaces:{user.id}"


def _write_cursor(user: User, last: Workspace) -> str:
    return signing.dumps([last.created_at.isoformat(), str(last.workspace_id)], salt=_cursor_salt(user))


def _read_cursor(user: User, cursor: str) -> tuple[datetime, UUID]:
    try:
        created_at, workspace_id = signing.loads(cursor, salt=_cursor_salt(user))
    except signing.BadSignature:
        message = "cursor must be the nextCursor of an earlier answer."
        raise InvalidRequest(message, [validation_issue("cursor", "invalid_cursor", message)]) from None
    return datetime.fromisoformat(created_at), UUID(workspace_id)


def create_workspace(user: User, *, name: str, now: datetime) -> Workspace:
    """A new workspace of `user` under a clean name."""
    with committed():
        workspace = Workspace.objects.create(name=name, created_at=now)
        Membership.objects.create(user=user, workspace=workspace, created_at=now)
    return workspace


def create_selected_workspace(connection: Connection, *, name: str, now: datetime) -> Workspace:
    """A new workspace of the connection's user, selected for that connection."""
    with committed():
        workspace = create_workspace(connection.user, name=name, now=now)
        select_workspace(connection, workspace)
    return workspace


def select_workspace(connection: Connection, workspace: Workspace | None) -> None:
    """Let calls of this connection, and of no other, work in `workspace` when they name none."""
    type(connection)._default_manager.filter(pk=connection.pk).update(selected_workspace=workspace)


def ensure_first_workspace(user: User, *, now: datetime) -> None:
    """Make "Personal" for a user who has no workspace; one even when several sign-ins run at once."""
    with committed():
        hold_user(user)
        if not user.memberships.exists():
            create_workspace(user, name=FIRST_WORKSPACE_NAME, now=now)


def ensure_named_workspace(user: User, *, name: str, now: datetime) -> Workspace:
    """The user's oldest workspace of that name, made when there is none; one even in parallel."""
    with committed():
        hold_user(user)
        return owned_workspaces(user).filter(name=name).first() or create_workspace(user, name=name, now=now)


def hold_user(user: User) -> None:
    """Make others who call this for the same user wait until this transaction ends.

    PostgreSQL locks the row, against each other but not against rows that refer to it; on SQLite the transaction is
    the only writer already.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
