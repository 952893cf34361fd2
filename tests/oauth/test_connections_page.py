"""The list of what can act for a user, and how it is ended."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from accounts.models import ApiKey
from accounts.oauth.models import OAuthConnection
from tests.factories import make_api_key, make_workspace
from tests.oauth.app import App, Browser
from tests.oauth.test_consent import text_of

pytestmark = pytest.mark.django_db

PAGE = "/settings/connections/"


def press(browser: Browser, path: str, **fields: str):
    """Send a form of the page."""
    browser.get(PAGE)
    return browser.http.post(path, {"csrfmiddlewaretoken": browser.http.cookies["csrftoken"].value, **fields})


def test_it_lists_keys_by_label_and_apps_by_name(browser, app, alice):
    make_api_key(alice.user, label="laptop & <b>co</b>")
    browser.connect(app)
    page = browser.get(PAGE)
    assert page.status_code == 200
    assert "laptop &amp; &lt;b&gt;co&lt;/b&gt;" in page.content.decode()
    text = text_of(page)
    assert "Claude" in text
    assert text.count("Created") == 3
    assert text.count("never used") == 3


def test_it_says_when_a_connection_was_last_used(browser, app):
    pair = browser.connect(app)
    assert pair.opens
    assert "in use just now" in text_of(browser.get(PAGE))
    OAuthConnection.objects.update(last_used_at=timezone.now() - timedelta(days=3, minutes=1))
    assert "last used 3\xa0days ago" in text_of(browser.get(PAGE)).replace("\u202f", "\xa0").replace(
        "3 days", "3\xa0days"
    )


def test_a_reading_app_is_marked(browser, app):
    browser.connect(app, asked={"scope": "flashcards:read"})
    assert "read only" in text_of(browser.get(PAGE))


def test_nothing_of_anybody_elses_is_listed(browser, app, bob):
    Browser(bob.user).connect(app)
    make_api_key(bob.user, label="bobs laptop")
    assert "Claude" not in text_of(browser.get(PAGE))
    assert "bobs laptop" not in text_of(browser.get(PAGE))


def test_whoever_is_not_signed_in_is_sent_to_sign_in():
    answer = Browser().get(PAGE)
    assert (answer.status_code, answer["Location"]) == (302, "/login/?next=%2Fsettings%2Fconnections%2F")


def test_revoking_an_app_ends_it_at_once(browser, app):
    pair = browser.connect(app)
    answer = press(browser, f"{PAGE}{pair.connection.id}/revoke/")
    assert (answer.status_code, answer["Location"]) == (303, PAGE)
    assert not pair.opens
    assert app.refresh(pair.refresh).json()["error"] == "invalid_grant"
    assert "Revoked" in text_of(browser.get(PAGE))


def test_revoking_a_key_ends_it_at_once(browser, alice, caplog):
    key = ApiKey.objects.get(user=alice.user)
    assert alice.get("/v1/agent/me").status == 200
    press(browser, f"{PAGE}{key.id}/revoke/")
    assert alice.get("/v1/agent/me").status == 401
    assert "API key revoked" in caplog.text


def test_revoking_twice_keeps_the_first_moment(browser, alice):
    key = ApiKey.objects.get(user=alice.user)
    press(browser, f"{PAGE}{key.id}/revoke/")
    first = ApiKey.objects.get(pk=key.pk).revoked_at
    assert press(browser, f"{PAGE}{key.id}/revoke/").status_code == 303
    assert ApiKey.objects.get(pk=key.pk).revoked_at == first


@pytest.mark.parametrize("action", ["revoke", "workspace"])
def test_bob_is_refused_alices_connection_as_one_that_does_not_exist(browser, app, alice, bob, action):
    pair = browser.connect(app)
    key = ApiKey.objects.get(user=alice.user)
    stranger = Browser(bob.user)
    missing = press(stranger, f"{PAGE}{uuid4()}/{action}/")
    assert missing.status_code == 404
    for connection_id in (pair.connection.id, key.id):
        answer = press(stranger, f"{PAGE}{connection_id}/{action}/")
        assert answer.status_code == 404
        assert text_of(answer) == text_of(missing)
    assert pair.opens
    assert ApiKey.objects.get(pk=key.pk).revoked_at is None


@pytest.mark.parametrize("action", ["revoke", "workspace"])
def test_forms_of_another_site_do_nothing(browser, app, action):
    pair = browser.connect(app)
    assert browser.http.post(f"{PAGE}{pair.connection.id}/{action}/").status_code == 403
    assert browser.get(f"{PAGE}{pair.connection.id}/{action}/").status_code == 405
    assert pair.opens


def test_the_workspace_of_an_app_can_be_chosen_and_left_open(browser, app, alice):
    other = make_workspace(alice.user, name="Work")
    pair = browser.connect(app, workspace="")
    path = f"{PAGE}{pair.connection.id}/workspace/"
    press(browser, path, workspace=str(other.workspace_id))
    assert pair.principal.workspace() == other
    assert re.search(rf'value="{other.workspace_id}" selected', browser.get(PAGE).content.decode())
    press(browser, path, workspace="")
    assert pair.connection.selected_workspace is None


def test_bobs_workspace_cannot_be_chosen(browser, app, alice, bob):
    make_workspace(alice.user, name="Work")
    pair = browser.connect(app, workspace="")
    path = f"{PAGE}{pair.connection.id}/workspace/"
    for workspace_id in (bob.workspace.workspace_id, uuid4(), "nonsense"):
        assert press(browser, path, workspace=str(workspace_id)).status_code == 404
    assert pair.connection.selected_workspace is None


def test_with_one_workspace_there_is_nothing_to_choose(browser, app):
    browser.connect(app)
    assert "<select" not in browser.get(PAGE).content.decode()


def test_the_list_takes_as_many_queries_however_long(browser, app, alice, django_assert_num_queries):
    browser.connect(app)
    browser.get(PAGE)
    with django_assert_num_queries(7):
        browser.get(PAGE)
    for number in range(5):
        make_api_key(alice.user, label=str(number))
        browser.connect(App().registered(client_name=str(number)))
    with django_assert_num_queries(7):
        browser.get(PAGE)


def test_the_page_is_private(browser):
    page = browser.get(PAGE)
    assert page["Cache-Control"] == "no-store"
    assert "form-action 'self'" in page["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert "unsafe-inline" not in page["Content-Security-Policy"]


def test_a_connection_whose_client_is_gone_is_gone(browser, app):
    pair = browser.connect(app)
    OAuthConnection.objects.get().client.delete()
    assert not pair.opens
    assert browser.get(PAGE).status_code == 200


def test_an_ended_connection_shows_when(browser, app):
    browser.connect(app)
    OAuthConnection.objects.update(revoked_at=timezone.now())
    assert "revoked" in text_of(browser.get(PAGE))
