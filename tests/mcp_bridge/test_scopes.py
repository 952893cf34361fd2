"""What an access token of a connected app may do, and the tokens that open nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from oauth2_provider.models import AccessToken, RefreshToken

from accounts.oauth.models import OAuthClient, OAuthConnection
from accounts.oauth.tokens import make_access_token, make_refresh_token
from flashcards.models import Card
from flashcards.operation import Scope
from tests.agent import Agent
from tests.factories import make_card, make_workspace
from tests.mcp_bridge.door import MODERN_VERSION, Door
from tests.mcp_bridge.test_tools import A_UUID, TOOLS, arguments_of

RESOURCE = "http://localhost:8000/mcp"
WRITERS = ("sql_execute", "submit_review")
READERS = tuple(name for name in TOOLS if name not in WRITERS)


def token_of(
    agent: Agent,
    scope: Scope = Scope.ALL,
    *,
    resource: str = RESOURCE,
    expires: datetime | None = None,
    **connection: Any,
) -> str:
    """The access token of a new connection of the agent's user."""
    app = OAuthClient.objects.create(client_id=f"fcc_{uuid4().hex}", redirect_uris="http://localhost/callback")
    made = OAuthConnection.objects.create(user=agent.user, client=app, scope=scope, **connection)
    text = make_access_token(None)
    shared = {"user": agent.user, "application": app, "resource": [resource]}
    access = AccessToken.objects.create(
        token=text, scope=scope, expires=expires or timezone.now() + timedelta(hours=1), **shared
    )
    RefreshToken.objects.create(token=make_refresh_token(None), access_token=access, token_family=made.pk, **shared)
    return text


@pytest.fixture(params=["2025-06-18", MODERN_VERSION])
def reader(request: pytest.FixtureRequest, alice: Agent) -> Door:
    """A connected app of Alice's that may only read."""
    return Door(alice.client, token_of(alice, Scope.READ), request.param)


def test_a_connected_app_calls_every_tool(alice: Agent) -> None:
    door = Door(alice.client, token_of(alice))
    assert [tool["name"] for tool in door.ask("tools/list")["tools"]] == list(TOOLS)
    assert door.data("sql_execute", **arguments_of("sql_execute"))["affectedCount"] == 1


def test_a_reading_app_is_not_told_of_the_writers(reader: Door) -> None:
    assert [tool["name"] for tool in reader.ask("tools/list")["tools"]] == list(READERS)


@pytest.mark.parametrize("tool", READERS)
def test_a_reading_app_reads(alice: Agent, reader: Door, tool: str) -> None:
    card = make_card(alice.workspace)
    arguments = {"cardId": str(card.card_id)} if tool == "reveal_answer" else arguments_of(tool)
    assert reader.data(tool, **arguments)


@pytest.mark.parametrize("tool", WRITERS)
def test_a_reading_app_is_told_which_scope_a_writer_needs(alice: Agent, reader: Door, tool: str) -> None:
    card = make_card(alice.workspace)
    arguments = arguments_of(tool, **({"cardId": str(card.card_id)} if tool == "submit_review" else {}))
    response = reader.post("tools/call", {"name": tool, "arguments": arguments})
    assert response.status_code == 403
    assert response.headers["WWW-Authenticate"] == 'Bearer error="insufficient_scope", scope="flashcards"'
    assert response.json()["error"]["code"] == -32600
    assert response.json()["id"] == 1
    assert Card.objects.in_workspace(alice.workspace).get().reps == 0


def test_a_connection_works_in_the_workspace_that_was_chosen_for_it(alice: Agent) -> None:
    second = make_workspace(alice.user, name="Second")
    door = Door(alice.client, token_of(alice, selected_workspace=second))
    assert door.data("next_review_card")["workspaceId"] == str(second.workspace_id)
    undecided = Door(alice.client, token_of(alice))
    assert undecided.error("next_review_card")["code"] == "WORKSPACE_SELECTION_REQUIRED"


def test_tokens_that_are_over_revoked_or_for_another_resource_open_nothing(alice: Agent) -> None:
    now = timezone.now()
    dead = [
        token_of(alice, expires=now - timedelta(seconds=1)),
        token_of(alice, revoked_at=now),
        token_of(alice, resource="https://other.example/mcp"),
        token_of(alice, resource=f"{RESOURCE}/"),
        make_access_token(None),
    ]
    answers = [Door(alice.client, token).post("ping") for token in dead]
    assert {response.status_code for response in answers} == {401}
    assert len({response.headers["WWW-Authenticate"] for response in answers}) == 1


def test_a_refresh_token_opens_nothing(alice: Agent) -> None:
    token_of(alice)
    assert Door(alice.client, RefreshToken.objects.get().token).post("ping").status_code == 401


def test_an_app_of_bobs_is_refused_alices_workspace(alice: Agent, bob: Agent) -> None:
    door = Door(bob.client, token_of(bob))
    foreign = door.error("sql_query", sql="SELECT * FROM cards", workspaceId=str(alice.workspace.workspace_id))
    assert foreign == door.error("sql_query", sql="SELECT * FROM cards", workspaceId=A_UUID)
