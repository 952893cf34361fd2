"""What stands between the network and the protocol: origin, token, method, media types, size."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from accounts.models import ApiKey
from tests.agent import Agent
from tests.mcp_bridge.door import Door, door_of

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
CHALLENGE = (
    'Bearer resource_metadata="http://localhost:8000/.well-known/oauth-protected-resource/mcp", scope="flashcards"'
)


@pytest.fixture
def stranger(db: None) -> Door:
    """A client without a token."""
    return Door(Client(raise_request_exception=False))


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_both_spellings_of_the_address_answer_without_a_redirect(alice: Agent, path: str) -> None:
    response = door_of(alice, path=path).send(PING)
    assert (response.status_code, response.json()) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})


def test_an_answer_is_compact_json_that_nobody_stores(legacy: Door) -> None:
    response = legacy.send(PING)
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Request-Id"]
    assert b": " not in response.content


# --- Token


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete", "head"])
def test_without_a_token_every_method_gets_the_challenge(stranger: Door, method: str) -> None:
    response = getattr(stranger.client, method)("/mcp")
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == CHALLENGE


def test_the_challenge_stands_before_anything_else_is_looked_at(stranger: Door) -> None:
    response = stranger.send("not json", content_type="text/plain", headers={"accept": "text/html"})
    assert response.status_code == 401


@pytest.mark.parametrize(
    "authorization",
    [
        "Bearer fca_00000000_00000000000000000000000000",
        "Bearer nonsense",
        "Bearer fcr_0000",
        "bearer two words",
        "Bearer \u00e9",
    ],
)
def test_a_token_that_opens_nothing_is_called_invalid(stranger: Door, authorization: str) -> None:
    response = stranger.send(PING, headers={"authorization": authorization})
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == CHALLENGE + ', error="invalid_token"'


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Token x"])
def test_another_scheme_counts_as_no_token(stranger: Door, authorization: str) -> None:
    response = stranger.send(PING, headers={"authorization": authorization})
    assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, CHALLENGE)


def test_a_key_is_taken_as_bearer_in_any_case_of_the_word_and_not_as_apikey(alice: Agent) -> None:
    door = Door(alice.client)
    assert door.send(PING, headers={"authorization": f"bEARER {alice.key}"}).status_code == 200
    assert door.send(PING, headers={"authorization": f"ApiKey {alice.key}"}).status_code == 401


def test_a_token_in_the_address_is_not_read(alice: Agent) -> None:
    response = Door(alice.client, path=f"/mcp?access_token={alice.key}").send(PING)
    assert response.status_code == 401


def test_a_revoked_key_and_one_of_a_deactivated_user_get_the_answer_of_an_unknown_one(alice: Agent, bob: Agent) -> None:
    ApiKey.objects.filter(user=alice.user).update(revoked_at=alice.user.created_at)
    bob.user.is_active = False
    bob.user.save()
    unknown = Door(alice.client, "fca_00000000_00000000000000000000000000").send(PING)
    for agent in (alice, bob):
        response = door_of(agent).send(PING)
        assert response.headers["WWW-Authenticate"] == unknown.headers["WWW-Authenticate"]
        assert response.status_code == 401


def test_the_refusal_says_in_json_what_to_do(stranger: Door) -> None:
    error = stranger.send(PING).json()["error"]
    assert error["code"] == -32600
    assert error["data"]["code"] == "AUTHENTICATION_REQUIRED"
    assert error["data"]["instructions"]


def test_the_challenge_names_the_configured_address_whatever_the_host(stranger: Door, settings: Any) -> None:
    settings.PUBLIC_MCP_BASE_URL = "https://mcp.example.com"
    response = stranger.send(PING, headers={"x-forwarded-host": "evil.example"})
    assert "https://mcp.example.com/.well-known/" in response.headers["WWW-Authenticate"]


# --- Method and media types


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete", "head"])
def test_with_a_token_every_other_method_is_refused(alice: Agent, method: str) -> None:
    headers = {"authorization": f"Bearer {alice.key}", "accept": "text/event-stream"}
    response = getattr(alice.client, method)("/mcp", headers=headers)
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""])
def test_a_body_that_is_not_declared_json_is_refused(legacy: Door, content_type: str) -> None:
    assert legacy.send(json.dumps(PING), content_type=content_type).status_code == 415


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
def test_parameters_and_case_of_the_content_type_do_not_matter(legacy: Door, content_type: str) -> None:
    assert legacy.send(json.dumps(PING), content_type=content_type).status_code == 200


@pytest.mark.parametrize(
    "accept", [None, "", "*/*", "application/*", "application/json", "text/event-stream, Application/JSON;q=0.5"]
)
def test_whoever_takes_json_is_served(legacy: Door, accept: str | None) -> None:
    assert legacy.send(PING, headers={"accept": accept}).status_code == 200


def test_who_takes_a_stream_alone_is_refused(legacy: Door) -> None:
    assert legacy.send(PING, headers={"accept": "text/event-stream"}).status_code == 406


# --- Body


def test_a_body_over_the_limit_is_refused_and_one_at_the_limit_read(legacy: Door) -> None:
    padded = json.dumps(PING) + " " * ((1 << 20) - len(json.dumps(PING)))
    assert legacy.send(padded).status_code == 200
    response = legacy.send(padded + " ")
    assert response.status_code == 413
    assert response.json()["error"]["data"]["code"] == "REQUEST_TOO_LARGE"


@pytest.mark.parametrize(
    "body",
    [
        b"   ",
        b"{",
        b"nonsense",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"} trailing',
        b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
        b"\xff\xfe\x00",
        b'"\xed\xa0\x80"',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}',
    ],
)
def test_what_is_not_json_is_a_parse_error(legacy: Door, body: bytes) -> None:
    response = legacy.send(body)
    assert response.status_code == 400
    assert (response.json()["id"], response.json()["error"]["code"]) == (None, -32700)


# --- Origin


@pytest.mark.parametrize(
    "origin",
    ["http://localhost:8000", "http://localhost", "https://localhost:6274", "http://127.0.0.1:1", "http://[::1]:5173"],
)
def test_a_public_or_loopback_origin_is_served_and_echoed(legacy: Door, origin: str) -> None:
    response = legacy.send(PING, headers={"origin": origin})
    assert response.status_code == 200
    assert response.headers["Access-Control-Allow-Origin"] == origin
    assert "Origin" in response.headers["Vary"]
    assert response.headers["Access-Control-Expose-Headers"] == "WWW-Authenticate, Retry-After, Mcp-Session-Id"
    assert "Access-Control-Allow-Credentials" not in response.headers


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "https://evil.example",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
        "http://localhost@evil.example",
        "http://localhost:8000/",
        "http://[::1",
        "file://",
        "localhost",
        "http://\u0131ocalhost",
        "http://localhost:\u0661",
    ],
)
@pytest.mark.parametrize("method", ["post", "options", "get"])
def test_another_origin_is_refused_before_the_token_is_looked_at(stranger: Door, origin: str, method: str) -> None:
    response = getattr(stranger.client, method)("/mcp", headers={"origin": origin})
    assert response.status_code == 403
    assert "Access-Control-Allow-Origin" not in response.headers
    assert "WWW-Authenticate" not in response.headers


def test_the_settings_admit_further_origins(legacy: Door, settings: Any) -> None:
    settings.MCP_ALLOWED_ORIGINS = ("https://inspector.example/",)
    assert legacy.send(PING, headers={"origin": "https://inspector.example"}).status_code == 200


def test_every_public_address_is_an_origin(legacy: Door, settings: Any) -> None:
    settings.PUBLIC_ORIGINS = ("https://cards.example", "https://mcp.example")
    assert legacy.send(PING, headers={"origin": "https://mcp.example"}).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"origin": "http://localhost:3000"}])
def test_preflight_needs_no_token(stranger: Door, headers: dict[str, str]) -> None:
    response = stranger.client.options("/mcp", headers=headers)
    assert (response.status_code, response.content) == (204, b"")
    allowed = {name.strip().lower() for name in response.headers["Access-Control-Allow-Headers"].split(",")}
    assert allowed >= {"authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"}
    assert allowed >= {"mcp-session-id", "x-mcp-toolsets"}
    assert response.headers["Access-Control-Allow-Methods"] == "POST, OPTIONS"
    assert response.headers.get("Access-Control-Allow-Origin") == headers.get("origin")


def test_a_page_can_read_the_challenge(stranger: Door) -> None:
    response = stranger.send(PING, headers={"origin": "http://localhost:3000"})
    assert response.status_code == 401
    assert response.headers["Access-Control-Allow-Origin"] == "http://localhost:3000"
    assert "WWW-Authenticate" in response.headers["Access-Control-Expose-Headers"]


def test_a_host_that_is_not_ours_is_refused(legacy: Door, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["cards.example"]
    response = legacy.send(PING, headers={"host": "evil.example"})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_REQUEST")


@pytest.mark.parametrize("path", ["/mcp/sse", "/mcp//", "/mcp/messages"])
def test_an_address_below_the_endpoint_is_a_404_in_json(legacy: Door, path: str) -> None:
    legacy.path = path
    response = legacy.send(PING)
    assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")


def test_the_endpoint_needs_no_csrf_token(alice: Agent) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert Door(strict, alice.key).send(PING).status_code == 200
