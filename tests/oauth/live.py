"""The app and the browser of `tests.oauth.app` against a real server."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import httpx

from tests.oauth.app import FORM, App, Browser
from tests.server import LiveServer


class LiveAnswer:
    """An answer of the real server, read as Django's test client has them read."""

    def __init__(self, answer: httpx.Response) -> None:
        self.status_code, self.content, self.headers = answer.status_code, answer.content, answer.headers
        self.json = answer.json

    def __getitem__(self, header: str) -> str:
        return self.headers[header]


class LiveHttp:
    """Requests to the real server, each on a connection of its own, with the signature of Django's test client."""

    def __init__(self, server: LiveServer) -> None:
        self.base_url, self.cookies = server.url, httpx.Cookies()

    def get(self, path: str, headers: dict[str, str] | None = None) -> LiveAnswer:
        return self._answer("GET", path, None, headers)

    def post(
        self, path: str, data: Any = None, content_type: str = FORM, headers: dict[str, str] | None = None
    ) -> LiveAnswer:
        body = urlencode(data) if isinstance(data, dict) else data
        return self._answer("POST", path, body, {"Content-Type": content_type, **(headers or {})})

    def _answer(self, method: str, path: str, body: str | None, headers: dict[str, str] | None) -> LiveAnswer:
        with httpx.Client(base_url=self.base_url, cookies=self.cookies, timeout=60, trust_env=False) as client:
            answer = client.request(method, path, content=body, headers=headers)
        self.cookies.update(answer.cookies)
        return LiveAnswer(answer)


def live_app(server: LiveServer, **said: Any) -> App:
    """A registered app that speaks to the server."""
    return App(http=LiveHttp(server), resource=f"{server.url}/mcp").registered(**said)


class LiveBrowser(Browser):
    """A browser at the server, signed in by a code that the server printed as mail."""

    def __init__(self, server: LiveServer, email: str) -> None:
        super().__init__()
        self.http = LiveHttp(server)
        sent = self.press("/login/", self.get("/login/"), email=email)
        assert sent.status_code == 303, sent.content
        done = self.press("/login/code/", self.get("/login/code/"), code=mailed_code(server, email))
        assert done.status_code == 303, done.content


def mailed_code(server: LiveServer, email: str) -> str:
    """The newest code that the server printed for that address."""
    mails = [text for text in server.printed().split("\nTo: ")[1:] if text.startswith(email)]
    return re.findall(r"^\d{8}$", mails[-1], re.MULTILINE)[0]
