"""What an agent can do about accounts: sign in, see who it is, and choose a workspace."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any

from django.conf import settings
from django.utils import timezone
from pydantic import AfterValidator, BeforeValidator, Field

from accounts.auth import Principal
from accounts.errors import (
    InvalidEmail,
    OtpCodeInvalid,
    OtpSendFailed,
    OtpSessionExpired,
    OtpTooManyAttempts,
    WorkspaceNotFound,
)
from accounts.login import issue_key_for_code
from accounts.login import send_code as mail_code
from accounts.models import LABEL_LENGTH_MAX, ApiKey
from accounts.services import clean_label, preferred_locale
from accounts.workspaces import (
    MAKE_FIRST,
    PAGE_MAX,
    Selection,
    create_selected_workspace,
    current_selection,
    page_of_workspaces,
    workspace_entry,
)
from accounts.workspaces import select_workspace as select_for_connection
from flashcards.content import NAME_LENGTH_MAX, clean_workspace_name
from flashcards.envelope import Reply, instant, instant_or_none
from flashcards.errors import Advice, RateLimited
from flashcards.models import Workspace
from flashcards.operation import Call, Data, Effect, NoParams, Params, UuidText, operation

_READY = Advice(
    rest="Ready: a workspace is selected. To write cards, read GET /v1/agent/guide/card_authoring and "
    "/v1/agent/guide/sql_dialect, then POST /v1/agent/sql/execute (and /v1/agent/sql/query to read). To study, read "
    "GET /v1/agent/guide/review_flow, then POST /v1/agent/reviews/next.",
    mcp="Ready: a workspace is selected. To write cards, get_guide with card_authoring and sql_dialect, then "
    "sql_execute (and sql_query to read). To study, get_guide with review_flow, then next_review_card.",
)
_CHOOSE = Advice(
    rest="Several workspaces exist and none is selected. Ask the user which one (GET /v1/agent/workspaces lists them), "
    "then POST /v1/agent/workspaces/{workspaceId}/select, or send workspaceId with each request.",
    mcp="Several workspaces exist and none is selected. Ask the user which one to use, then pass its workspaceId with "
    "each call.",
)


def next_step(selection: Selection) -> Advice:
    """What fits the state the caller is in: make a workspace, choose one, or go on."""
    if selection.workspace_id is not None:
        return _READY
    return _CHOOSE if selection.count else MAKE_FIRST


class SendCodeParams(Params):
    """Whom to send a code."""

    email: str = Field(
        description="The user's e-mail address; their account is made at the first sign-in.",
        examples=["ada@example.com"],
    )


class SendCodeData(Data):
    """What to hand in together with the code."""

    email: str
    otp_session_token: str
    expires_in_seconds: int
    auth_base_url: str
    api_base_url: str


@operation(
    title="Send a sign-in code",
    params=SendCodeParams,
    data=SendCodeData,
    description="Mails an 8-digit sign-in code to the user and returns the otpSessionToken that verify_code takes with "
    "it. The answer is the same whether or not an account exists.",
    effect=Effect.WRITE,
    login=False,
    errors=(InvalidEmail, RateLimited, OtpSendFailed),
)
def send_code(call: Call[Principal], params: SendCodeParams) -> Reply:
    """Mail a code."""
    sent = mail_code(
        email=params.email,
        client_address=call.client_address,
        locale=preferred_locale(call.accept_language),
        now=timezone.now(),
    )
    data = {
        "email": sent.email,
        "otpSessionToken": sent.token,
        "expiresInSeconds": sent.expires_in_seconds,
        "authBaseUrl": settings.PUBLIC_AUTH_BASE_URL,
        "apiBaseUrl": settings.PUBLIC_API_BASE_URL,
    }
    return Reply(data, _ASK_FOR_CODE, actions=[_verify_action(sent.token)])


_ASK_FOR_CODE = (
    "Ask the user for the 8-digit code from the newest mail, then POST /api/agent/verify-code with code, "
    "otpSessionToken and a label that names this agent. If no mail arrives, let the user check the address and the "
    "spam folder; without a mail server it is in the output of the server."
)


def _verify_action(token: str) -> dict[str, Any]:
    return {
        "name": "verify_code",
        "method": "POST",
        "url": f"{settings.PUBLIC_AUTH_BASE_URL}/api/agent/verify-code",
        "body": {"code": "<8 digits from the mail>", "otpSessionToken": token, "label": "<name of this agent>"},
    }


class VerifyCodeParams(Params):
    """The code with its token, and a name for the key."""

    code: str = Field(description="The 8 digits from the newest mail.", examples=["04821937"])
    otp_session_token: str = Field(
        description="The otpSessionToken that send_code returned.", examples=["7K3MX0QZ4R8TB2WN9CJD"]
    )
    label: Annotated[str, AfterValidator(clean_label)] = Field(
        description=f"What the user will know this connection by, 1 to {LABEL_LENGTH_MAX} characters.",
        examples=["Claude Code on my laptop"],
    )


class ConnectionData(Data):
    """One connection of the account."""

    connection_id: UuidText
    label: str
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


class VerifyCodeData(Data):
    """The key, shown this once."""

    api_key: str
    authorization_scheme: str
    api_base_url: str
    connection: ConnectionData


@operation(
    title="Sign in with the code",
    params=VerifyCodeParams,
    data=VerifyCodeData,
    description="Exchanges the mailed code for an API key, which is shown this once. The first sign-in makes the "
    "account and its first workspace.",
    effect=Effect.WRITE,
    login=False,
    errors=(OtpCodeInvalid, OtpSessionExpired, OtpTooManyAttempts),
)
def verify_code(call: Call[Principal], params: VerifyCodeParams) -> Reply:
    """Exchange a code for a key."""
    issued = issue_key_for_code(
        code=params.code,
        token=params.otp_session_token,
        label=params.label,
        locale=preferred_locale(call.accept_language),
        now=timezone.now(),
    )
    data = {
        "apiKey": issued.text,
        "authorizationScheme": "ApiKey",
        "apiBaseUrl": settings.PUBLIC_API_BASE_URL,
        "connection": _connection(issued.connection),
    }
    step = next_step(current_selection(issued.connection.user, selected_id=None))
    return Reply(data, f"Keep apiKey; it is shown this once. Send it as `Authorization: ApiKey <key>`. {step.rest}")


def _connection(key: ApiKey) -> dict[str, Any]:
    return {
        "connectionId": str(key.id),
        "label": key.label,
        "createdAt": instant(key.created_at),
        "lastUsedAt": instant_or_none(key.last_used_at),
        "revokedAt": instant_or_none(key.revoked_at),
    }


class ProfileData(Data):
    """The user's account."""

    email: str
    locale: str
    created_at: datetime


class MeData(Data):
    """Who is calling, and where their calls work."""

    user_id: UuidText
    selected_workspace_id: UuidText | None
    auth_transport: str
    profile: ProfileData


@operation(
    title="Who am I",
    params=NoParams,
    data=MeData,
    description="The user of this key, and the workspace that calls work in when they name none.",
    idempotent=True,
)
def me(call: Call[Principal], params: NoParams) -> Reply:  # noqa: ARG001  every operation takes its arguments
    """Who is calling."""
    user, selection = call.principal.user, _selection(call)
    data = {
        "userId": str(user.id),
        "selectedWorkspaceId": selection.workspace_id and str(selection.workspace_id),
        "authTransport": "api_key",
        "profile": {"email": user.email, "locale": user.locale, "createdAt": instant(user.created_at)},
    }
    return Reply(data, next_step(selection))


def _selection(call: Call[Principal]) -> Selection:
    return current_selection(call.principal.user, selected_id=call.principal.connection.selected_workspace_id)


def parse_limit(value: object) -> int:
    """A page size from a query string; ValueError unless it is a whole number from 1 to 100."""
    if isinstance(value, str) and re.fullmatch("[0-9]{1,3}", value) and 1 <= int(value) <= PAGE_MAX:
        return int(value)
    raise ValueError(f"must be a whole number from 1 to {PAGE_MAX}")


class PageParams(Params):
    """Which part of the list."""

    limit: Annotated[int, BeforeValidator(parse_limit)] = Field(
        PAGE_MAX, ge=1, le=PAGE_MAX, description="How many workspaces at most."
    )
    cursor: str | None = Field(None, description="nextCursor of the answer before; left out: from the start.")


class WorkspaceData(Data):
    """A workspace and how much is in it."""

    workspace_id: UuidText
    name: str
    created_at: datetime
    is_selected: bool
    card_count: int
    last_activity_at: datetime


class WorkspacesData(Data):
    """Workspaces, oldest first."""

    workspaces: list[WorkspaceData]


class WorkspacePageData(WorkspacesData):
    """One page of them; nextCursor is null on the last."""

    next_cursor: str | None


_LIST_DESCRIPTION = (
    "The user's workspaces, oldest first: their ids, whether this connection has one selected, how many cards each "
    "holds (suspended ones included, deleted ones not) and when something last happened in it."
)


@operation(
    title="List workspaces", params=NoParams, data=WorkspacesData, description=_LIST_DESCRIPTION, idempotent=True
)
def list_workspaces(call: Call[Principal], params: NoParams) -> Reply:  # noqa: ARG001  every operation takes its arguments
    """Every workspace at once, as the tool of this name returns it."""
    selection = _selection(call)
    page = page_of_workspaces(call.principal.user)
    return Reply({"workspaces": _marked(page.entries, selection)}, next_step(selection))


@operation(
    title="List workspaces", params=PageParams, data=WorkspacePageData, description=_LIST_DESCRIPTION, idempotent=True
)
def page_workspaces(call: Call[Principal], params: PageParams) -> Reply:
    """The list by pages, as REST returns it."""
    selection = _selection(call)
    page = page_of_workspaces(call.principal.user, limit=params.limit, cursor=params.cursor)
    data = {"workspaces": _marked(page.entries, selection), "nextCursor": page.next_cursor}
    return Reply(data, _MORE if page.next_cursor else next_step(selection))


_MORE = "There are more workspaces: GET /v1/agent/workspaces again with cursor set to nextCursor."


def _marked(entries: list[dict[str, Any]], selection: Selection) -> list[dict[str, Any]]:
    selected = selection.workspace_id and str(selection.workspace_id)
    return [entry | {"isSelected": entry["workspaceId"] == selected} for entry in entries]


class CreateWorkspaceParams(Params):
    """What to call it."""

    name: Annotated[str, AfterValidator(clean_workspace_name)] = Field(
        description=f"1 to {NAME_LENGTH_MAX} characters, e.g. Spanish.", examples=["Spanish"]
    )


class SelectedWorkspaceData(Data):
    """The workspace that calls of this connection work in from now on."""

    workspace_id: UuidText
    workspace: WorkspaceData


def _selected(workspace: Workspace) -> Reply:
    data = {"workspaceId": str(workspace.workspace_id), "workspace": workspace_entry(workspace) | {"isSelected": True}}
    return Reply(data, _READY)


@operation(
    title="Create a workspace",
    params=CreateWorkspaceParams,
    data=SelectedWorkspaceData,
    description="Makes an empty workspace and selects it for this connection.",
    effect=Effect.WRITE,
)
def create_workspace(call: Call[Principal], params: CreateWorkspaceParams) -> Reply:
    """Make and select a workspace."""
    workspace = create_selected_workspace(call.principal.connection, name=params.name, now=timezone.now())
    return _selected(workspace)


class SelectWorkspaceParams(Params):
    """Which one."""

    workspace_id: UuidText = Field(description="One of GET /v1/agent/workspaces.")


@operation(
    title="Select a workspace",
    params=SelectWorkspaceParams,
    data=SelectedWorkspaceData,
    description="Lets calls of this connection, and of no other, work in this workspace when they name none.",
    effect=Effect.WRITE,
    idempotent=True,
    errors=(WorkspaceNotFound,),
)
def select_workspace(call: Call[Principal], params: SelectWorkspaceParams) -> Reply:
    """Select a workspace for this connection."""
    workspace = call.principal.workspace(params.workspace_id)
    select_for_connection(call.principal.connection, workspace)
    return _selected(workspace)
