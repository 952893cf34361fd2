"""Codes and refresh tokens presented at the same moment, against the real server with two processes of threads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from tests.accounts.test_races import at_once
from tests.oauth.app import App
from tests.oauth.live import LiveBrowser, LiveHttp, live_app
from tests.server import LiveServer, running_server

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[LiveServer]:
    many = {"LIMIT_IP_SENDS": "1000/60", "LIMIT_IP_ADDRESSES": "1000/60"}
    with running_server(tmp_path_factory.mktemp("oauth"), WEB_CONCURRENCY="2", **many) as running:
        yield running


@pytest.fixture
def app(server) -> App:
    return live_app(server)


@pytest.fixture
def browser(server) -> LiveBrowser:
    """Somebody new, signed in."""
    return LiveBrowser(server, f"{uuid4().hex}@example.com")


def opens(server: LiveServer, access_token: str) -> bool:
    """Whether /mcp lets the token in."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    status, _, _ = server.raw_request("POST", "/mcp", body, headers={"Authorization": f"Bearer {access_token}"})
    assert status in (200, 401)
    return status == 200


def outcomes(answers: list[Any]) -> Counter[str]:
    """How often each error was answered; a success counts as ok."""
    return Counter("ok" if answer.status_code == 200 else answer.json()["error"] for answer in answers)


def test_of_six_parallel_redemptions_at_most_one_succeeds_and_the_others_end_it(server, app, browser):
    for _ in range(5):
        code = browser.allow(app)
        answers = at_once([partial(app.redeem, code)] * 6)
        assert outcomes(answers) == {"ok": 1, "invalid_grant": 5}
        (won,) = [answer.json() for answer in answers if answer.status_code == 200]
        assert not opens(server, won["access_token"])
        assert app.refresh(won["refresh_token"]).json()["error"] == "invalid_grant"


def test_five_parallel_refreshes_all_give_usable_pairs(server, app, browser):
    for _ in range(5):
        token = browser.connect(app).refresh
        answers = at_once([partial(app.refresh, token)] * 5)
        assert outcomes(answers) == {"ok": 5}
        bodies = [answer.json() for answer in answers]
        assert len({body["refresh_token"] for body in bodies}) == 5
        assert all(opens(server, body["access_token"]) for body in bodies)
        again = at_once([partial(app.refresh, body["refresh_token"]) for body in bodies])
        assert outcomes(again) == {"ok": 5}


def test_of_twelve_parallel_refreshes_the_seventh_ends_the_family(server, app, browser):
    token = browser.connect(app).refresh
    answers = at_once([partial(app.refresh, token)] * 12)
    assert outcomes(answers) == {"ok": 6, "invalid_grant": 6}
    assert not any(opens(server, a.json()["access_token"]) for a in answers if a.status_code == 200)


def test_refreshing_while_revoking_leaves_nothing_alive(server, app, browser):
    for _ in range(5):
        token = browser.connect(app).refresh
        refresh, revoke = partial(app.refresh, token), partial(app.revoke, token)
        answers = at_once([refresh, refresh, revoke, refresh, refresh])
        given = [a.json() for a in answers if a.status_code == 200 and a.content]
        assert not any(opens(server, body["access_token"]) for body in given)
        assert all(app.refresh(body["refresh_token"]).status_code == 400 for body in given)


def test_two_presses_at_once_get_one_code(server, app, browser):
    path = app.authorize_path()
    page = browser.get(path)
    answers = at_once([partial(browser.press, path, page, decision="allow")] * 4)
    assert {answer.status_code for answer in answers} == {303}
    assert len({answer["Location"] for answer in answers}) == 1


def test_equal_registrations_at_once_get_one_client(server):
    name = uuid4().hex
    apps = at_once([partial(live_app, server, client_name=name)] * 8)
    assert len({app.client_id for app in apps}) == 1


def test_a_flood_of_registrations_stops_at_the_limit(tmp_path):
    with running_server(tmp_path, WEB_CONCURRENCY="2", LIMIT_REGISTRATIONS="10/3600") as running:
        apps = [App(http=LiveHttp(running)) for _ in range(16)]
        answers = at_once([app.register for app in apps])
        assert Counter(answer.status_code for answer in answers) == {201: 10, 429: 6}
