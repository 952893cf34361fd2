"""What an access token opens, for how long, and what ends it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from oauth2_provider.models import AccessToken, RefreshToken

from accounts.auth import principal_of_bearer
from accounts.oauth.models import OAuthConnection
from tests.oauth.app import App, pair_of
from tests.oauth.test_codes import refused

pytestmark = pytest.mark.django_db


def test_an_access_token_is_good_for_an_hour(browser, app):
    pair = browser.connect(app)
    now = timezone.now()
    assert principal_of_bearer(pair.access, now=now + timedelta(minutes=59)) is not None
    assert principal_of_bearer(pair.access, now=now + timedelta(minutes=61)) is None


@pytest.mark.parametrize(
    "token", ["", "fco_", "fco_unknown", "fca_unknown", "unknown", "fco_\x00", "fco_" + "x" * 9000]
)
def test_an_unknown_token_opens_nothing(token):
    assert principal_of_bearer(token, now=timezone.now()) is None


def test_a_refresh_token_or_a_code_is_no_bearer_token(browser, app):
    code = browser.allow(app)
    pair = pair_of(app.redeem(code))
    for text in (pair.refresh, code, pair.access.upper(), pair.access + " ", pair.access.removeprefix("fco_")):
        assert principal_of_bearer(text, now=timezone.now()) is None


@pytest.mark.parametrize(
    "audience", [[], ["http://localhost:8000"], ["https://other.example/mcp"], ["http://localhost:8000/mcp/"]], ids=str
)
def test_the_audience_must_be_this_resource_exactly(browser, app, audience):
    pair = browser.connect(app)
    AccessToken.objects.update(resource=audience)
    assert not pair.opens


def test_a_token_for_the_address_of_before_a_move_opens_nothing(browser, app, settings):
    pair = browser.connect(app)
    settings.PUBLIC_MCP_BASE_URL = "https://mcp.example"
    assert not pair.opens


def test_a_user_who_was_switched_off_loses_access_with_the_next_request(browser, app, alice):
    pair = browser.connect(app)
    alice.user.is_active = False
    alice.user.save()
    assert not pair.opens


def test_rest_refuses_the_token_as_it_refuses_an_unknown_key(browser, app, alice):
    pair = browser.connect(app)
    unknown = alice.client.get("/v1/agent/me", headers={"authorization": "Bearer fca_unknown"})
    for scheme in ("Bearer", "ApiKey"):
        answer = alice.client.get("/v1/agent/me", headers={"authorization": f"{scheme} {pair.access}"})
        assert answer.status_code == 401
        assert answer.json()["error"] == unknown.json()["error"]
        assert answer.json()["error"]["code"] == "AGENT_API_KEY_INVALID"


def test_last_used_is_written_at_most_every_five_minutes(browser, app):
    pair, now = browser.connect(app), timezone.now()
    for minutes in (0, 4, 5, 9):
        principal_of_bearer(pair.access, now=now + timedelta(minutes=minutes))
    assert OAuthConnection.objects.get().last_used_at == now + timedelta(minutes=5)


def test_a_token_is_known_by_two_queries(browser, app, django_assert_num_queries):
    pair, now = browser.connect(app), timezone.now()
    with django_assert_num_queries(3):
        principal_of_bearer(pair.access, now=now)
    with django_assert_num_queries(2):
        principal_of_bearer(pair.access, now=now)


# /revoke


@pytest.mark.parametrize("which", ["access", "refresh"])
@pytest.mark.parametrize("hint", [None, "access_token", "refresh_token", "nonsense"])
def test_revoking_either_token_ends_the_whole_family(browser, app, which, hint, caplog):
    first = browser.connect(app)
    sibling, pair = pair_of(app.refresh(first.refresh)), pair_of(app.refresh(first.refresh))
    answer = app.revoke(getattr(pair, which), token_type_hint=hint)
    assert answer.status_code == 200
    assert answer.content == b""
    assert not sibling.opens
    assert not pair.opens
    for token in (first.refresh, sibling.refresh, pair.refresh):
        assert refused(app.refresh(token))
    assert OAuthConnection.objects.get().revoked_at is not None
    ended = [record for record in caplog.records if record.getMessage() == "connection ended"]
    assert [(record.levelname, record.fields["reason"]) for record in ended] == [("INFO", "revoked_by_app")]


def test_revoking_a_rotated_token_ends_the_family_too(browser, app):
    first = browser.connect(app)
    second = pair_of(app.refresh(first.refresh))
    assert app.revoke(first.refresh).status_code == 200
    assert not second.opens


def test_another_client_revokes_nothing_and_learns_nothing(browser, app):
    pair = browser.connect(app)
    other = App().registered(client_name="Other")
    for token in (pair.access, pair.refresh, "unknown"):
        answer = other.revoke(token)
        assert (answer.status_code, answer.content) == (200, b"")
    assert pair.opens
    assert RefreshToken.objects.get().revoked is None


def test_revoking_twice_is_200_too(browser, app):
    pair = browser.connect(app)
    assert [app.revoke(pair.refresh).status_code for _ in range(2)] == [200, 200]


def test_a_revocation_names_its_client_and_its_token(browser, app):
    pair = browser.connect(app)
    assert refused(app.revoke(pair.access, client_id=None), "invalid_client", 401)
    assert refused(app.revoke(pair.access, client_id="fcc_unknown"), "invalid_client", 401)
    assert refused(app.revoke(None), "invalid_request")
    assert refused(app.revoke(pair.access, client_secret="x"), "invalid_client", 401)
    assert pair.opens
