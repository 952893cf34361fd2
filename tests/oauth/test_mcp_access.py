"""An access token at /mcp: what it opens, what reading allows, and what sends a client to authorize again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import make_card, make_workspace
from tests.oauth.app import Browser, Pair, pair_of

pytestmark = pytest.mark.django_db

CHALLENGE = (
    'Bearer resource_metadata="http://localhost:8000/.well-known/oauth-protected-resource/mcp", scope="flashcards"'
)


def call(client: Any, token: str | None, method: str, **params: Any) -> Any:
    """The answer to one JSON-RPC request."""
    headers = {"accept": "application/json, text/event-stream"} | (
        {"authorization": f"Bearer {token}"} if token else {}
    )
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return client.post("/mcp", body, content_type="application/json", headers=headers)


def tool(client: Any, pair: Pair, name: str, **arguments: Any) -> Any:
    """The answer to one tools/call."""
    return call(client, pair.access, "tools/call", name=name, arguments=arguments)


def test_a_connected_app_works_with_the_cards_of_its_user(client, browser, app, alice):
    make_card(alice.workspace, front_text="Capital of France?")
    answer = tool(client, browser.connect(app), "sql_query", sql="SELECT front_text FROM cards")
    assert answer.status_code == 200
    result = answer.json()["result"]["structuredContent"]
    assert result["data"]["rows"] == [{"front_text": "Capital of France?"}]


@pytest.mark.parametrize("token", [None, "fco_unknown", "fcr_unknown", "fca_unknown"])
def test_without_a_good_token_the_challenge_says_where_to_authorize(client, token):
    answer = call(client, token, "tools/list")
    assert answer.status_code == 401
    challenge = answer["WWW-Authenticate"]
    assert challenge.startswith(CHALLENGE)
    assert ('error="invalid_token"' in challenge) == (token is not None)


def test_a_revoked_app_gets_the_same_answer_as_a_stranger(client, browser, app):
    pair = browser.connect(app)
    assert call(client, pair.access, "tools/list").status_code == 200
    app.revoke(pair.refresh)
    revoked, unknown = call(client, pair.access, "tools/list"), call(client, "fco_unknown", "tools/list")
    assert (revoked.status_code, revoked["WWW-Authenticate"]) == (unknown.status_code, unknown["WWW-Authenticate"])
    assert revoked.json()["error"]["message"] == unknown.json()["error"]["message"]


def test_a_token_in_the_url_opens_nothing(client, browser, app):
    pair = browser.connect(app)
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = client.post(f"/mcp?access_token={pair.access}", body, content_type="application/json")
    assert answer.status_code == 401


def test_a_token_in_the_body_opens_nothing(client, browser, app):
    pair = browser.connect(app)
    form = f"access_token={pair.access}"
    assert client.post("/mcp", form, content_type="application/x-www-form-urlencoded").status_code == 401


def test_a_session_cookie_opens_nothing(browser, app):
    answer = browser.http.post(
        "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, content_type="application/json"
    )
    assert answer.status_code == 401


def test_reading_lists_no_writer_and_a_write_is_403_with_the_scope_to_ask_for(client, browser, app, alice):
    pair = browser.connect(app, asked={"scope": "flashcards:read"})
    listed = {entry["name"] for entry in call(client, pair.access, "tools/list").json()["result"]["tools"]}
    assert "sql_query" in listed
    assert not {"sql_execute", "submit_review"} & listed
    card = make_card(alice.workspace)
    answer = tool(client, pair, "sql_execute", sql="DELETE FROM cards WHERE front_text = 'Front'")
    assert answer.status_code == 403
    assert answer["WWW-Authenticate"] == 'Bearer error="insufficient_scope", scope="flashcards"'
    card.refresh_from_db()
    assert card.deleted_at is None
    assert tool(client, pair, "sql_query", sql="SELECT card_id FROM cards").status_code == 200


def test_a_refresh_that_narrows_lets_the_pair_read_only(client, browser, app):
    narrow = pair_of(app.refresh(browser.connect(app).refresh, scope="flashcards:read"))
    assert tool(client, narrow, "sql_execute", sql="DELETE FROM cards WHERE front_text = 'x'").status_code == 403


def test_each_connection_works_in_its_own_workspace(client, browser, app, alice):
    other = make_workspace(alice.user, name="Work")
    first = browser.connect(app, workspace=str(alice.workspace.workspace_id))
    second = browser.connect(app, workspace=str(other.workspace_id))
    open_one = browser.connect(app, workspace="")
    for pair, name in ((first, "Personal"), (second, "Work")):
        result = tool(client, pair, "list_workspaces").json()["result"]["structuredContent"]
        assert [entry["name"] for entry in result["data"]["workspaces"] if entry["isSelected"]] == [name]
    result = tool(client, open_one, "sql_query", sql="SELECT card_id FROM cards").json()["result"]
    assert result["isError"] is True
    error = result["structuredContent"]["error"]
    assert error["code"] == "WORKSPACE_SELECTION_REQUIRED"
    assert len(error["details"]["workspaces"]) == 2
    named = tool(client, open_one, "sql_query", sql="SELECT card_id FROM cards", workspaceId=str(other.workspace_id))
    assert named.json()["result"]["structuredContent"]["ok"] is True


def test_an_app_cannot_name_bobs_workspace(client, browser, app, bob):
    answer = tool(
        client,
        browser.connect(app),
        "sql_query",
        sql="SELECT card_id FROM cards",
        workspaceId=str(bob.workspace.workspace_id),
    )
    assert answer.json()["result"]["structuredContent"]["error"]["code"] == "WORKSPACE_NOT_FOUND"


def test_a_user_who_was_switched_off_loses_access_with_the_next_request(client, browser, app, alice):
    pair = browser.connect(app)
    alice.user.is_active = False
    alice.user.save()
    assert call(client, pair.access, "tools/list").status_code == 401


def test_bob_works_with_his_own_cards(client, app, alice, bob):
    make_card(alice.workspace)
    answer = tool(client, Browser(bob.user).connect(app), "sql_query", sql="SELECT card_id FROM cards")
    assert answer.json()["result"]["structuredContent"]["data"]["rows"] == []
