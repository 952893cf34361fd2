"""The pages in a real Chromium: where the buttons lead, what a pop-up may tell its opener, and who can use them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.node_packages import installed_packages
from tests.oauth.app import App
from tests.oauth.app import Browser as Forms
from tests.oauth.chromium import running_chromium, sign_in
from tests.oauth.live import LiveHttp, live_app, mailed_code
from tests.oauth.web_app import CALLBACK, FORWARDING, OPENER, WebApp, running_web_app
from tests.server import LiveServer

pytestmark = [pytest.mark.server, pytest.mark.browser]

CURSOR = "cursor://anysphere.cursor-mcp/oauth/callback"
LOOPBACK = "http://127.0.0.1:9/callback"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]


@pytest.fixture(scope="module")
def web_app(tmp_path_factory) -> Iterator[WebApp]:
    with running_web_app(tmp_path_factory.mktemp("web_app")) as running:
        yield running


@pytest.fixture(scope="module")
def chromium(web_app: WebApp) -> Iterator[Browser]:
    with running_chromium(*web_app.chromium_arguments) as browser:
        yield browser


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page in English that must not have complained about anything at the end."""
    context = chromium.new_context(locale="en-US", ignore_https_errors=True)
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert [text for text in complaints if "400" not in text] == []


@pytest.fixture
def email() -> str:
    """Somebody new."""
    return f"{uuid4().hex[:12]}@example.com"


@pytest.fixture
def app(server: LiveServer) -> App:
    """An app with every kind of redirect URI."""
    return live_app(server, redirect_uris=[CURSOR, LOOPBACK, CALLBACK, FORWARDING])


def open_consent(page: Page, server: LiveServer, app: App, email: str, **asked: Any) -> None:
    """From the app's request to the consent page."""
    page.goto(server.url + app.authorize_path(**asked))
    sign_in(page, server, email)
    page.get_by_role("button", name="Allow").wait_for()


def answer_of(url: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(url).query)


@pytest.mark.parametrize("redirect_uri", [CURSOR, LOOPBACK, CALLBACK])
@pytest.mark.parametrize("pressed", [("Allow", "code"), ("Deny", "error")], ids=["allow", "deny"])
def test_both_buttons_reach_every_kind_of_address(page, server, app, redirect_uri, pressed):
    button, parameter = pressed
    email = f"{uuid4().hex[:12]}@example.com"
    open_consent(page, server, app, email, redirect_uri=redirect_uri)
    with page.expect_request(lambda request: request.url.startswith(redirect_uri)) as sent:
        page.get_by_role("button", name=button).click()
    answer = answer_of(sent.value.url)
    assert parameter in answer
    assert answer["state"] == ["xyz"]
    assert answer["iss"] == [server.url]


def test_a_callback_may_forward_to_an_app(page, server, app, email):
    open_consent(page, server, app, email, redirect_uri=FORWARDING)
    with page.expect_request(lambda request: request.url.startswith("claude://oauth?code=")):
        page.get_by_role("button", name="Allow").click()


def test_a_pop_up_can_tell_the_page_that_opened_it(page, server, app, email):
    page.goto(OPENER)
    with page.expect_popup() as opened:
        page.evaluate(
            "url => { window.open(url, 'connect', 'popup,width=500,height=700') }",
            server.url + app.authorize_path(redirect_uri=CALLBACK),
        )
    popup = opened.value
    sign_in(popup, server, email)
    popup.get_by_role("button", name="Allow").click()
    page.wait_for_function("document.body.dataset.heard")
    assert "code" in answer_of(page.evaluate("document.body.dataset.heard"))


def test_a_double_click_on_allow_makes_one_code_that_works(page, server, app, email):
    open_consent(page, server, app, email, redirect_uri=CALLBACK)
    page.get_by_role("button", name="Allow").dblclick()
    page.wait_for_url(f"{CALLBACK}**")
    app.redirect_uri = CALLBACK
    assert app.redeem(answer_of(page.url)["code"][0]).status_code == 200


def test_going_back_after_the_app_connected_harms_nothing(page, server, app, email):
    open_consent(page, server, app, email, redirect_uri=CALLBACK)
    page.get_by_role("button", name="Allow").click()
    page.wait_for_url(f"{CALLBACK}**")
    app.redirect_uri = CALLBACK
    pair = app.redeem(answer_of(page.url)["code"][0]).json()
    page.go_back()
    page.get_by_role("button", name="Allow").wait_for()
    assert app.refresh(pair["refresh_token"]).status_code == 200


def test_a_refused_request_of_a_web_client_offers_a_link(page, server, app):
    page.goto(server.url + app.authorize_path(redirect_uri=CALLBACK, code_challenge_method="plain"))
    page.get_by_role("link", name="Go back to app.example").click()
    page.wait_for_url(f"{CALLBACK}**")
    assert answer_of(page.url)["error"] == ["invalid_request"]


def test_the_whole_way_works_by_keyboard_alone(page, server, app, email):
    page.goto(server.url + app.authorize_path(redirect_uri=CALLBACK))
    expect(page.get_by_label("E-mail address")).to_be_focused()
    page.keyboard.type(email)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Eight-digit code")).to_be_focused()
    code = mailed_code(server, email)
    page.keyboard.type(f"{code[:4]} {code[4:]}")
    page.keyboard.press("Enter")
    allow = page.get_by_role("button", name="Allow")
    allow.wait_for()
    for _ in range(10):
        page.keyboard.press("Tab")
        if allow.evaluate("button => button === document.activeElement"):
            break
    assert allow.evaluate("button => getComputedStyle(button).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_url(f"{CALLBACK}**")


def test_a_wrong_code_is_announced_and_the_field_has_the_focus_again(page, server, email):
    page.goto(server.url + "/login/")
    page.get_by_label("E-mail address").fill(email)
    page.get_by_role("button", name="Mail me a code").click()
    wrong = f"{(int(mailed_code(server, email)) + 1) % 10**8:08d}"
    page.get_by_label("Eight-digit code").fill(wrong)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("That code is not right")
    expect(page.get_by_label("Eight-digit code")).to_be_focused()
    expect(page.get_by_label("Eight-digit code")).to_have_accessible_description(
        "That code is not right. 4 tries left."
    )


def test_the_address_can_be_copied(page, server):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.url)
    page.goto(server.url)
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"{server.url}/mcp"


def test_a_connection_is_revoked_by_a_press(page, server, app, email):
    open_consent(page, server, app, email, redirect_uri=CALLBACK)
    page.get_by_role("button", name="Allow").click()
    page.wait_for_url(f"{CALLBACK}**")
    app.redirect_uri = CALLBACK
    pair = app.redeem(answer_of(page.url)["code"][0]).json()
    page.goto(server.url + "/settings/connections/")
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("status")).to_have_text("The connection is revoked.")
    assert app.refresh(pair["refresh_token"]).status_code == 400


# Accessibility


@pytest.fixture(scope="session")
def axe() -> str:
    """The checker's source."""
    if shutil.which("npm") is None:
        pytest.skip("needs npm for axe-core")
    return (installed_packages(Path(__file__).parent / "clients") / "axe-core/axe.min.js").read_text()


def faults(page: Page, axe: str) -> list[str]:
    """What the checker has against the page, and whether it must be scrolled sideways."""
    page.evaluate(axe)
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)["violations"]
    wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    return [f"{fault['id']}: {fault['nodes'][0]['html']}" for fault in found] + (["scrolls sideways"] if wide else [])


LOOKS = [
    ("en-US", 340, "light"),
    ("en-US", 340, "dark"),
    ("en-US", 1280, "light"),
    ("en-US", 1280, "dark"),
    ("zh-CN", 340, "light"),
    ("ru-RU", 340, "dark"),
]


@pytest.fixture(params=LOOKS, ids=lambda look: " ".join(map(str, look)))
def looked_at(request: pytest.FixtureRequest, chromium: Browser) -> Iterator[Page]:
    """A page in one language, width and colour scheme."""
    locale, width, scheme = request.param
    context = chromium.new_context(locale=locale, viewport={"width": width, "height": 800}, color_scheme=scheme)
    yield context.new_page()
    context.close()


def test_the_checker_finds_nothing_on_any_page(looked_at: Page, server: LiveServer, axe: str) -> None:
    page, email = looked_at, f"{uuid4().hex[:12]}@example.com"
    app = live_app(
        server, client_name="Donaudampfschifffahrtsgesellschaftskapitän" + "ß" * 30, redirect_uris=[CALLBACK]
    )
    found: dict[str, list[str]] = {}

    def look(name: str) -> None:
        found[name] = faults(page, axe)

    page.goto(server.url)
    look("home")
    page.goto(server.url + app.authorize_path(redirect_uri=CALLBACK))
    look("login")
    submit(page, "email", "nonsense", wait_for="[role=alert]")
    look("login, refused")
    submit(page, "email", email, wait_for="#code")
    look("code")
    submit(page, "code", "x", wait_for="[role=alert]")
    look("code, refused")
    submit(page, "code", mailed_code(server, email), wait_for="button[value=allow]")
    look("consent")
    fill_the_account(page, server, email)
    page.goto(server.url + app.authorize_path(redirect_uri=CALLBACK, scope="flashcards:read"))
    look("consent, several workspaces")
    page.goto(server.url + "/settings/connections/")
    page.locator("button.danger").first.click()
    page.locator("[role=status]").wait_for()
    page.locator("summary").click()
    look("connections")
    page.goto(server.url + "/authorize")
    look("unusable")
    page.goto(server.url + app.authorize_path(redirect_uri=CALLBACK, response_type="token"))
    look("refused")
    page.goto(server.url + "/nothing-here")
    look("404")
    assert {name: said for name, said in found.items() if said} == {}
    assert len(found) == 11


def submit(page: Page, field: str, text: str, *, wait_for: str) -> None:
    """Fill the page's one field, press its first button, and wait."""
    page.locator(f"#{field}").fill(text)
    page.locator("main button").first.click()
    page.locator(wait_for).wait_for()


def fill_the_account(page: Page, server: LiveServer, email: str) -> None:
    """Keys, apps and workspaces with long names."""
    for name in ("A", "B" * 60):
        connect(page, server, live_app(server, client_name=name))
    key = server.create_api_key(email, "laptop " + "x" * 100)
    server.request("POST", "/v1/agent/workspaces", {"name": "Second " + "w" * 120}, key=key)


def connect(page: Page, server: LiveServer, app: App) -> None:
    """Let the app in, with the session of the page, without looking at it."""
    http = LiveHttp(server)
    for cookie in page.context.cookies():
        http.cookies.set(cookie["name"], cookie["value"])
    person = Forms()
    person.http = http
    person.connect(app)
