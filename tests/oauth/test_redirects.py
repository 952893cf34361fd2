"""Which redirect URIs may be registered, and which of a request is a registered one."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from accounts.oauth.models import OAuthClient
from tests.oauth.app import LOOPBACK, App

pytestmark = pytest.mark.django_db

GOOD = [
    "https://claude.ai/api/mcp/auth_callback",
    "https://example.com:8443/cb?tenant=a&b=%2F",
    "https://example.com",
    "https://192.0.2.1/cb",
    "https://[2001:db8::1]/cb",
    "http://localhost/cb",
    "http://localhost:3000/cb",
    "http://127.0.0.1:1/",
    "http://[::1]:8080/cb",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "vscode://vscode.github-authentication/did-authenticate",
    "vscode-insiders://x/y",
    "windsurf://codeium/callback",
    "zed://oauth",
    "claude://oauth/callback",
    "com.example.app:/oauth2redirect",
    "com.example.app://oauth2redirect",
    "https://example.com/" + "a" * 1980,
]
BAD = [
    "",
    "http://example.com/cb",
    "http://localhost.example.com/cb",
    "http://127.0.0.1.example.com/cb",
    "http://127.0.0.2/cb",
    "http://0.0.0.0/cb",
    "http://[::2]/cb",
    "http:///cb",
    "https://",
    "https:///cb",
    "https:example.com",
    "https://?x",
    "https://exa mple.com/cb",
    "https://exa%6dple.com/cb",
    "https://[::1/cb",
    "https://example.com:port/cb",
    "https://example.com:99999/cb",
    "https://example.com/cb#fragment",
    "https://example.com/cb#",
    "https://user@example.com/cb",
    "https://user:secret@example.com/cb",
    "https://@example.com/cb",
    "http://127.0.0.1@example.com/cb",
    "https://*.example.com/cb",
    "https://example.com/*",
    "https://example.com/c b",
    "https://example.com/cb\n",
    "\thttps://example.com/cb",
    "https://example.com\\@evil.example/cb",
    "https://example.com/cb\x00",
    "https://b\u00fccher.example/cb",
    "https://example.com/\u202ecb",
    'https://example.com/"><script>',
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "blob:https://example.com/x",
    "vbscript:x",
    "about:blank",
    "ftp://example.com/cb",
    "unknownapp://callback",
    "//example.com/cb",
    "/cb",
    "cb",
    "https://example.com/" + "a" * 1981,
]


@pytest.mark.parametrize("uri", GOOD)
def test_a_good_one_is_registered(uri):
    assert App().register(redirect_uris=[uri]).status_code == 201


@pytest.mark.parametrize("uri", [*BAD, None, 7, ["https://example.com"], {"a": 1}], ids=repr)
def test_a_bad_one_is_invalid_redirect_uri(uri):
    answer = App().register(redirect_uris=[LOOPBACK, uri])
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_redirect_uri"
    assert OAuthClient.objects.count() == 0


@pytest.mark.parametrize("uris", [None, [], LOOPBACK, {}, [LOOPBACK] * 11], ids=repr)
def test_there_are_one_to_ten(uris):
    answer = App().register(redirect_uris=uris)
    assert answer.json()["error"] == "invalid_redirect_uri"


def test_ten_are_welcome():
    assert App().register(redirect_uris=[f"https://example.com/{n}" for n in range(10)]).status_code == 201


@pytest.mark.parametrize("scheme", ["javascript", "data", "file", "blob", "vbscript"])
def test_no_setting_lets_a_dangerous_scheme_in(settings, scheme):
    settings.OAUTH_PRIVATE_SCHEMES = (scheme,)
    assert App().register(redirect_uris=[f"{scheme}:x"]).json()["error"] == "invalid_redirect_uri"


def test_a_setting_lets_another_app_in(settings):
    settings.OAUTH_PRIVATE_SCHEMES = ("myapp",)
    assert App().register(redirect_uris=["myapp://cb"]).status_code == 201


@pytest.mark.parametrize("uris", ["", "http://evil.example/cb", "https://a.example javascript:alert(1)"])
def test_a_client_made_by_hand_is_held_to_the_same_rule(uris):
    client = OAuthClient(
        redirect_uris=uris,
        client_type=OAuthClient.CLIENT_PUBLIC,
        authorization_grant_type=OAuthClient.GRANT_AUTHORIZATION_CODE,
    )
    with pytest.raises(ValidationError, match=r"redirect_uris|redirect URI"):
        client.full_clean()


MATCHES = [
    (LOOPBACK, "http://127.0.0.1:8123/callback"),
    (LOOPBACK, "http://127.0.0.1:50001/callback"),
    (LOOPBACK, "http://127.0.0.1/callback"),
    ("http://localhost/cb", "http://localhost:7777/cb"),
    ("http://[::1]:1/cb?a=b", "http://[::1]:2/cb?a=b"),
    ("https://a.example/cb?a=b", "https://a.example/cb?a=b"),
    ("cursor://x/cb", "cursor://x/cb"),
]
MISMATCHES = [
    (LOOPBACK, "http://localhost:8123/callback"),
    (LOOPBACK, "http://127.0.0.1:8123/callback/"),
    (LOOPBACK, "http://127.0.0.1:8123/callback?x=1"),
    (LOOPBACK, "http://127.0.0.1:8123/callback?"),
    (LOOPBACK, "http://127.0.0.1:8123/callback#x"),
    (LOOPBACK, "http://127.0.0.1:8123/callback\n"),
    (LOOPBACK, "http://127.0.0.1:8123\\@evil.example/callback"),
    (LOOPBACK, "http://evil@127.0.0.1:8123/callback"),
    (LOOPBACK, "https://127.0.0.1:8123/callback"),
    ("https://a.example/cb", "https://a.example:443/cb"),
    ("https://a.example/cb", "https://A.example/cb"),
    ("https://a.example/cb", "HTTPS://a.example/cb"),
    ("https://a.example/cb", "https://a.example/CB"),
    ("https://a.example/cb", "https://a.example/cb/../cb"),
    ("https://a.example/cb", "https://a.example/cb;evil"),
    ("https://a.example/cb", "https://a.example.evil.example/cb"),
    ("https://a.example/cb?a=b", "https://a.example/cb?a=b&c=d"),
    ("cursor://x/cb", "cursor://x/cb2"),
    ("cursor://x/cb", "cursor://y/cb"),
]


@pytest.mark.parametrize(("registered", "asked"), MATCHES)
def test_a_registered_one_is_followed_a_loopback_one_on_any_port(client, registered, asked):
    app = App(redirect_uri=registered).registered()
    assert client.get(app.authorize_path(redirect_uri=asked)).status_code == 302


@pytest.mark.parametrize(("registered", "asked"), MISMATCHES)
def test_any_other_is_a_page_and_no_redirect(client, registered, asked):
    app = App(redirect_uri=registered).registered()
    answer = client.get(app.authorize_path(redirect_uri=asked))
    assert answer.status_code == 400
    assert "Location" not in answer
    assert "text/html" in answer["Content-Type"]
