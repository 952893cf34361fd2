"""`manage.py create_api_key`: a key for an agent, without a mail."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.errors import InvalidEmail
from accounts.services import IssuedKey, clean_email, clean_label, ensure_user, issue_api_key
from accounts.workspaces import ensure_first_workspace, ensure_named_workspace
from flashcards.content import ContentRefused, clean_workspace_name
from flashcards.outcome import committed


class Command(BaseCommand):
    """Prints a new API key, and nothing else, on standard output."""

    help = (
        "Make an API key and print it, alone, on standard output; it is not shown again. The user is made if need be, "
        "whatever SIGNUP says, and so is a first workspace."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--email", required=True, help="the user's e-mail address")
        parser.add_argument("--label", required=True, help="what the user will know this key by")
        parser.add_argument("--workspace", metavar="NAME", help="select the workspace of this name, made if need be")

    def handle(self, *_: Any, email: str, label: str, workspace: str | None = None, **__: Any) -> None:
        address = _clean("--email", clean_email, email)
        label = _clean("--label", clean_label, label)
        name = None if workspace is None else _clean("--workspace", clean_workspace_name, workspace)
        self.stdout.write(_issue(address, label, workspace_name=name).text)


def _clean(option: str, clean: Callable[[str], str], value: str) -> str:
    try:
        return clean(value)
    except InvalidEmail as refusal:
        raise CommandError(refusal.message) from None
    except ContentRefused as refusal:
        raise CommandError(f"{option} {refusal.message}.") from None


def _issue(email: str, label: str, *, workspace_name: str | None) -> IssuedKey:
    now = timezone.now()
    with committed():
        user = ensure_user(email, now=now)
        if not user.is_active:
            raise CommandError("This account is switched off; switch it on in the admin first.")
        if workspace_name is None:
            ensure_first_workspace(user, now=now)
            return issue_api_key(user, label=label, now=now)
        workspace = ensure_named_workspace(user, name=workspace_name, now=now)
        return issue_api_key(user, label=label, now=now, workspace_id=workspace.workspace_id)
