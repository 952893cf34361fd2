"""Signing in on the pages: the e-mail address, the code, and back to exactly where it was asked for."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote

import pytest
from django.utils import timezone

from accounts.models import LoginChallenge, SendLog, User
from flashcards.configuration import Window
from tests.accounts.conftest import code_in, other_code
from tests.factories import make_user
from tests.oauth.app import App, Browser, answer_in, pair_of
from tests.oauth.test_consent import text_of

pytestmark = pytest.mark.django_db


def ask_for_code(browser: Browser, email: str = "carol@example.com", query: str = ""):
    """The answer to sending the address."""
    return browser.press(f"/login/{query}", browser.get(f"/login/{query}"), email=email)


def enter_code(browser: Browser, code: str, query: str = ""):
    """The answer to sending the code."""
    return browser.press(f"/login/code/{query}", browser.get(f"/login/code/{query}"), code=code)


def user_of(browser: Browser) -> str | None:
    """The address of whoever the browser is signed in as."""
    context = browser.get("/").context
    return context["request"].user.email if context["request"].user.is_authenticated else None


def test_the_mailed_code_signs_in_and_makes_the_account_with_its_first_workspace(mailoutbox):
    browser = Browser()
    sent = ask_for_code(browser, " Carol@Example.com ")
    assert (sent.status_code, sent["Location"]) == (303, "/login/code/")
    assert "carol@example.com" in text_of(browser.get("/login/code/"))
    done = enter_code(browser, code_in(mailoutbox[0]))
    assert (done.status_code, done["Location"]) == (303, "/")
    assert user_of(browser) == "carol@example.com"
    user = User.objects.get(email="carol@example.com")
    assert [workspace.name for workspace in user.workspaces.all()] == ["Personal"]


@pytest.mark.parametrize("form", ["{0}-{1}", " {0} {1} ", "{0}\u2013{1}", "{0}\u00a0{1}"])
def test_pasted_spaces_and_dashes_are_fine(mailoutbox, form):
    browser = Browser()
    ask_for_code(browser)
    code = code_in(mailoutbox[0])
    assert enter_code(browser, form.format(code[:4], code[4:])).status_code == 303


def test_the_code_field_lets_the_device_fill_it_in(mailoutbox):
    browser = Browser()
    ask_for_code(browser)
    page = browser.get("/login/code/").content.decode()
    assert 'autocomplete="one-time-code"' in page
    assert 'inputmode="numeric"' in page
    assert "maxlength" not in page


def test_sign_in_goes_back_to_the_authorization_request_byte_for_byte(mailoutbox, app):
    path = app.authorize_path(state="a b+c%2F&=\u2713~'") + "&x=%7E~%20!*()"
    browser = Browser()
    to_login = browser.get(path)["Location"]
    query = "?" + to_login.partition("?")[2]
    assert ask_for_code(browser, query=query)["Location"] == f"/login/code/{query}"
    wrong = enter_code(browser, other_code(code_in(mailoutbox[0])), query)
    assert wrong.status_code == 400
    assert query in wrong.content.decode()
    done = enter_code(browser, code_in(mailoutbox[0]), query)
    assert done["Location"] == path
    answer = browser.decide(done["Location"], "allow")
    assert answer_in(answer["Location"])["state"] == "a b+c%2F&=\u2713~'"
    assert pair_of(app.redeem(answer_in(answer["Location"])["code"])).opens


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "http:evil.example",
        "javascript:alert(1)",
        "/\tevil",
        "/\r\nSet-Cookie: a=b",
        " //evil.example",
        "login",
        "",
    ],
    ids=repr,
)
def test_next_leads_nowhere_but_here(mailoutbox, target):
    browser = Browser()
    query = f"?next={quote(target, safe='')}"
    ask_for_code(browser, query=query)
    done = enter_code(browser, code_in(mailoutbox[0]), query)
    assert (done.status_code, done["Location"]) == (303, "/")
    assert browser.get(f"/login/{query}")["Location"] == "/"


def test_who_is_signed_in_already_goes_straight_on(browser):
    assert browser.get("/login/?next=%2Fsettings%2Fconnections%2F")["Location"] == "/settings/connections/"


def test_the_code_page_without_a_code_on_its_way_asks_for_the_address():
    answer = Browser().get("/login/code/?next=%2Fx")
    assert (answer.status_code, answer["Location"]) == (302, "/login/?next=%2Fx")


def test_a_forged_cookie_is_no_code_on_its_way():
    browser = Browser()
    browser.http.cookies["sign_in"] = "carol@example.com AAAAAAAAAAAAAAAAAAAA:forged"
    assert browser.get("/login/code/").status_code == 302


@pytest.mark.parametrize("email", ["", "carol", "carol@", "x" * 300 + "@example.com"], ids=lambda email: email[:10])
def test_what_is_no_address_is_said_in_the_form(email):
    answer = ask_for_code(Browser(), email)
    assert answer.status_code == 400
    assert "Enter an e-mail address" in text_of(answer)
    assert 'aria-invalid="true"' in answer.content.decode()


def test_markup_in_the_address_is_text():
    page = ask_for_code(Browser(), '"><script>alert(1)</script>').content.decode()
    assert "<script>alert" not in page


def test_wrong_codes_are_counted_down_and_then_locked(mailoutbox, caplog):
    browser = Browser()
    ask_for_code(browser)
    wrong = other_code(code_in(mailoutbox[0]))
    answers = [enter_code(browser, wrong) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [400] * 5 + [429]
    assert "4 tries left" in text_of(answers[0])
    assert "1 try left" in text_of(answers[3])
    assert "locked now" in text_of(answers[4])
    assert enter_code(browser, code_in(mailoutbox[0])).status_code == 429
    assert user_of(browser) is None
    assert [record.levelname for record in caplog.records if record.getMessage() == "sign-in code locked"] == [
        "WARNING"
    ]


def test_a_code_works_once_and_for_three_minutes(mailoutbox):
    first, second = Browser(), Browser()
    ask_for_code(first)
    second.http.cookies = first.http.cookies
    assert enter_code(first, code_in(mailoutbox[0])).status_code == 303
    late = Browser()
    ask_for_code(late, "dave@example.com")
    LoginChallenge.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = enter_code(late, code_in(mailoutbox[1]))
    assert answer.status_code == 400
    assert "too old" in text_of(answer)


def test_a_new_code_can_be_asked_for_from_the_code_page(mailoutbox):
    browser = Browser()
    ask_for_code(browser, query="?next=%2Fx")
    page = browser.get("/login/code/?next=%2Fx")
    answer = browser.http.post(
        "/login/?next=%2Fx",
        {"email": "carol@example.com", "csrfmiddlewaretoken": browser.http.cookies["csrftoken"].value},
    )
    assert page.status_code == 200
    assert answer["Location"] == "/login/code/?next=%2Fx"
    assert enter_code(browser, code_in(mailoutbox[1]), "?next=%2Fx")["Location"] == "/x"


def test_the_page_and_the_agent_api_count_in_one_limit(client, settings, mailoutbox):
    settings.LIMIT_IP_SENDS = (Window(2, 900),)
    client.post("/api/agent/send-code", {"email": "carol@example.com"}, content_type="application/json")
    assert ask_for_code(Browser()).status_code == 303
    refused = ask_for_code(Browser())
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert "Too many codes" in text_of(refused)
    assert SendLog.objects.count() == 2


def test_a_mail_server_that_refuses_is_said(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    answer = ask_for_code(Browser())
    assert answer.status_code == 503
    assert "could not be sent" in text_of(answer)


def test_an_account_that_was_switched_off_looks_like_any_and_gets_no_mail(mailoutbox):
    make_user(email="carol@example.com", is_active=False)
    assert ask_for_code(Browser()).status_code == 303
    assert mailoutbox == []


@pytest.mark.parametrize("rule", ["closed", "example.com,example.org"])
def test_the_login_page_promises_no_account_where_not_everybody_gets_one(client, settings, rule):
    assert b"makes your account" in client.get("/login/").content
    settings.SIGNUP = rule
    page = client.get("/login/").content.decode()
    assert "makes your account" not in page
    assert "or start" not in page.split("<main")[1]


def test_closed_sign_up_looks_the_same_and_mails_nothing(settings, mailoutbox):
    settings.SIGNUP = "closed"
    assert ask_for_code(Browser()).status_code == 303
    assert mailoutbox == []


def test_the_session_key_changes_with_sign_in(mailoutbox):
    browser = Browser()
    ask_for_code(browser)
    assert "sessionid" not in browser.http.cookies
    done = enter_code(browser, code_in(mailoutbox[0]))
    cookie = done.cookies["sessionid"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["domain"] == ""


def test_cookies_are_secure_behind_tls(settings, mailoutbox):
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    browser = Browser()
    sent = ask_for_code(browser)
    assert sent.cookies["sign_in"]["secure"]
    assert sent.cookies["sign_in"]["httponly"]
    assert enter_code(browser, code_in(mailoutbox[0])).cookies["sessionid"]["secure"]


@pytest.mark.parametrize("path", ["/login/", "/login/code/", "/logout/"])
def test_forms_of_another_site_do_nothing(path, browser):
    answer = browser.http.post(path, {"email": "carol@example.com", "code": "12345678"})
    assert answer.status_code == 403
    assert user_of(browser) == "alice@example.com"
    assert not SendLog.objects.exists()


def test_signing_out_ends_the_session(browser):
    key = browser.http.cookies["sessionid"].value
    answer = browser.press("/logout/", browser.get("/"))
    assert (answer.status_code, answer["Location"]) == (303, "/")
    assert user_of(browser) is None
    browser.http.cookies["sessionid"] = key
    assert user_of(browser) is None


def test_consent_can_go_on_with_another_account(browser, app):
    path = app.authorize_path()
    browser.get(path)
    token = browser.http.cookies["csrftoken"].value
    answer = browser.http.post(f"/logout/?next={quote(path, safe='')}", {"csrfmiddlewaretoken": token})
    assert answer["Location"] == f"/login/?next={quote(path, safe='')}"


def test_signing_out_takes_a_post(browser):
    answer = browser.get("/logout/")
    assert answer.status_code == 405
    assert answer["Cache-Control"] == "no-store"


def test_a_user_who_was_switched_off_is_signed_out(browser, alice):
    alice.user.is_active = False
    alice.user.save()
    assert user_of(browser) is None


def test_a_new_account_speaks_the_language_of_the_page(mailoutbox):
    browser = Browser()
    browser.http.defaults["HTTP_ACCEPT_LANGUAGE"] = "ru"
    ask_for_code(browser)
    enter_code(browser, code_in(mailoutbox[0]))
    assert User.objects.get().locale == "ru"
    assert "Ваш код" in mailoutbox[0].body


def test_the_login_pages_query_little(django_assert_num_queries):
    browser = Browser()
    with django_assert_num_queries(0):
        browser.get("/login/")


def test_an_app_can_be_met_before_the_account_exists(mailoutbox):
    app = App().registered()
    browser = Browser()
    query = "?" + browser.get(app.authorize_path())["Location"].partition("?")[2]
    ask_for_code(browser, query=query)
    enter_code(browser, code_in(mailoutbox[0]), query)
    assert browser.connect(app).principal.workspace().name == "Personal"
