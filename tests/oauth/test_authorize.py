"""Requests to /authorize: which are put to the user, which are refused, and to whom the refusal goes."""

from __future__ import annotations

from html import unescape
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pytest

from accounts.oauth.models import OAuthGrant
from tests.oauth.app import ISSUER, LOOPBACK, RESOURCE, WEB, App, Browser, answer_in

pytestmark = pytest.mark.django_db

REFUSED = [
    ({"response_type": None}, "invalid_request"),
    ({"response_type": ""}, "invalid_request"),
    ({"response_type": "token"}, "unsupported_response_type"),
    ({"response_type": "code token"}, "unsupported_response_type"),
    ({"response_type": "none"}, "unsupported_response_type"),
    ({"code_challenge": None}, "invalid_request"),
    ({"code_challenge": ""}, "invalid_request"),
    ({"code_challenge": "short"}, "invalid_request"),
    ({"code_challenge": "a" * 44}, "invalid_request"),
    ({"code_challenge": "a" * 42 + "="}, "invalid_request"),
    ({"code_challenge": "a" * 42 + "+"}, "invalid_request"),
    ({"code_challenge": "a" * 43 + "\n"}, "invalid_request"),
    ({"code_challenge_method": "plain"}, "invalid_request"),
    ({"code_challenge_method": None}, "invalid_request"),
    ({"code_challenge_method": "s256"}, "invalid_request"),
    ({"response_type": ["code", "code"]}, "invalid_request"),
    ({"scope": ["flashcards", "flashcards"]}, "invalid_request"),
    ({"code_challenge": ["a" * 43, "b" * 43]}, "invalid_request"),
    ({"code_challenge_method": ["S256", "plain"]}, "invalid_request"),
    ({"resource": "https://other.example/mcp"}, "invalid_target"),
    ({"resource": "http://localhost:8000"}, "invalid_target"),
    ({"resource": "http://localhost:8000/mcp//"}, "invalid_target"),
    ({"resource": "http://localhost:8000/mcp/x"}, "invalid_target"),
    ({"resource": "http://localhost:8000/MCP"}, "invalid_target"),
    ({"resource": "http://localhost:8000/mcp?x=1"}, "invalid_target"),
    ({"resource": "http://localhost:8000/mcp#x"}, "invalid_target"),
    ({"resource": "http://u@localhost:8000/mcp"}, "invalid_target"),
    ({"resource": [RESOURCE, "https://other.example/mcp"]}, "invalid_target"),
    ({"resource": "http://[localhost/mcp"}, "invalid_target"),
    ({"resource": "http://localhost:8000/m\tcp"}, "invalid_target"),
    ({"resource": "http://localhost:8000/mcp\n"}, "invalid_target"),
    ({"resource": " http://localhost:8000/mcp"}, "invalid_target"),
]
REFUSED_IDS = [str(changes) for changes, _ in REFUSED]


@pytest.mark.parametrize(("changes", "error"), REFUSED, ids=REFUSED_IDS)
@pytest.mark.parametrize("signed_in", [True, False], ids=["signed in", "not signed in"])
def test_a_refusal_goes_back_to_an_app_on_the_device(app, alice, changes, error, signed_in):
    answer = Browser(alice.user if signed_in else None).get(app.authorize_path(**changes))
    assert answer.status_code == 302
    assert answer["Location"].startswith(LOOPBACK + "?")
    said = answer_in(answer["Location"])
    assert said["error"] == error
    assert said["error_description"]
    assert said["state"] == "xyz"
    assert said["iss"] == ISSUER


@pytest.mark.parametrize(("changes", "error"), REFUSED, ids=REFUSED_IDS)
@pytest.mark.parametrize("signed_in", [True, False], ids=["signed in", "not signed in"])
def test_a_refusal_to_a_web_site_is_a_page_with_a_link(alice, changes, error, signed_in):
    app = App(redirect_uri=WEB).registered()
    answer = Browser(alice.user if signed_in else None).get(app.authorize_path(**changes))
    assert answer.status_code == 400
    assert "Location" not in answer
    (link,) = [part.split('"')[0] for part in answer.content.decode().split('href="')[1:] if part.startswith(WEB)]
    said = answer_in(unescape(link))
    assert (said["error"], said["state"], said["iss"]) == (error, "xyz", ISSUER)


def test_a_refusal_goes_back_to_a_private_scheme(client):
    app = App(redirect_uri="cursor://anysphere.cursor-mcp/oauth/callback").registered()
    answer = client.get(app.authorize_path(response_type="token"))
    assert answer.status_code == 302
    assert answer["Location"].startswith("cursor://anysphere.cursor-mcp/oauth/callback?error=")


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": None},
        {"client_id": ""},
        {"client_id": "fcc_unknown"},
        {"client_id": "\x00"},
        {"client_id": "x" * 4000},
        {"client_id": "https://unknown.example/client.json"},
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": "javascript:alert(1)"},
        {"redirect_uri": "//evil.example"},
    ],
    ids=lambda changes: str(changes)[:60],
)
@pytest.mark.parametrize("signed_in", [True, False], ids=["signed in", "not signed in"])
def test_a_stranger_is_a_readable_page(app, alice, changes, signed_in):
    answer = Browser(alice.user if signed_in else None).get(app.authorize_path(**changes))
    assert answer.status_code == 400
    assert "Location" not in answer
    assert "This link does not work" in answer.content.decode()
    assert "evil.example" not in answer.content.decode()


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
def test_who_asks_may_be_said_once_only(client, app, name):
    value = {"client_id": app.client_id, "redirect_uri": app.redirect_uri}[name]
    answer = client.get(app.authorize_path(**{name: [value, value]}))
    assert answer.status_code == 400
    assert "Location" not in answer


def test_an_error_comes_without_the_state_that_was_not_sent(client, app):
    answer = client.get(app.authorize_path(state=None, response_type="token"))
    assert "state" not in answer_in(answer["Location"])


def test_without_a_redirect_uri_the_only_registered_one_is_meant(client, app):
    answer = client.get(app.authorize_path(redirect_uri=None, response_type="token"))
    assert answer["Location"].startswith(LOOPBACK)
    two = App().registered(redirect_uris=[LOOPBACK, WEB])
    assert client.get(two.authorize_path(redirect_uri=None)).status_code == 400


@pytest.mark.parametrize(
    "resource",
    [None, "", RESOURCE, RESOURCE + "/", "HTTP://LocalHost:8000/mcp", [RESOURCE, RESOURCE + "/"]],
    ids=str,
)
def test_the_resource_may_be_left_out_or_written_a_little_differently(browser, app, resource):
    assert browser.get(app.authorize_path(resource=resource)).status_code == 200


def test_whoever_is_not_signed_in_is_sent_to_sign_in_with_every_parameter(client, app):
    path = app.authorize_path(state="a b+c%2F&=\u2713", scope="flashcards offline_access") + "&extra=%7E~%20&x"
    answer = client.get(path)
    assert answer.status_code == 302
    head, _, after = answer["Location"].partition("?next=")
    assert head == "/login/"
    assert unquote(after) == path
    assert quote(path, safe="") == after


@pytest.mark.parametrize("prompt", ["none", "login", "create", "consent", "none login"])
def test_no_parameter_skips_consent_or_login(alice, app, prompt):
    asked = {"prompt": prompt, "approval_prompt": "auto", "max_age": "0", "id_token_hint": "x"}
    assert Browser().get(app.authorize_path(**asked)).status_code == 302
    browser = Browser(alice.user)
    browser.connect(app)
    page = browser.get(app.authorize_path(**asked))
    assert page.status_code == 200
    assert 'value="allow"' in page.content.decode()
    assert OAuthGrant.objects.count() == 1


def test_a_get_never_makes_a_code(browser, app):
    for extra in ("&decision=allow&ticket=x", "&allow=true", "&approval_prompt=auto"):
        assert browser.get(app.authorize_path() + extra).status_code == 200
    assert not OAuthGrant.objects.exists()


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_other_methods_are_405(client, app, method):
    assert getattr(client, method)(app.authorize_path()).status_code == 405


def test_a_state_comes_back_exactly(browser, app):
    state = "eyJhbGciOi.\u2713 +/=&?#%20\u202e\"'<>"
    answer = browser.decide(app.authorize_path(state=state), "deny")
    assert answer_in(answer["Location"])["state"] == state


def test_bytes_of_a_state_that_are_no_utf8_come_back_as_they_came(browser, app):
    path = app.authorize_path(state=None) + "&state=%ff%fe"
    answer = browser.decide(path, "deny")
    assert "state=%FF%FE" in answer["Location"]


def test_more_parameters_than_any_app_sends_are_refused(client, app):
    answer = client.get(app.authorize_path() + "".join(f"&p{n}=1" for n in range(100)))
    assert answer.status_code == 400


def test_what_a_registered_query_holds_stays_and_cannot_pose_as_the_answer(browser):
    app = App(redirect_uri="https://a.example/cb?tenant=7%2F8&iss=evil&code=evil&state=evil&error=x").registered()
    allowed = browser.decide(app.authorize_path(), "allow")["Location"]
    assert allowed.startswith("https://a.example/cb?tenant=7%2F8&code=")
    assert answer_in(allowed)["iss"] == ISSUER
    assert [name for name, _ in parse_qsl(urlsplit(allowed).query)] == ["tenant", "code", "state", "iss"]
