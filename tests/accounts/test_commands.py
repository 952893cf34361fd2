"""Commands for operators: keys, admins, pruning."""

from __future__ import annotations

import io
import sys
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.login import send_code
from accounts.models import ApiKey, LoginChallenge, SendLog, User
from flashcards.management.commands.demo import free_port
from flashcards.models import Workspace
from tests.agent import Agent
from tests.factories import make_user, make_workspace

pytestmark = pytest.mark.django_db


def created_key(capsys, **options: str) -> str:
    """What create_api_key prints on standard output."""
    call_command("create_api_key", **{"email": "Alice@Example.com", "label": "laptop", **options})
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def agent_of(client, key: str) -> Agent:
    return Agent(client, None, None, key.strip())


def test_the_key_stands_alone_on_standard_output_and_works(capsys, client):
    printed = created_key(capsys)
    assert printed == printed.strip() + "\n"
    me = agent_of(client, printed).get("/v1/agent/me").data
    assert me["profile"]["email"] == "alice@example.com"
    assert me["selectedWorkspaceId"] == str(Workspace.objects.get(name="Personal").workspace_id)
    assert ApiKey.objects.get().label == "laptop"


def test_sign_up_rules_do_not_bind_the_command(capsys, settings):
    settings.SIGNUP = "closed"
    created_key(capsys)
    assert User.objects.get().email == "alice@example.com"


def test_a_second_key_makes_neither_user_nor_workspace(capsys):
    assert created_key(capsys) != created_key(capsys)
    assert (User.objects.count(), Workspace.objects.count(), ApiKey.objects.count()) == (1, 1, 2)


def test_a_named_workspace_is_made_once_and_selected(capsys, client):
    make_workspace(make_user("alice@example.com"), name="Personal")
    keys = [created_key(capsys, workspace="Spanish") for _ in range(2)]
    spanish = Workspace.objects.get(name="Spanish")
    for key in keys:
        assert agent_of(client, key).get("/v1/agent/me").data["selectedWorkspaceId"] == str(spanish.workspace_id)
    assert agent_of(client, created_key(capsys)).get("/v1/agent/me").data["selectedWorkspaceId"] is None


def test_a_new_user_with_a_named_workspace_has_that_one_alone(capsys):
    created_key(capsys, workspace="Spanish")
    assert [workspace.name for workspace in Workspace.objects.all()] == ["Spanish"]


def test_another_user_s_workspace_of_that_name_is_not_taken(capsys, client):
    foreign = make_workspace(make_user("bob@example.com"), name="Spanish")
    key = created_key(capsys, workspace="Spanish")
    assert agent_of(client, key).get("/v1/agent/me").data["selectedWorkspaceId"] != str(foreign.workspace_id)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"email": "alice"}, "email must be an address"),
        ({"label": "  "}, "--label must not be blank"),
        ({"label": "x" * 121}, "--label must not be longer than 120"),
        ({"workspace": ""}, "--workspace must not be blank"),
    ],
)
def test_a_wrong_option_is_named_and_nothing_is_made(capsys, options, said):
    with pytest.raises(CommandError, match=said):
        created_key(capsys, **options)
    assert not User.objects.exists()


def test_no_key_is_made_for_an_account_that_is_switched_off(capsys):
    make_user("alice@example.com", is_active=False)
    with pytest.raises(CommandError, match="switched off"):
        created_key(capsys)
    assert not ApiKey.objects.exists()


def test_create_admin_lets_the_user_into_the_admin(monkeypatch, client):
    make_user("alice@example.com", is_active=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO("correct horse battery\n"))
    call_command("create_admin", email="alice@example.com")
    assert client.login(username="alice@example.com", password="correct horse battery")
    user = User.objects.get()
    assert user.is_staff
    assert user.is_superuser
    assert not Workspace.objects.exists()


@pytest.mark.parametrize("typed", ["", "short\n"])
def test_create_admin_wants_a_password_of_twelve_characters(monkeypatch, typed):
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    with pytest.raises(CommandError, match="at least 12"):
        call_command("create_admin", email="alice@example.com")
    assert not User.objects.exists()


def test_prune_tells_what_it_deleted(capsys):
    for hours_ago in (0, 1, 48):
        asked_at = timezone.now() - timedelta(hours=hours_ago)
        send_code(email="carol@example.com", client_address="192.0.2.1", locale="en", now=asked_at)
    for hours in (-1, 1):
        expiry = timezone.now() + timedelta(hours=hours)
        Session.objects.create(session_key=f"session{hours}", session_data="", expire_date=expiry)
    call_command("prune")
    printed = capsys.readouterr().out
    assert "sign-in codes and requests: 5 deleted" in printed
    assert "sessions of people: 1 deleted" in printed
    assert [session.session_key for session in Session.objects.all()] == ["session1"]
    assert (LoginChallenge.objects.count(), SendLog.objects.count()) == (1, 2)


def test_sendtestemail_uses_the_configured_mail_server():
    call_command("sendtestemail", "alice@example.com")
    assert mail.outbox[0].to == ["alice@example.com"]


def test_a_mail_server_that_is_away_is_said_in_a_line(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()
    with pytest.raises(CommandError, match=r"^EMAIL_URL: the mail could not be sent \(.*refused\)\.$"):
        call_command("sendtestemail", "alice@example.com")
