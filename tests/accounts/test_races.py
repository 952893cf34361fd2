"""Signing in at the same moment from several places, against the real server with two processes of eight threads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import IPv6Address
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest

from tests.accounts.conftest import other_code
from tests.agent import Answered
from tests.server import LiveServer, running_server

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[LiveServer]:
    """A server that believes one proxy, so that each test can come from a network address of its own."""
    folder = tmp_path_factory.mktemp("races")
    with running_server(folder, WEB_CONCURRENCY="2", TRUSTED_PROXY_COUNT="1") as running:
        yield running


def at_once(actions: Sequence[Callable[[], Any]]) -> list[Any]:
    """What the actions return, each begun when all are ready."""
    barrier = Barrier(len(actions))

    def act(action: Callable[[], Any]) -> Any:
        barrier.wait(30)
        return action()

    with ThreadPoolExecutor(len(actions)) as threads:
        return list(threads.map(act, actions))


class Newcomer:
    """Somebody with an e-mail address and a network address that nobody used before."""

    def __init__(self, server: LiveServer) -> None:
        self.server = server
        self.email = f"{uuid4().hex}@example.com"
        self.forwarded = {"X-Forwarded-For": str(IPv6Address(uuid4().int))}

    def send_code(self, email: str = "") -> Answered:
        body = {"email": email or self.email}
        return self.server.request("POST", "/api/agent/send-code", body, headers=self.forwarded)

    def mails(self) -> list[str]:
        """The codes that the server printed for this address, in order."""
        printed = self.server.printed().split("\nTo: ")[1:]
        return [re.findall(r"^\d{8}$", text, re.MULTILINE)[0] for text in printed if text.startswith(self.email)]

    def challenge(self) -> tuple[str, str]:
        """A new code and its token."""
        token = self.send_code().data["otpSessionToken"]
        return self.mails()[-1], token

    def verify(self, code: str, token: str) -> Answered:
        body = {"code": code, "otpSessionToken": token, "label": "race"}
        return self.server.request("POST", "/api/agent/verify-code", body, headers=self.forwarded)


@pytest.fixture
def newcomer(server) -> Newcomer:
    return Newcomer(server)


def outcomes(answers: Sequence[Answered]) -> Counter[str]:
    """How often each code was answered; a success counts as ok."""
    return Counter("ok" if answer.body["ok"] else answer.error["code"] for answer in answers)


def test_parallel_wrong_codes_are_compared_five_times(newcomer):
    code, token = newcomer.challenge()
    answers = at_once([lambda: newcomer.verify(other_code(code), token)] * 12)
    assert outcomes(answers) == {"OTP_CODE_INVALID": 5, "OTP_TOO_MANY_ATTEMPTS": 7}
    assert newcomer.verify(code, token).error["code"] == "OTP_TOO_MANY_ATTEMPTS"


def test_after_four_wrong_codes_parallel_guesses_get_one_comparison(newcomer):
    code, token = newcomer.challenge()
    for _ in range(4):
        newcomer.verify(other_code(code), token)
    answers = at_once([lambda: newcomer.verify(other_code(code), token)] * 6)
    assert outcomes(answers) == {"OTP_CODE_INVALID": 1, "OTP_TOO_MANY_ATTEMPTS": 5}


def test_the_tokens_of_a_challenge_share_its_five_comparisons(newcomer):
    tokens = [newcomer.send_code().data["otpSessionToken"] for _ in range(6)]
    wrong = other_code(newcomer.mails()[2])
    answers = at_once([partial(newcomer.verify, wrong, token) for token in tokens[2:] * 2])
    assert outcomes(answers) == {"OTP_CODE_INVALID": 5, "OTP_TOO_MANY_ATTEMPTS": 3}


@pytest.mark.parametrize("_round", range(5))
def test_of_parallel_redemptions_one_succeeds(newcomer, _round):
    code, token = newcomer.challenge()
    answers = at_once([lambda: newcomer.verify(code, token)] * 5)
    assert outcomes(answers) == {"ok": 1, "OTP_SESSION_EXPIRED": 4}


def test_parallel_sends_mail_an_address_three_times(newcomer):
    answers = at_once([newcomer.send_code] * 10)
    assert len(newcomer.mails()) == 3
    assert set(outcomes(answers)) <= {"ok", "RATE_LIMITED"}
    assert all("Retry-After" in answer.headers for answer in answers if answer.status == 429)


def test_parallel_sends_from_one_network_address_stop_at_ten(newcomer):
    emails = [f"{number}-{newcomer.email}" for number in range(5)] * 3
    answers = at_once([partial(newcomer.send_code, email) for email in emails])
    assert outcomes(answers) == {"ok": 10, "RATE_LIMITED": 5}


def test_parallel_sends_from_one_network_address_reach_five_addresses(newcomer):
    emails = [f"{number}-{newcomer.email}" for number in range(12)]
    answers = at_once([partial(newcomer.send_code, email) for email in emails])
    assert outcomes(answers) == {"ok": 5, "RATE_LIMITED": 7}


def users_and_workspaces(server: LiveServer, keys: Sequence[str]) -> tuple[set[str], set[str]]:
    """The ids of all users and workspaces that the keys belong to."""
    users = {server.request("GET", "/v1/agent/me", key=key).data["userId"] for key in keys}
    pages = [server.request("GET", "/v1/agent/workspaces", key=key).data["workspaces"] for key in keys]
    return users, {workspace["workspaceId"] for page in pages for workspace in page}


def test_parallel_first_sign_ins_make_one_user_with_one_workspace(server, newcomer):
    challenges = [newcomer.challenge() for _ in range(3)]
    answers = at_once([partial(newcomer.verify, *pair) for pair in challenges])
    users, workspaces = users_and_workspaces(server, [answer.data["apiKey"] for answer in answers])
    assert (len(users), len(workspaces)) == (1, 1)


def test_parallel_sign_ins_make_one_workspace_for_a_user_who_has_none(server):
    newcomers = [Newcomer(server) for _ in range(8)]
    calls = [f"User.objects.create_user({newcomer.email!r})" for newcomer in newcomers]
    made = server.manage("shell", "-v0", "-c", "\n".join(["from accounts.models import User", *calls]))
    assert made.returncode == 0, made.stderr
    for newcomer in newcomers:
        challenges = [newcomer.challenge() for _ in range(3)]
        answers = at_once([partial(newcomer.verify, *pair) for pair in challenges])
        users, workspaces = users_and_workspaces(server, [answer.data["apiKey"] for answer in answers])
        assert (len(users), len(workspaces)) == (1, 1)


def test_parallel_commands_make_one_user_with_one_workspace(server, newcomer):
    words = ("create_api_key", "--email", newcomer.email, "--label", "race")
    keys = [made.stdout.strip() for made in at_once([partial(server.manage, *words)] * 4)]
    assert len(set(keys)) == 4
    users, workspaces = users_and_workspaces(server, keys)
    assert (len(users), len(workspaces)) == (1, 1)
