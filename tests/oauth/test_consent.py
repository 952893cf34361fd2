"""The consent page: what it shows, what pressing its buttons does, and who cannot press them."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.oauth.models import OAuthClient, OAuthGrant
from tests.factories import make_workspace
from tests.oauth.app import ISSUER, LOOPBACK, WEB, App, Browser, answer_in, hidden_fields, pair_of

pytestmark = pytest.mark.django_db


def text_of(page) -> str:
    """The page's text without its markup."""
    return " ".join(re.sub(r"<[^>]*>", " ", re.sub(r"</?(?:bdi|strong)>", "", page.content.decode())).split())


def test_the_page_says_who_asks_for_what_and_for_whom(browser, app):
    text = text_of(browser.get(app.authorize_path()))
    assert "Connect “Claude”?" in text
    assert "not verified" in text
    assert "an app on this device" in text
    assert "alice@example.com" in text
    assert "create, change and delete cards and decks" in text


def test_the_page_shows_the_host_that_a_web_client_is_answered_at(browser):
    text = text_of(browser.get(App(redirect_uri=WEB).registered().authorize_path()))
    assert "claude.ai" in text
    assert "an app on this device" not in text


def test_a_private_scheme_is_an_app_on_this_device(browser):
    app = App(redirect_uri="cursor://anysphere.cursor-mcp/oauth/callback").registered()
    assert "an app on this device" in text_of(browser.get(app.authorize_path()))


def test_reading_is_shown_as_reading(browser, app):
    text = text_of(browser.get(app.authorize_path(scope="flashcards:read")))
    assert "but not change anything" in text
    assert "delete" not in text


def test_an_app_without_a_name_is_said_to_have_none(browser):
    app = App().registered(client_name=None)
    assert "Connect an app without a name?" in text_of(browser.get(app.authorize_path()))


def test_a_name_with_markup_is_shown_as_text(browser):
    name = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\u202e"
    page = browser.get(App().registered(client_name=name).authorize_path()).content.decode()
    assert "<script>alert(1)" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\u202e" not in page


def test_a_logo_is_never_loaded(browser):
    app = App().registered(logo_uri="https://tracker.example/logo.png")
    assert "tracker.example" not in browser.get(app.authorize_path()).content.decode()


def test_allow_answers_303_with_code_state_and_issuer(browser, app):
    answer = browser.decide(app.authorize_path(), "allow")
    assert answer.status_code == 303
    assert answer["Location"].startswith(LOOPBACK + "?code=")
    said = answer_in(answer["Location"])
    assert set(said) == {"code", "state", "iss"}
    assert (said["state"], said["iss"]) == ("xyz", ISSUER)
    assert len(said["code"]) >= 43


@pytest.mark.parametrize("uri", [LOOPBACK, WEB, "cursor://anysphere.cursor-mcp/oauth/callback", "com.example.app:/cb"])
def test_both_answers_reach_every_kind_of_address(browser, uri):
    app = App(redirect_uri=uri).registered()
    for decision in ("allow", "deny"):
        answer = browser.decide(app.authorize_path(), decision)
        assert answer.status_code == 303
        assert answer["Location"].startswith(uri + "?")


def test_the_answer_goes_to_the_port_that_the_request_named(browser, app):
    answer = browser.decide(app.authorize_path(redirect_uri="http://127.0.0.1:50999/callback"), "allow")
    assert answer["Location"].startswith("http://127.0.0.1:50999/callback?code=")


def test_deny_is_access_denied_and_makes_no_code(browser, app):
    answer = browser.decide(app.authorize_path(), "deny")
    said = answer_in(answer["Location"])
    assert (said["error"], said["state"], said["iss"]) == ("access_denied", "xyz", ISSUER)
    assert not OAuthGrant.objects.exists()


def test_a_post_that_presses_no_button_asks_again(browser, app):
    for fields in ({}, {"decision": "perhaps"}, {"decision": "allow", "ticket": None}):
        page = browser.get(app.authorize_path())
        assert browser.press(app.authorize_path(), page, **fields).status_code == 200
    assert not OAuthGrant.objects.exists()


def test_a_second_press_gets_the_same_code(browser, app):
    page = browser.get(app.authorize_path())
    answers = [browser.press(app.authorize_path(), page, decision="allow") for _ in range(2)]
    assert answers[0]["Location"] == answers[1]["Location"]
    assert OAuthGrant.objects.count() == 1


def test_a_second_visit_gets_a_code_of_its_own(browser, app):
    assert browser.allow(app) != browser.allow(app)


def test_a_press_after_the_code_was_taken_up_is_a_page_and_harms_nothing(browser, app):
    page = browser.get(app.authorize_path())
    first = browser.press(app.authorize_path(), page, decision="allow")
    pair = pair_of(app.redeem(answer_in(first["Location"])["code"]))
    again = browser.press(app.authorize_path(), page, decision="allow")
    assert again.status_code == 400
    assert "already answered" in text_of(again)
    assert pair.opens


def test_a_press_on_an_old_page_gets_no_dead_code(browser, app):
    page = browser.get(app.authorize_path())
    browser.press(app.authorize_path(), page, decision="allow")
    OAuthGrant.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert browser.press(app.authorize_path(), page, decision="allow").status_code == 400


def test_the_ticket_of_a_page_gives_nobody_else_the_code(browser, app, bob):
    page = browser.get(app.authorize_path())
    first = browser.press(app.authorize_path(), page, decision="allow")
    other = Browser(bob.user)
    others_page = other.get(app.authorize_path())
    ticket = hidden_fields(page)["ticket"]
    second = other.press(app.authorize_path(), others_page, decision="allow", ticket=ticket)
    assert answer_in(second["Location"])["code"] != answer_in(first["Location"])["code"]


@pytest.mark.parametrize("headers", [{}, {"origin": "https://evil.example"}, {"origin": "null"}], ids=str)
def test_another_site_cannot_press(alice, app, headers):
    http = Client(enforce_csrf_checks=True)
    http.force_login(alice.user)
    answer = http.post(app.authorize_path(), {"decision": "allow", "ticket": "x" * 20}, headers=headers)
    assert answer.status_code == 403
    assert "This form is too old" in text_of(answer)
    assert not OAuthGrant.objects.exists()


def test_what_was_changed_in_the_address_is_judged_again(browser, app):
    page = browser.get(app.authorize_path())
    other = app.authorize_path(redirect_uri="https://evil.example/")
    assert browser.press(other, page, decision="allow").status_code == 400
    plain = browser.press(app.authorize_path(code_challenge_method="plain"), page, decision="allow")
    assert answer_in(plain["Location"])["error"] == "invalid_request"
    assert not OAuthGrant.objects.exists()


def test_a_press_after_the_session_ended_goes_to_sign_in(browser, app):
    page = browser.get(app.authorize_path())
    browser.http.cookies.pop("sessionid")
    answer = browser.press(app.authorize_path(), page, decision="allow")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/login/?next=%2Fauthorize")


def test_a_user_who_was_switched_off_cannot_press(browser, app, alice):
    page = browser.get(app.authorize_path())
    alice.user.is_active = False
    alice.user.save()
    assert browser.press(app.authorize_path(), page, decision="allow")["Location"].startswith("/login/")
    assert not OAuthGrant.objects.exists()


def test_a_client_that_somebody_let_in_is_marked_as_used(browser, app):
    browser.allow(app)
    assert OAuthClient.objects.get(client_id=app.client_id).used_at is not None


# Workspaces


def test_with_one_workspace_nothing_is_asked(browser, app):
    page = browser.get(app.authorize_path()).content.decode()
    assert 'name="workspace"' not in page
    assert browser.connect(app).principal.workspace().name == "Personal"


def test_with_several_the_page_asks_and_the_connection_works_in_the_chosen_one(browser, app, alice):
    other = make_workspace(alice.user, name="Work & <b>play</b>")
    page = browser.get(app.authorize_path()).content.decode()
    assert "Work &amp; &lt;b&gt;play&lt;/b&gt;" in page
    pair = browser.connect(app, workspace=str(other.workspace_id))
    assert pair.principal.workspace() == other


@pytest.mark.parametrize("chosen", ["", None, "nonsense"])
def test_ask_every_time_selects_none(browser, app, alice, chosen):
    make_workspace(alice.user, name="Work")
    assert browser.connect(app, workspace=chosen).connection.selected_workspace is None


def test_bobs_workspace_cannot_be_chosen(browser, app, alice, bob):
    make_workspace(alice.user, name="Work")
    pair = browser.connect(app, workspace=str(bob.workspace.workspace_id))
    assert pair.connection.selected_workspace is None


# Headers


def test_the_pages_of_the_journey_can_be_neither_framed_nor_cached_and_end_anywhere(browser, app):
    web = App(redirect_uri=WEB).registered()
    pages = [
        browser.get(app.authorize_path()),
        browser.get("/authorize"),
        browser.get(web.authorize_path(response_type="token")),
        browser.decide(app.authorize_path(), "deny"),
        browser.http.post(app.authorize_path(), {"decision": "allow"}),
        Browser().get("/login/"),
        Browser().get(app.authorize_path()),
    ]
    for page in pages:
        assert page["Cache-Control"] == "no-store"
        assert page["X-Frame-Options"] == "DENY"
        assert page["Referrer-Policy"] == "same-origin"
        assert page["X-Content-Type-Options"] == "nosniff"
        assert "Cross-Origin-Opener-Policy" not in page
        policy = page["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy
        assert "form-action" not in policy
        assert "unsafe-inline" not in policy
