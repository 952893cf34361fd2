"""What a sign-in leaves in the log."""

from __future__ import annotations

import logging

import pytest
from django.core.mail.backends.locmem import EmailBackend
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.accounts.conftest import code_in, other_code
from tests.agent import Agent


@pytest.fixture
def everything_logged(db, caplog):
    """Every record of every logger, statements of the database included."""
    caplog.set_level(logging.DEBUG)
    for name in ("django.db.backends", "django.request", "django.server"):
        caplog.set_level(logging.DEBUG, logger=name)
    with CaptureQueriesContext(connection):
        yield caplog


def written(caplog) -> str:
    return "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)


def test_a_whole_sign_in_logs_neither_code_nor_token_nor_key(visitor, mailoutbox, everything_logged, capfd):
    token = visitor.token()
    code = code_in(mailoutbox[0])
    wrong = other_code(code)
    visitor.verify(wrong, token)
    key = visitor.verify(code, token).data["apiKey"]
    agent = Agent(visitor.client, None, None, key)
    agent.get("/v1/agent/me")
    agent.post("/v1/agent/workspaces", {"name": "Spanish"})
    Agent(visitor.client, None, None, key[:-1] + "!").get("/v1/agent/me")
    log = written(everything_logged) + "".join(capfd.readouterr())
    assert "/api/agent/verify-code" in log
    assert "INSERT INTO" in log
    for secret in (code, wrong, token, token.lower(), key, key.rpartition("_")[2]):
        assert secret not in log


def test_a_mail_that_fails_logs_the_kind_of_failure_alone(visitor, monkeypatch, everything_logged):
    sent = []

    def refuse(self, messages):
        sent.extend(messages)
        raise ConnectionRefusedError(f"no thanks: {messages[0].body}")

    monkeypatch.setattr(EmailBackend, "send_messages", refuse)
    assert visitor.send_code().status == 503
    log = written(everything_logged)
    assert "ConnectionRefusedError" in log
    assert code_in(sent[0]) not in log
    assert "no thanks" not in log


def test_logged_requests_name_the_route_and_not_the_path(alice, everything_logged):
    alice.post(f"/v1/agent/workspaces/{alice.workspace.workspace_id}/select")
    requests = [record for record in everything_logged.records if record.name == "flashcards.request"]
    assert [record.fields["route"] for record in requests] == ["/v1/agent/workspaces/<workspaceId>/select"]
