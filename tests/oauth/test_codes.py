"""Redeeming a code: once, by whom it was made for, with the proof, in time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from oauth2_provider.models import AccessToken, RefreshToken

from accounts.auth import principal_of_bearer
from accounts.oauth.models import OAuthConnection, OAuthGrant
from flashcards.operation import Scope
from tests.factories import make_user
from tests.oauth.app import FORM, LOOPBACK, RESOURCE, App, Browser, pair_of

pytestmark = pytest.mark.django_db


def refused(answer, error="invalid_grant", status=400):
    """Whether the answer is that refusal, in the RFC's shape."""
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/json"
    assert answer["Cache-Control"] == "no-store"
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer.json()["error"] == error, answer.content
    return True


def test_a_code_gives_a_pair_of_opaque_tokens(browser, app, alice):
    answer = app.redeem(browser.allow(app))
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"
    assert answer["Content-Type"] == "application/json"
    body = answer.json()
    assert set(body) == {"access_token", "refresh_token", "token_type", "expires_in", "scope"}
    assert body["access_token"].startswith("fco_")
    assert body["refresh_token"].startswith("fcr_")
    assert (body["token_type"], body["expires_in"], body["scope"]) == ("Bearer", 3600, "flashcards")
    assert principal_of_bearer(body["access_token"], now=timezone.now()).user == alice.user


def test_the_connection_is_one_row_of_user_and_client(browser, app, alice):
    pair = browser.connect(app)
    connection = OAuthConnection.objects.get()
    assert pair.connection == connection
    assert connection.user == alice.user
    assert connection.client.client_id == app.client_id
    assert connection.revoked_at is None
    assert RefreshToken.objects.get().token_family == connection.id


def test_a_code_works_once_and_its_replay_ends_what_it_gave(browser, app, caplog):
    code = browser.allow(app)
    pair = pair_of(app.redeem(code))
    assert refused(app.redeem(code))
    assert not pair.opens
    assert refused(app.refresh(pair.refresh))
    assert OAuthConnection.objects.get().revoked_at is not None
    (record,) = [record for record in caplog.records if record.getMessage() == "connection ended"]
    assert (record.levelname, record.fields["reason"]) == ("WARNING", "code_replayed")


def test_a_replay_ends_the_connection_whatever_it_lacks_and_however_late(browser, app):
    code = browser.allow(app)
    pair = pair_of(app.redeem(code))
    OAuthGrant.objects.update(expires=timezone.now() - timedelta(days=1))
    assert refused(app.redeem(code, code_verifier="x" * 43))
    assert not pair.opens


def test_a_replay_by_another_client_changes_nothing(browser, app):
    code = browser.allow(app)
    pair = pair_of(app.redeem(code))
    other = App().registered(client_name="Other")
    assert refused(other.redeem(code, code_verifier=app.verifier))
    assert pair.opens


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": "x" * 43}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": ""}, "invalid_request"),
        ({"code_verifier": "\u2713" * 43}, "invalid_grant"),
        ({"redirect_uri": "http://127.0.0.1:9/callback"}, "invalid_grant"),
        ({"redirect_uri": LOOPBACK + "/"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_grant"),
        ({"redirect_uri": ""}, "invalid_grant"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": [RESOURCE, "https://other.example/mcp"]}, "invalid_target"),
        ({"code": None}, "invalid_request"),
    ],
    ids=str,
)
def test_a_refused_redemption_leaves_the_code_usable(browser, app, changes, error):
    code = browser.allow(app)
    assert refused(app.redeem(code, **changes), error)
    assert not AccessToken.objects.exists()
    assert pair_of(app.redeem(code)).opens


def test_a_code_of_another_client_is_refused_and_stays_usable(browser, app):
    code = browser.allow(app)
    other = App().registered(client_name="Other")
    assert refused(other.redeem(code, code_verifier=app.verifier))
    assert pair_of(app.redeem(code)).opens


def test_a_redirect_uri_that_was_not_asked_with_need_not_be_repeated(browser, app):
    code = browser.allow(app, asked={"redirect_uri": None})
    assert pair_of(app.redeem(code, redirect_uri=None)).opens


@pytest.mark.parametrize("code", ["unknown", "", "\x00", "x" * 5000])
def test_an_unknown_code_is_refused(app, code):
    answer = app.redeem(code)
    assert answer.status_code == 400
    assert answer.json()["error"] in ("invalid_grant", "invalid_request")


@pytest.mark.parametrize(("age_seconds", "status"), [(590, 200), (600, 400)])
def test_a_code_is_good_for_600_seconds(browser, app, age_seconds, status):
    code = browser.allow(app)
    grant = OAuthGrant.objects.get()
    assert grant.expires - grant.created == pytest.approx(timedelta(seconds=600), abs=timedelta(seconds=2))
    OAuthGrant.objects.update(expires=grant.expires - timedelta(seconds=age_seconds))
    assert app.redeem(code).status_code == status


@pytest.mark.parametrize("resource", [None, "", RESOURCE, RESOURCE + "/"])
def test_the_resource_is_the_mcp_endpoint_asked_for_or_not(browser, app, resource):
    pair = pair_of(app.redeem(browser.allow(app, asked={"resource": None}), resource=resource))
    assert AccessToken.objects.get().resource == [RESOURCE]
    assert pair.opens


@pytest.mark.parametrize(
    ("asked", "granted"),
    [
        (None, "flashcards"),
        ("", "flashcards"),
        ("flashcards", "flashcards"),
        ("flashcards:read", "flashcards:read"),
        ("flashcards flashcards:read", "flashcards"),
        ("flashcards:read offline_access openid", "flashcards:read"),
        ("offline_access", "flashcards"),
        ("FLASHCARDS:READ", "flashcards"),
    ],
)
def test_the_answer_states_the_scope_that_was_granted(browser, app, asked, granted):
    pair = browser.connect(app, asked={"scope": asked})
    assert pair.scope == granted
    assert pair.principal.allows(Scope.READ)
    assert pair.principal.allows(Scope.ALL) == (granted == "flashcards")


def test_a_user_who_was_switched_off_gets_no_tokens(browser, app, alice):
    code = browser.allow(app)
    alice.user.is_active = False
    alice.user.save()
    assert refused(app.redeem(code))


# The form


def test_a_json_body_is_no_form(app):
    answer = app.http.post("/token", {"grant_type": "authorization_code"}, content_type="application/json")
    assert refused(answer, "invalid_request")


@pytest.mark.parametrize(
    ("changes", "error", "status"),
    [
        ({"grant_type": "password"}, "unsupported_grant_type", 400),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type", 400),
        ({"grant_type": "implicit"}, "unsupported_grant_type", 400),
        (
            {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "x"},
            "unsupported_grant_type",
            400,
        ),
        ({"grant_type": "openid"}, "unsupported_grant_type", 400),
        ({"grant_type": None}, "invalid_request", 400),
        ({"client_id": None}, "invalid_client", 401),
        ({"client_id": ""}, "invalid_client", 401),
        ({"client_id": "fcc_unknown"}, "invalid_client", 401),
        ({"client_id": "\x00"}, "invalid_request", 400),
        ({"client_secret": "secret"}, "invalid_client", 401),
        ({"code": ["a", "b"]}, "invalid_request", 400),
        ({"client_id": ["a", "b"]}, "invalid_request", 400),
        ({"grant_type": ["authorization_code", "refresh_token"]}, "invalid_request", 400),
    ],
    ids=str,
)
def test_a_wrong_form_is_refused_by_its_name_and_spends_nothing(browser, app, changes, error, status):
    code = browser.allow(app)
    assert refused(app.redeem(code, **changes), error, status)
    assert pair_of(app.redeem(code)).opens


def test_an_empty_client_secret_is_ignored(browser, app):
    assert pair_of(app.redeem(browser.allow(app), client_secret="")).opens


def test_http_basic_is_refused(browser, app):
    code = browser.allow(app)
    fields = {"grant_type": "authorization_code", "code": code, "code_verifier": app.verifier}
    answer = app.token_request({**fields, "client_id": app.client_id}, authorization="Basic ZmNjXzE6")
    assert refused(answer, "invalid_client", 401)
    assert answer["WWW-Authenticate"].startswith("Basic ")


@pytest.mark.parametrize("path", ["/token?code=x", "/revoke?token=x"])
def test_arguments_in_the_url_are_refused(app, path):
    assert refused(app.http.post(path, "grant_type=refresh_token", content_type=FORM), "invalid_request")


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"\xff\xfe", 400), (b"a=%ff", 400), (b"&".join([b"a=1"] * 60), 400), (b"a=" + b"x" * 17_000, 413), (b"", 400)],
    ids=lambda value: str(value)[:12],
)
def test_a_body_that_is_no_form_is_a_clean_refusal(app, body, status):
    assert refused(app.http.post("/token", body, content_type=FORM), "invalid_request", status)


@pytest.mark.parametrize("path", ["/token", "/revoke"])
@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_other_methods_are_405(client, path, method):
    answer = getattr(client, method)(path)
    assert answer.status_code == 405
    assert answer["Allow"] == "POST, OPTIONS"


def test_a_refusal_is_in_the_security_log_without_the_code(app, caplog):
    app.redeem("a-code-that-is-unknown")
    (record,) = [record for record in caplog.records if record.getMessage() == "token request refused"]
    assert record.fields["client"] == app.client_id
    assert record.fields["address"] == "127.0.0.1"
    assert "a-code-that-is-unknown" not in caplog.text


def test_two_people_have_connections_of_their_own(browser, app, bob):
    pair, other = browser.connect(app), Browser(bob.user).connect(app)
    assert pair.principal.user.email == "alice@example.com"
    assert other.principal.user.email == "bob@example.com"
    assert app.revoke(other.access).status_code == 200
    assert pair.opens
    assert not other.opens


def test_a_deleted_user_takes_their_connections_along(app):
    user = make_user(email="carol@example.com")
    pair = Browser(user).connect(app)
    user.delete()
    assert not pair.opens
    assert refused(app.refresh(pair.refresh))
