"""Nothing that opens a door is in the database, in a log or in an error report."""

from __future__ import annotations

import logging
import re

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import RequestFactory
from django.views.debug import ExceptionReporter

from accounts.oauth.server import read_form
from tests.accounts.conftest import code_in
from tests.factories import make_api_key
from tests.oauth.app import FORM, App, Browser, pair_of

pytestmark = pytest.mark.django_db


def everything_stored() -> str:
    """Every value of every row of every table, as text."""
    with connection.cursor() as cursor:
        found = []
        for table in connection.introspection.table_names(cursor):
            if table == "flashcards_cardsearch":
                continue  # SQLite's index of words over cards; it cannot be read row by row
            cursor.execute(f'SELECT * FROM "{table}"')
            found += [bytes(v) if isinstance(v, memoryview) else v for row in cursor.fetchall() for v in row]
    return "\n".join(value.hex() + repr(value) if isinstance(value, bytes) else str(value) for value in found)


def test_a_dump_of_the_database_holds_nothing_that_opens_a_door(alice, mailoutbox, settings):
    settings.LIMIT_EMAIL_SENDS = settings.LIMIT_IP_SENDS
    app = App().registered()
    browser = Browser(alice.user)
    unused, redeemed = browser.allow(app), browser.allow(app)
    first = pair_of(app.redeem(redeemed))
    second = pair_of(app.refresh(first.refresh))
    sent = alice.client.post("/api/agent/send-code", {"email": "carol@example.com"}, content_type="application/json")
    visitor = Browser()
    visitor.press("/login/", visitor.get("/login/"), email="dave@example.com")
    secrets = {
        "unused code": unused,
        "redeemed code": redeemed,
        "verifier": app.verifier,
        **{f"{name} token": token for name, token in {"access": first.access, "refresh": first.refresh}.items()},
        "second access token": second.access,
        "second refresh token": second.refresh,
        "session": browser.http.cookies["sessionid"].value,
        "API key": make_api_key(alice.user),
        "key's secret": make_api_key(alice.user).rpartition("_")[2],
        "mailed code": code_in(mailoutbox[0]),
        "code mailed from the page": code_in(mailoutbox[1]),
        "otpSessionToken": sent.json()["data"]["otpSessionToken"],
    }
    stored = everything_stored()
    assert "carol@example.com" in stored
    assert [name for name, secret in secrets.items() if secret in stored] == []


def test_no_log_at_any_level_holds_a_code_a_token_or_a_verifier(alice, caplog):
    for name in ("", "oauthlib", "oauth2_provider", "django", "accounts", "flashcards"):
        caplog.set_level(logging.getLogger(name).level or logging.DEBUG, logger=name)
    caplog.set_level(logging.DEBUG)
    app = App().registered()
    browser = Browser(alice.user)
    code = browser.allow(app)
    first = pair_of(app.redeem(code))
    second = pair_of(app.refresh(first.refresh))
    app.redeem(code)
    app.refresh("fcr_wrong")
    app.revoke(second.access)
    logged = caplog.text + "".join(str(record.__dict__) for record in caplog.records)
    for secret in (code, app.verifier, first.access, first.refresh, second.access, second.refresh, "fcr_wrong"):
        assert secret not in logged


def test_the_libraries_debug_lines_stay_silent_whatever_the_level(settings):
    for name in ("oauthlib", "oauth2_provider"):
        assert settings.LOGGING["loggers"][name]["level"] == "WARNING"


def report_of(request, secret: str) -> str:
    """Both forms of Django's error report for a failure while `secret` is in hand."""
    try:
        held = {"token": secret, "innocent name": secret}
        raise ZeroDivisionError(len(held))
    except ZeroDivisionError as error:
        reporter = ExceptionReporter(request, type(error), error, error.__traceback__)
        return reporter.get_traceback_text() + reporter.get_traceback_html()


@pytest.mark.parametrize("debug", [False, True])
def test_an_error_report_shows_where_and_never_what(settings, debug):
    settings.DEBUG = debug
    secret = "fcr_a-secret-value"
    body = f"grant_type=refresh_token&refresh_token={secret}&whatever={secret}"
    headers = {"authorization": f"Bearer {secret}", "cookie": f"sessionid={secret}; other={secret}"}
    request = RequestFactory().post("/token", body, content_type=FORM, headers=headers)
    assert request.POST["refresh_token"] == secret
    report = report_of(request, secret)
    assert "refresh_token" in report
    assert "/token" in report
    assert secret not in report


def test_a_report_shows_no_secret_setting(settings):
    report = report_of(RequestFactory().get("/"), "x")
    assert settings.SECRET_KEY not in report


def test_a_fault_while_tokens_are_made_is_a_plain_500(alice, monkeypatch, caplog):
    app = App().registered()
    code = Browser(alice.user).allow(app)

    def fail(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("accounts.oauth.validator.Validator._mint", fail)
    answer = app.redeem(code)
    assert answer.status_code == 500
    assert answer.json()["error"] == "server_error"
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert "ZeroDivision" not in answer.content.decode()
    assert code not in caplog.text
    monkeypatch.undo()
    assert pair_of(app.redeem(code)).opens


def test_the_login_code_and_token_stay_out_of_the_page_and_the_url(mailoutbox):
    browser = Browser()
    answer = browser.press("/login/", browser.get("/login/"), email="carol@example.com")
    page = browser.get(answer["Location"])
    code = code_in(mailoutbox[0])
    assert code not in page.content.decode() + answer["Location"]
    assert not re.search(r"[0-9A-HJKMNP-TV-Z]{20}", page.content.decode())


def test_read_form_is_what_the_addresses_use():
    request = RequestFactory().post("/token", "a=1&b=&resource=x&resource=y", content_type=FORM)
    assert read_form(request) == [("a", "1"), ("resource", "x"), ("resource", "y")]


def test_checks_of_a_deployment_are_clean(settings, capsys):
    call_command("check", deploy=True, tag=["security"])
    assert "oauth2_provider" not in capsys.readouterr().err
