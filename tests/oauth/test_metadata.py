"""The documents by which clients find their way, and the JSON where they look in vain."""

from __future__ import annotations

import pytest

RESOURCE_PATHS = [
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-protected-resource/mcp/",
]
SERVER_PATHS = ["/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/mcp"]
VAIN_PATHS = [
    "/.well-known/openid-configuration",
    "/.well-known/openid-configuration/mcp",
    "/.well-known/oauth-authorization-server/",
    "/.well-known/oauth-authorization-server/mcp/",
    "/.well-known/oauth-protected-resource/",
    "/.well-known/oauth-protected-resource/other",
    "/.well-known/oauth-anything",
    "/mcp/.well-known/oauth-authorization-server",
    "/mcp/.well-known/openid-configuration",
    "/mcp/.well-known/oauth-protected-resource",
    "/.well-known/oauth-broken%0Aline",
    "/mcp/.well-known/broken%0Aline",
]
MACHINE_PATHS = [*RESOURCE_PATHS, *SERVER_PATHS, *VAIN_PATHS, "/register", "/token", "/revoke"]


@pytest.mark.parametrize("path", RESOURCE_PATHS)
def test_the_resource_names_itself_and_its_authorization_server(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.json() == {
        "resource": "http://localhost:8000/mcp",
        "authorization_servers": ["http://localhost:8000"],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["flashcards"],
    }


@pytest.mark.parametrize("path", SERVER_PATHS)
def test_the_server_says_what_it_offers(client, path):
    assert client.get(path).json() == {
        "issuer": "http://localhost:8000",
        "authorization_endpoint": "http://localhost:8000/authorize",
        "token_endpoint": "http://localhost:8000/token",
        "registration_endpoint": "http://localhost:8000/register",
        "revocation_endpoint": "http://localhost:8000/revoke",
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "scopes_supported": ["flashcards", "flashcards:read"],
        "authorization_response_iss_parameter_supported": True,
    }


def test_client_documents_are_advertised_only_where_they_are_taken(client, settings):
    settings.OAUTH_CIMD = True
    assert client.get(SERVER_PATHS[0]).json()["client_id_metadata_document_supported"] is True


@pytest.mark.parametrize("method", ["get", "post", "head"])
@pytest.mark.parametrize("path", VAIN_PATHS)
def test_a_document_that_does_not_exist_is_json_and_no_page(client, path, method):
    answer = getattr(client, method)(path)
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/json"
    assert method == "head" or answer.json()["error"] == "not_found"


@pytest.mark.parametrize("path", MACHINE_PATHS)
def test_every_machine_address_answers_a_preflight_of_any_origin(client, path):
    answer = client.options(
        path, headers={"origin": "https://inspector.example", "access-control-request-method": "POST"}
    )
    assert answer.status_code == 204
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in answer
    allowed = answer["Access-Control-Allow-Headers"].lower().split(", ")
    assert {"authorization", "content-type", "mcp-protocol-version", "mcp-session-id"} <= set(allowed)
    assert {"mcp-method", "mcp-name"} <= set(allowed)


@pytest.mark.parametrize("path", MACHINE_PATHS)
def test_errors_can_be_read_from_any_origin_too(client, db, path):
    answer = client.generic("TRACE" if "well-known" in path else "GET", path, headers={"origin": "https://a.example"})
    assert answer.status_code in (404, 405)
    assert answer["Access-Control-Allow-Origin"] == "*"
    exposed = answer["Access-Control-Expose-Headers"].split(", ")
    assert {"WWW-Authenticate", "Retry-After", "Mcp-Session-Id"} <= set(exposed)
    assert answer.json()["error"]


@pytest.mark.parametrize("path", MACHINE_PATHS)
def test_a_host_that_is_not_ours_is_refused_in_json_to_any_origin(client, caplog, path):
    answer = client.get(path, headers={"host": "s3cret.example"})
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_request"
    assert "Host header" in answer.json()["error_description"]
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer["Cache-Control"] == "no-store"
    assert "s3cret" not in answer.content.decode() + caplog.text


def test_a_forged_host_or_proxy_header_changes_no_address(client, settings):
    settings.ALLOWED_HOSTS = ["*"]
    honest = client.get(SERVER_PATHS[0]).content
    forged = {"host": "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "https"}
    assert client.get(SERVER_PATHS[0], headers=forged).content == honest
    assert b"evil" not in client.get(RESOURCE_PATHS[0], headers=forged).content


@pytest.mark.django_db
def test_the_documents_need_no_database(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        client.get(RESOURCE_PATHS[0])
        client.get(SERVER_PATHS[0])
