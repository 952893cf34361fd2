"""What all pages share: their headers, their language, and the host they are on."""

from __future__ import annotations

import pytest
from django.db import OperationalError
from django.test import Client, RequestFactory

from flashcards.framework_errors import server_error
from tests.factories import make_user
from tests.oauth.app import App, Browser, answer_in, pair_of
from tests.oauth.test_consent import text_of

pytestmark = pytest.mark.django_db

BROWSER_LANGUAGES = [
    ("en", "en", "Sign in or start"),
    ("de,en;q=0.5", "en", "Sign in or start"),
    ("zh", "zh-Hans", "登录或开始"),
    ("zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans", "登录或开始"),
    ("zh-Hans", "zh-Hans", "登录或开始"),
    ("zh-TW", "zh-Hans", "登录或开始"),
    ("ru-RU,ru;q=0.9", "ru", "Войти или начать"),
    ("*", "en", "Sign in or start"),
]


@pytest.mark.parametrize(("accept", "lang", "text"), BROWSER_LANGUAGES)
def test_a_page_speaks_the_browsers_language(client, accept, lang, text):
    page = client.get("/login/", headers={"accept-language": accept})
    assert f'<html lang="{lang}">' in page.content.decode()
    assert text in page.content.decode()


@pytest.mark.parametrize(("locale", "lang"), [("en", "en"), ("zh", "zh-Hans"), ("ru", "ru"), ("xx", "en")])
def test_the_account_has_the_last_word_about_language(locale, lang):
    browser = Browser(make_user(locale=locale))
    page = browser.get("/settings/connections/", **{"accept-language": "ru" if locale != "ru" else "zh"})
    assert f'<html lang="{lang}">' in page.content.decode()
    assert "Accept-Language" in page["Vary"]
    assert "Cookie" in page["Vary"]


PAGES = ["/", "/login/", "/authorize", "/nothing-here", "/settings/connections/"]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_the_security_headers(client, path):
    page = client.get(path)
    policy = page["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page["X-Content-Type-Options"] == "nosniff"
    assert page["Referrer-Policy"] == "same-origin"
    assert page["X-Frame-Options"] == "DENY"
    assert "Cross-Origin-Opener-Policy" not in page


def test_a_host_that_is_not_ours_gets_a_page_with_the_headers_too(client):
    page = client.get("/login/", headers={"host": "evil.example"})
    assert page.status_code == 400
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert "malformed" in text_of(page)


@pytest.mark.parametrize(("error", "status"), [(OperationalError("away"), 503), (ZeroDivisionError("x"), 500)])
def test_a_page_that_fails_says_so_and_the_log_says_why(error, status, caplog):
    try:
        raise error
    except (OperationalError, ZeroDivisionError):
        page = server_error(RequestFactory().get("/settings/connections/"))
    assert page.status_code == status
    assert "Something went wrong" in text_of(page)
    assert page.get("Retry-After") == ("5" if status == 503 else None)
    assert type(error).__name__ in caplog.text


def test_home_says_the_address_to_connect(client):
    page = client.get("/")
    assert "http://localhost:8000/mcp" in text_of(page)
    assert 'href="http://localhost:8000/login/"' in page.content.decode()


def test_pages_hold_no_script_or_style_of_their_own(client, browser, app):
    for page in (client.get("/"), client.get("/login/"), browser.get(app.authorize_path())):
        text = page.content.decode()
        assert "<style" not in text
        assert " style=" not in text
        assert "<script>" not in text
        assert "onclick" not in text


# Four hosts


@pytest.fixture
def four_hosts(settings):
    """Pages, API, sign-in and MCP on hosts of their own, on two domains."""
    settings.PUBLIC_BASE_URL = "https://cards.example.com"
    settings.PUBLIC_API_BASE_URL = "https://api.example.com"
    settings.PUBLIC_AUTH_BASE_URL = "https://id.example.net"
    settings.PUBLIC_MCP_BASE_URL = "https://mcp.example.net"
    settings.PUBLIC_ORIGINS = (
        settings.PUBLIC_BASE_URL,
        settings.PUBLIC_API_BASE_URL,
        settings.PUBLIC_AUTH_BASE_URL,
        settings.PUBLIC_MCP_BASE_URL,
    )
    settings.CSRF_TRUSTED_ORIGINS = list(settings.PUBLIC_ORIGINS)
    settings.ALLOWED_HOSTS = [origin.removeprefix("https://") for origin in settings.PUBLIC_ORIGINS]


def at(host: str) -> Client:
    """A client that calls that host, through a proxy that took the TLS off."""
    return Client(enforce_csrf_checks=True, headers={"host": host})


@pytest.mark.usefixtures("four_hosts")
def test_the_whole_flow_with_four_hosts_on_two_domains(alice):
    resource = at("mcp.example.net").get("/.well-known/oauth-protected-resource/mcp").json()
    assert resource["resource"] == "https://mcp.example.net/mcp"
    assert resource["authorization_servers"] == ["https://id.example.net"]
    server = at("id.example.net").get("/.well-known/oauth-authorization-server").json()
    assert server["issuer"] == "https://id.example.net"
    assert server["token_endpoint"] == "https://id.example.net/token"

    app = App(redirect_uri="https://claude.ai/api/mcp/auth_callback", http=at("id.example.net")).registered()
    browser = Browser(alice.user)
    browser.http.defaults |= {"HTTP_HOST": "id.example.net", "HTTP_ORIGIN": "https://id.example.net"}
    answer = browser.decide(app.authorize_path(resource=resource["resource"]), "allow")
    said = answer_in(answer["Location"])
    assert said["iss"] == "https://id.example.net"
    pair = pair_of(app.redeem(said["code"], resource=resource["resource"]))
    assert pair.opens
    assert pair_of(app.refresh(pair.refresh)).opens


@pytest.mark.usefixtures("four_hosts")
@pytest.mark.parametrize("path", ["/login/?next=%2Fauthorize%3Fa%3Db", "/authorize?a=b%20c", "/settings/connections/"])
@pytest.mark.parametrize("host", ["cards.example.com", "api.example.com", "mcp.example.net"])
def test_sign_in_and_consent_stay_on_the_auth_host(path, host):
    answer = at(host).get(path)
    assert (answer.status_code, answer["Location"]) == (302, f"https://id.example.net{path}")


@pytest.mark.usefixtures("four_hosts")
def test_home_leads_to_sign_in_on_the_auth_host():
    page = at("cards.example.com").get("/").content.decode()
    assert 'href="https://id.example.net/login/"' in page
    assert "https://mcp.example.net/mcp" in page


@pytest.mark.usefixtures("four_hosts")
def test_a_form_from_another_of_our_hosts_needs_the_auth_hosts_cookie(alice):
    http = at("id.example.net")
    http.force_login(alice.user)
    answer = http.post("/logout/", headers={"origin": "https://cards.example.com"})
    assert answer.status_code == 403
