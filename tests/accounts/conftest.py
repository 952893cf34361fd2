"""Someone who is not signed in, and the mails that reach them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from tests.agent import Agent, Answered


class Visitor(Agent):
    """An agent without a key."""

    def __init__(self, **meta: Any) -> None:
        super().__init__(Client(raise_request_exception=False, **meta), None, None, "")

    def send_code(self, email: str = "carol@example.com") -> Answered:
        return self.post("/api/agent/send-code", {"email": email})

    def token(self, email: str = "carol@example.com") -> str:
        return self.send_code(email).data["otpSessionToken"]

    def verify(self, code: str, token: str, label: str = "laptop") -> Answered:
        return self.post("/api/agent/verify-code", {"code": code, "otpSessionToken": token, "label": label})


def code_in(mail) -> str:
    """The code of a sign-in mail."""
    (code,) = re.findall(r"^\d{8}$", mail.body, re.MULTILINE)
    return code


def other_code(code: str) -> str:
    """Eight digits that are not `code`."""
    return f"{(int(code) + 1) % 10**8:08d}"


@pytest.fixture
def visitor(db) -> Visitor:
    """Someone at 127.0.0.1 without a key."""
    return Visitor()
