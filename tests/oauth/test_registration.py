"""Registration as the big clients send it, and as nobody should."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.oauth.models import OAuthClient, RegistrationLog
from flashcards.configuration import Window
from tests.oauth.app import LOOPBACK, WEB, App

pytestmark = pytest.mark.django_db

VS_CODE = {
    "client_name": "Visual Studio Code",
    "client_uri": "https://code.visualstudio.com",
    "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
    "response_types": ["code"],
    "redirect_uris": [
        "https://insiders.vscode.dev/redirect",
        "https://vscode.dev/redirect",
        "http://127.0.0.1/",
        "http://127.0.0.1:33418/",
    ],
    "scope": "flashcards",
    "token_endpoint_auth_method": "none",
    "application_type": "native",
}
CURSOR = {
    "client_name": "Cursor",
    "redirect_uris": [
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
    ],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
    "client_uri": "https://cursor.com",
    "logo_uri": None,
}
CLAUDE = {
    "client_name": "Claude",
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
    "scope": "flashcards",
    "redirect_uris": [WEB],
}
CHATGPT = {
    "client_name": "ChatGPT",
    "redirect_uris": ["https://chatgpt.com/connector_platform_oauth_redirect"],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "client_secret_post",
}
TYPESCRIPT_SDK = {
    "client_name": "My client",
    "redirect_uris": ["http://localhost:5173/oauth/callback"],
    "grant_types": ["authorization_code"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "client_secret_basic",
    "contacts": [],
    "tos_uri": "",
    "jwks_uri": None,
}
PYTHON_SDK = {
    "redirect_uris": ["http://localhost:3030/callback"],
    "token_endpoint_auth_method": None,
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "scope": None,
    "client_name": None,
    "client_uri": None,
    "contacts": None,
}
CLIENTS = [VS_CODE, CURSOR, CLAUDE, CHATGPT, TYPESCRIPT_SDK, PYTHON_SDK]


def post(client, body, **headers):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post("/register", raw, content_type="application/json", headers=headers)


@pytest.mark.parametrize("said", CLIENTS, ids=lambda said: said["client_name"] or "python")
def test_real_clients_register_as_public_ones(client, said):
    answer = post(client, said)
    assert answer.status_code == 201
    assert answer["Cache-Control"] == "no-store"
    body = answer.json()
    assert body["client_id"].startswith("fcc_")
    assert body["redirect_uris"] == said["redirect_uris"]
    assert body["token_endpoint_auth_method"] == "none"
    assert body["grant_types"] == ["authorization_code", "refresh_token"]
    assert body["response_types"] == ["code"]
    assert body.get("client_name") == said["client_name"]
    assert abs(body["client_id_issued_at"] - timezone.now().timestamp()) < 60
    assert not {"client_secret", "registration_access_token", "registration_client_uri"} & set(body)
    assert None not in body.values()
    assert "" not in body.values()


def test_metadata_that_is_understood_is_echoed(client):
    said = {"client_uri": "https://a.example/", "logo_uri": "https://a.example/logo.png", "software_id": "abc"}
    body = post(client, {"redirect_uris": [LOOPBACK], **said}).json()
    assert {name: body[name] for name in said} == said


@pytest.mark.parametrize(
    "said",
    [
        {"client_uri": "http://a.example/"},
        {"client_uri": "javascript:alert(1)"},
        {"logo_uri": "https://a b.example/"},
        {"tos_uri": 7},
        {"policy_uri": ["https://a.example/"]},
        {"client_uri": ""},
        {"software_id": None},
        {"software_version": {"a": 1}},
        {"client_name": 7},
        {"client_name": "\u202e\u0000"},
        {"contacts": ["a@b.example"]},
        {"jwks": {"keys": []}},
        {"client_name#fr": "Nom"},
        {"application_type": "web"},
        {"unknown": True},
    ],
    ids=str,
)
def test_other_metadata_is_left_out_and_never_refused(client, said):
    answer = post(client, {"redirect_uris": [LOOPBACK], **said})
    assert answer.status_code == 201
    assert not set(said) & set(answer.json())


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (None, "flashcards"),
        ("", "flashcards"),
        ("openid offline_access", "flashcards"),
        ("flashcards:read", "flashcards:read"),
        ("flashcards:read flashcards offline_access", "flashcards"),
        (["flashcards:read"], "flashcards"),
    ],
)
def test_a_scope_is_narrowed_to_what_exists(client, asked, answered):
    assert post(client, {"redirect_uris": [LOOPBACK], "scope": asked}).json()["scope"] == answered


@pytest.mark.parametrize("field", ["grant_types", "response_types"])
@pytest.mark.parametrize("empty", [None, [], "code", 7])
def test_absent_empty_or_mistyped_type_lists_take_the_default(client, field, empty):
    assert post(client, {"redirect_uris": [LOOPBACK], field: empty}).status_code == 201


@pytest.mark.parametrize(
    "said",
    [
        {"grant_types": ["client_credentials"]},
        {"grant_types": ["refresh_token"]},
        {"grant_types": [7]},
        {"response_types": ["token"]},
        {"response_types": ["id_token", "none"]},
    ],
    ids=str,
)
def test_a_client_that_cannot_use_codes_is_refused(client, said):
    answer = post(client, {"redirect_uris": [LOOPBACK], **said})
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_client_metadata"


@pytest.mark.parametrize(
    "name", ["  Claude\n\tCode ", "\u202eClaude\u2066 Code", "Cl\u200baude\x07 Code", "\uff23laude Code"]
)
def test_a_name_is_stored_without_what_could_deceive(client, name):
    assert post(client, {"redirect_uris": [LOOPBACK], "client_name": name}).json()["client_name"] == "Claude Code"


@pytest.mark.parametrize(
    "sign", ["\u3164", "\u115f\u1160", "\uffa0", "\u2800", "\ufe0f", "\u034f", "\U000e0101"], ids=ascii
)
def test_signs_that_nobody_sees_are_no_name_and_change_none(client, sign):
    body = {"redirect_uris": [LOOPBACK], "client_name": sign}
    assert "client_name" not in post(client, body).json()
    assert post(client, body | {"client_name": f"Clau{sign}de"}).json()["client_name"] == "Claude"


def test_accents_do_not_pile_up_over_the_page(client):
    body = {"redirect_uris": [LOOPBACK], "client_name": "C" + "\u0338" * 70 + "laude"}
    assert post(client, body).json()["client_name"] == "C" + "\u0338" * 3 + "laude"


@pytest.mark.parametrize(
    "name",
    [
        "Ti\u1ebfng Vi\u1ec7t",
        "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd",
        "\u0e40\u0e23\u0e35\u0e48\u0e2d\u0e07",
        "\U0001f9e0 Cards",
        "\ud55c\uad6d\uc5b4",
    ],
)
def test_names_of_any_script_stay_as_they_are(client, name):
    assert post(client, {"redirect_uris": [LOOPBACK], "client_name": name}).json()["client_name"] == name


def test_a_long_name_is_cut(client):
    body = post(client, {"redirect_uris": [LOOPBACK], "client_name": "\ufdfa" * 100}).json()
    assert 70 < len(body["client_name"]) <= 80


def test_markup_in_a_name_is_stored_as_it_is(client):
    name = "<script>alert(1)</script> & 'co'"
    assert post(client, {"redirect_uris": [LOOPBACK], "client_name": name}).json()["client_name"] == name


def test_equal_registrations_share_a_client_whatever_their_loopback_port(client):
    first = post(client, {"client_name": "A", "redirect_uris": ["http://localhost:1/cb", "http://[::1]:2/cb"]}).json()
    again = post(client, {"redirect_uris": ["http://[::1]/cb", "http://localhost:999/cb"], "client_name": "A"}).json()
    assert again["client_id"] == first["client_id"]
    assert again["redirect_uris"] == ["http://[::1]/cb", "http://localhost:999/cb"]
    assert again["client_id_issued_at"] == first["client_id_issued_at"]
    assert OAuthClient.objects.count() == 1


@pytest.mark.parametrize(
    "other",
    [
        {"client_name": "B"},
        {"redirect_uris": ["http://localhost:1/other"]},
        {"redirect_uris": ["http://127.0.0.1:1/cb"]},
        {"client_uri": "https://a.example"},
    ],
    ids=str,
)
def test_different_registrations_are_different_clients(client, other):
    said = {"client_name": "A", "redirect_uris": ["http://localhost:1/cb"]}
    assert post(client, said).json()["client_id"] != post(client, said | other).json()["client_id"]


def test_the_port_of_a_web_site_makes_another_client(client):
    ids = {
        post(client, {"redirect_uris": [f"https://a.example{port}/cb"]}).json()["client_id"] for port in ("", ":8443")
    }
    assert len(ids) == 2


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"\xff\xfe",
        b'{"a": NaN}',
        b"[" * 10_000,
        b'{"redirect_uris": [], "a": 1, "a": 2}',
    ],
    ids=lambda body: body[:12],
)
def test_a_body_that_is_no_object_is_invalid_client_metadata(client, body):
    answer = post(client, body)
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_client_metadata"
    assert answer.json()["error_description"]


def test_a_body_over_16_kib_is_413(client):
    answer = post(client, {"redirect_uris": [LOOPBACK], "software_id": "x" * 16 * 1024})
    assert answer.status_code == 413
    assert answer.json()["error"]


@pytest.mark.parametrize("method", ["get", "put", "delete", "patch"])
def test_other_methods_are_405(client, method):
    answer = getattr(client, method)("/register")
    assert answer.status_code == 405
    assert answer["Allow"] == "POST, OPTIONS"


def test_registrations_from_one_address_are_limited_and_say_when_to_come_back(client, settings, caplog):
    settings.LIMIT_REGISTRATIONS = (Window(2, 3600),)
    assert [post(client, CLAUDE).status_code for _ in range(2)] == [201, 201]
    refused = post(client, CLAUDE)
    assert refused.status_code == 429
    assert 3590 <= int(refused["Retry-After"]) <= 3600
    assert refused.json()["error"] == "temporarily_unavailable"
    assert "registrations refused" in caplog.text
    RegistrationLog.objects.update(created_at=timezone.now() - timedelta(seconds=3600))
    assert post(client, CLAUDE).status_code == 201


def test_another_address_is_not_limited_with_it(client, settings):
    settings.LIMIT_REGISTRATIONS = (Window(1, 3600),)
    assert post(client, CLAUDE).status_code == 201
    assert client.post("/register", CLAUDE, content_type="application/json", REMOTE_ADDR="192.0.2.7").status_code == 201


def test_the_default_limit_is_600_an_hour(settings):
    assert (Window(600, 3600),) == settings.LIMIT_REGISTRATIONS


def test_the_registered_client_can_start_an_authorization(client):
    app = App(redirect_uri=WEB).registered()
    assert client.get(app.authorize_path()).status_code == 302
