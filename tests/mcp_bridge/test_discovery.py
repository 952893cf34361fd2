"""Where every agent starts: `GET /v1/`."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import resolve

ADDRESSES = ("/v1/", "/v1", "/v1/agent/", "/v1/agent")


@pytest.fixture
def stranger() -> Client:
    return Client(raise_request_exception=False)


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_address_answers_the_same_without_login_redirect_or_rows(
    stranger, address, db, django_assert_num_queries
):
    with django_assert_num_queries(0):
        answer = stranger.get(address)
    assert answer.status_code == 200
    assert answer.json() == stranger.get("/v1/").json()


@pytest.mark.parametrize("address", ADDRESSES)
def test_head_gives_the_headers_of_get_without_a_body(stranger, address):
    answer = stranger.head(address)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer["Content-Type"] == "application/json"
    assert answer["X-Request-Id"]


def test_the_payload_has_every_documented_field(stranger):
    body = stranger.get("/v1/").json()
    assert body["ok"] is True
    assert set(body) == {"ok", "data", "instructions", "links", "docs"}
    base = "http://localhost:8000"
    assert body["docs"] == {"discoveryUrl": f"{base}/v1/"}
    data = body["data"]
    assert set(data["service"]) == {"name", "version", "description"}
    assert (data["service"]["name"], data["service"]["version"]) == ("Flashcards", "v1")
    assert data["authentication"] == {
        "type": "email_otp_then_api_key",
        "sendCodeUrl": f"{base}/api/agent/send-code",
        "verifyCodeUrl": f"{base}/api/agent/verify-code",
    }
    assert all(isinstance(line, str) for line in data["capabilitiesBeforeLogin"] + data["capabilitiesAfterLogin"])
    assert (data["authBaseUrl"], data["apiBaseUrl"]) == (base, base)
    assert data["surface"] == {
        "accountUrl": f"{base}/v1/agent/me",
        "workspacesUrl": f"{base}/v1/agent/workspaces",
        "sqlQueryUrl": f"{base}/v1/agent/sql/query",
        "sqlExecuteUrl": f"{base}/v1/agent/sql/execute",
        "guideUrlTemplate": f"{base}/v1/agent/guide/{{topic}}",
        "reviewNextUrl": f"{base}/v1/agent/reviews/next",
        "reviewRevealUrl": f"{base}/v1/agent/reviews/reveal",
        "reviewSubmitUrl": f"{base}/v1/agent/reviews/submit",
    }
    assert data["mcp"]["url"] == f"{base}/mcp"
    assert data["mcp"]["authorization"] == {
        "type": "oauth2",
        "authorizationServer": base,
        "authorizationServerMetadataUrl": f"{base}/.well-known/oauth-authorization-server",
        "protectedResourceMetadataUrl": f"{base}/.well-known/oauth-protected-resource/mcp",
    }
    bearer = data["mcp"]["apiKeyBearer"]
    assert (bearer["type"], bearer["header"], bearer["scheme"]) == ("api_key", "Authorization", "Bearer")
    assert bearer["description"]


def test_every_published_address_of_the_api_exists(stranger):
    body = stranger.get("/v1/").json()
    urls = [
        *body["data"]["surface"].values(),
        body["data"]["authentication"]["sendCodeUrl"],
        body["data"]["authentication"]["verifyCodeUrl"],
        body["links"]["openapi"],
    ]
    for url in urls:
        assert resolve(url.removeprefix("http://localhost:8000"))


def test_addresses_come_from_the_configured_bases_and_never_from_the_request(stranger, settings):
    settings.PUBLIC_BASE_URL = "https://cards.example.com"
    settings.PUBLIC_API_BASE_URL = "https://api.example.com"
    settings.PUBLIC_AUTH_BASE_URL = "https://auth.example.org"
    settings.PUBLIC_MCP_BASE_URL = "https://mcp.example.net"
    settings.ALLOWED_HOSTS = ["*"]
    forged = {"host": "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "gopher"}
    answer = stranger.get("/v1/", headers=forged)
    assert b"evil" not in answer.content
    assert b"gopher" not in answer.content
    assert b"localhost" not in answer.content
    data, links = answer.json()["data"], answer.json()["links"]
    assert data["surface"]["sqlQueryUrl"] == "https://api.example.com/v1/agent/sql/query"
    assert data["authentication"]["verifyCodeUrl"] == "https://auth.example.org/api/agent/verify-code"
    assert data["mcp"]["url"] == "https://mcp.example.net/mcp"
    assert data["mcp"]["authorization"]["authorizationServer"] == "https://auth.example.org"
    assert (
        data["mcp"]["authorization"]["protectedResourceMetadataUrl"]
        == "https://mcp.example.net/.well-known/oauth-protected-resource/mcp"
    )
    assert links["home"] == "https://cards.example.com/"
    assert answer.json()["docs"] == {"discoveryUrl": "https://api.example.com/v1/"}


def test_the_service_bears_the_configured_name(stranger, settings):
    settings.SERVICE_NAME = "Paideia"
    assert stranger.get("/v1/").json()["data"]["service"]["name"] == "Paideia"


def test_instructions_name_every_step_to_the_first_review_in_order(stranger):
    body = stranger.get("/v1/").json()
    data = body["data"]
    steps = [
        data["authentication"]["sendCodeUrl"],
        data["authentication"]["verifyCodeUrl"],
        "Authorization: ApiKey",
        data["surface"]["workspacesUrl"],
        data["surface"]["guideUrlTemplate"],
        data["surface"]["sqlExecuteUrl"],
        data["surface"]["sqlQueryUrl"],
        data["surface"]["reviewNextUrl"],
        data["surface"]["reviewRevealUrl"],
        data["surface"]["reviewSubmitUrl"],
    ]
    places = [body["instructions"].index(step) for step in steps]
    assert places == sorted(places)


def test_words_that_chat_applications_append_to_a_link_do_no_harm(stranger):
    assert stranger.get("/v1/?utm_source=chat").status_code == 200


def test_another_method_is_refused_with_those_that_work(stranger):
    answer = stranger.post("/v1/", {}, content_type="application/json")
    assert answer.status_code == 405
    assert answer["Allow"] == "GET, HEAD, OPTIONS"
