"""An app that connects, and the browser that its user allows it with: both through Django's test client."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from django.test import Client
from django.utils import timezone

from accounts.auth import Principal, principal_of_bearer
from accounts.models import User
from accounts.oauth.models import OAuthConnection

LOOPBACK = "http://127.0.0.1:8123/callback"
WEB = "https://claude.ai/api/mcp/auth_callback"
RESOURCE = "http://localhost:8000/mcp"
ISSUER = "http://localhost:8000"
FORM = "application/x-www-form-urlencoded"


def challenge_of(verifier: str) -> str:
    """The S256 challenge (RFC 7636 section 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def without_none(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that a test did not take away by naming them None."""
    return {name: value for name, value in fields.items() if value is not None}


def answer_in(location: str) -> dict[str, str]:
    """The parameters of a redirect back to the app; fails when one is there twice."""
    pairs = parse_qsl(urlsplit(location).query, keep_blank_values=True)
    assert len(dict(pairs)) == len(pairs), location
    return dict(pairs)


@dataclass
class App:
    """One app: what it registered, and the requests it sends."""

    redirect_uri: str = LOOPBACK
    client_id: str = ""
    resource: str = RESOURCE
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    http: Any = field(default_factory=lambda: Client(raise_request_exception=False))

    def register(self, **said: Any) -> Any:
        """The answer of /register."""
        body = without_none({"client_name": "Claude", "redirect_uris": [self.redirect_uri], **said})
        return self.http.post("/register", json.dumps(body), content_type="application/json")

    def registered(self, **said: Any) -> App:
        """This app once it has a client_id."""
        answer = self.register(**said)
        assert answer.status_code == 201, answer.content
        self.client_id = answer.json()["client_id"]
        return self

    def authorize_path(self, **changes: Any) -> str:
        """Where the app sends the browser."""
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "state": "xyz",
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
            "resource": self.resource,
            **changes,
        }
        return "/authorize?" + urlencode(without_none(asked), doseq=True)

    def token_request(self, fields: dict[str, Any], **headers: str) -> Any:
        """The answer of /token to that form."""
        return self.http.post("/token", urlencode(without_none(fields), doseq=True), content_type=FORM, headers=headers)

    def redeem(self, code: str, /, **changes: Any) -> Any:
        """The answer of /token to a code."""
        return self.token_request(
            {
                "grant_type": "authorization_code",
                "code": code,
                "client_id": self.client_id,
                "redirect_uri": self.redirect_uri,
                "code_verifier": self.verifier,
                **changes,
            }
        )

    def refresh(self, token: str, /, **changes: Any) -> Any:
        """The answer of /token to a refresh token."""
        fields = {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.client_id, **changes}
        return self.token_request(fields)

    def revoke(self, token: str, **changes: Any) -> Any:
        """The answer of /revoke."""
        fields = without_none({"token": token, "client_id": self.client_id, **changes})
        return self.http.post("/revoke", urlencode(fields, doseq=True), content_type=FORM)


@dataclass
class Pair:
    """The two tokens of an answer, and whether they still open the door."""

    access: str
    refresh: str
    scope: str

    @property
    def principal(self) -> Principal | None:
        """Who the access token lets in at this moment."""
        return principal_of_bearer(self.access, now=timezone.now())

    @property
    def opens(self) -> bool:
        """Whether the access token lets somebody in."""
        return self.principal is not None

    @property
    def connection(self) -> OAuthConnection:
        """The connection that the access token belongs to."""
        assert self.principal is not None
        found = self.principal.connection
        assert isinstance(found, OAuthConnection)
        return found


def pair_of(answer: Any) -> Pair:
    """The tokens in a success; fails the test for an error."""
    assert answer.status_code == 200, answer.content
    body = answer.json()
    return Pair(body["access_token"], body["refresh_token"], body["scope"])


class Browser:
    """A person's browser. It keeps cookies, sends the forms that pages hold, and is checked for CSRF like any."""

    def __init__(self, user: User | None = None) -> None:
        self.http: Any = Client(enforce_csrf_checks=True, raise_request_exception=False)
        if user is not None:
            self.http.force_login(user)

    def get(self, path: str, **headers: str) -> Any:
        return self.http.get(path, headers=headers)

    def press(self, path: str, page: Any, **fields: Any) -> Any:
        """Send the page's first form to `path`, its hidden fields and these."""
        return self.http.post(path, without_none(hidden_fields(page) | fields))

    def decide(self, path: str, decision: str, **fields: Any) -> Any:
        """Open the consent page and press a button of it."""
        page = self.get(path)
        assert page.status_code == 200, page.content
        return self.press(path, page, decision=decision, **fields)

    def allow(self, app: App, *, asked: dict[str, Any] | None = None, **fields: Any) -> str:
        """The code that the app gets once its request was allowed."""
        answer = self.decide(app.authorize_path(**(asked or {})), "allow", **fields)
        assert answer.status_code == 303, answer.content
        return parse_qs(urlsplit(answer["Location"]).query)["code"][0]

    def connect(self, app: App, *, asked: dict[str, Any] | None = None, **fields: Any) -> Pair:
        """The tokens of the app once it is connected."""
        return pair_of(app.redeem(self.allow(app, asked=asked, **fields)))


def hidden_fields(page: Any) -> dict[str, str]:
    """The hidden fields of a page's first form that has any besides the CSRF token, else of its first form."""
    forms = [
        {unescape(name): unescape(value) for name, value in _HIDDEN.findall(form)}
        for form in re.findall(r"<form.*?</form>", page.content.decode(), re.DOTALL)
    ]
    return next((form for form in forms if len(form) > 1), forms[0])


_HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)"')
