"""Clients that are known by a document at their client_id, where OAUTH_CIMD is on."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.core.cache import cache
from oauth2_provider.cimd import CIMDError, SafeMetadataFetcher

from accounts.oauth.models import OAuthClient
from tests.oauth.app import App, Browser, pair_of
from tests.oauth.test_consent import text_of

pytestmark = pytest.mark.django_db

CLIENT_ID = "https://app.example/client.json"
DOCUMENT = {
    "client_id": CLIENT_ID,
    "client_name": "Claude",
    "redirect_uris": ["http://127.0.0.1:8123/callback", "https://claude.ai/api/mcp/auth_callback"],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
}


@pytest.fixture
def documents(settings, monkeypatch):
    """The web as the service sees it: documents by address. What is asked for lands in `asked`."""
    cache.clear()
    settings.OAUTH_CIMD = True
    settings.OAUTH2_PROVIDER = settings.OAUTH2_PROVIDER | {"CIMD_ENABLED": True}
    web: dict[str, Any] = {CLIENT_ID: copy.deepcopy(DOCUMENT), "asked": []}

    def fetch(self, client_id):
        web["asked"].append(client_id)
        if client_id not in web:
            raise CIMDError("HTTP 404")
        return web[client_id], 3600

    monkeypatch.setattr(SafeMetadataFetcher, "fetch", fetch)
    return web


@pytest.fixture
def known(db) -> App:
    """An app that never registered."""
    return App(client_id=CLIENT_ID)


def test_a_client_is_let_in_by_its_document(documents, known, alice):
    browser = Browser(alice.user)
    text = text_of(browser.get(known.authorize_path()))
    assert "Connect “Claude”?" in text
    pair = browser.connect(known)
    assert pair.opens
    assert pair_of(known.refresh(pair.refresh)).opens
    assert documents["asked"] == [CLIENT_ID]


@pytest.mark.parametrize(
    "published",
    [
        {"grant_types": ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"]},
        {"grant_types": ["urn:ietf:params:oauth:grant-type:jwt-bearer", "authorization_code"]},
        {"grant_types": None},
        {"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://app.example/jwks.json"},
        {"response_types": None, "client_uri": 7, "logo_uri": "javascript:x"},
    ],
    ids=str,
)
def test_what_the_big_clients_publish_is_narrowed(documents, known, alice, published):
    documents[CLIENT_ID] |= published
    assert Browser(alice.user).connect(known).opens


def test_a_name_in_a_document_is_cleaned_like_any(documents, known, alice):
    documents[CLIENT_ID]["client_name"] = "\u202eClau\u200bde\n" + "x" * 200
    Browser(alice.user).get(known.authorize_path())
    name = OAuthClient.objects.get().name
    assert name.startswith("Claude x")
    assert len(name) <= 80


@pytest.mark.parametrize(
    "published",
    [
        {"client_id": "https://other.example/client.json"},
        {"client_id": None},
        {"redirect_uris": []},
        {"redirect_uris": ["http://evil.example/"]},
        {"redirect_uris": ["https://claude.ai/cb javascript:alert(1)"]},
        {"redirect_uris": ["https://claude.ai/"] * 11},
        {"grant_types": ["client_credentials"]},
    ],
    ids=str,
)
def test_a_document_that_cannot_be_used_is_an_unknown_client(documents, known, client, published):
    documents[CLIENT_ID] |= published
    answer = client.get(known.authorize_path())
    assert answer.status_code == 400
    assert "Location" not in answer
    assert not OAuthClient.objects.exists()


def test_an_address_without_a_document_is_asked_once_a_minute(documents, client, db):
    missing = App(client_id="https://app.example/missing.json")
    assert [client.get(missing.authorize_path()).status_code for _ in range(3)] == [400] * 3
    assert documents["asked"] == ["https://app.example/missing.json"]


def test_redirect_uris_of_a_document_bind_like_registered_ones(documents, known, client):
    assert client.get(known.authorize_path(redirect_uri="http://127.0.0.1:50001/callback")).status_code == 302
    assert client.get(known.authorize_path(redirect_uri="https://evil.example/")).status_code == 400


def test_switched_off_no_address_is_fetched_and_known_ones_are_strangers(documents, known, client, settings):
    assert client.get(known.authorize_path()).status_code == 302
    settings.OAUTH_CIMD = False
    settings.OAUTH2_PROVIDER = settings.OAUTH2_PROVIDER | {"CIMD_ENABLED": False}
    assert client.get(known.authorize_path()).status_code == 400
    assert known.redeem("x").json()["error"] == "invalid_client"
    assert client.get(App(client_id="https://app.example/other.json").authorize_path()).status_code == 400
    assert documents["asked"] == [CLIENT_ID]


@pytest.mark.parametrize(
    "client_id",
    [
        "https://127.0.0.1/client.json",
        "https://localhost/client.json",
        "https://[::1]/client.json",
        "https://10.0.0.1/client.json",
        "https://192.168.1.1/client.json",
        "https://169.254.169.254/latest/meta-data",
        "https://[::ffff:127.0.0.1]/client.json",
        "https://[64:ff9b::7f00:1]/client.json",
        "https://0.0.0.0/client.json",
        "https://user@example.com/client.json",
        "https://example.com",
        "https://example.com/../client.json",
        "http://example.com/client.json",
    ],
)
def test_no_document_is_fetched_from_inside_the_network(settings, client, client_id, monkeypatch):
    cache.clear()
    settings.OAUTH_CIMD = True
    settings.OAUTH2_PROVIDER = settings.OAUTH2_PROVIDER | {"CIMD_ENABLED": True}
    opened: list[str] = []
    monkeypatch.setattr("urllib3.HTTPSConnectionPool.urlopen", lambda *_, **__: opened.append(client_id))
    assert client.get(App(client_id=client_id).authorize_path()).status_code == 400
    assert opened == []
