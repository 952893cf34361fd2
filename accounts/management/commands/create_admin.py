"""`manage.py create_admin`: a user with the rights and a password of an operator."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from getpass import getpass
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.errors import InvalidEmail
from accounts.services import clean_email, ensure_user
from flashcards.outcome import committed

PASSWORD_LENGTH_MIN = 12


class Command(BaseCommand):
    """Makes a user an operator with a password."""

    help = (
        "Make the user with this address, made if need be, an operator. The password is asked for on a terminal, or "
        "read as one line of standard input; running the command again replaces it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--email", required=True, help="the operator's e-mail address")

    def handle(self, *_: Any, email: str, **__: Any) -> None:
        try:
            address = clean_email(email)
        except InvalidEmail as refusal:
            raise CommandError(refusal.message) from None
        password = _asked_password()
        with committed():
            user = ensure_user(address, now=timezone.now())
            user.is_active = user.is_staff = user.is_superuser = True
            user.set_password(password)
            user.save()
        self.stdout.write(f"{address} is an operator.")


def _asked_password() -> str:
    if sys.stdin.isatty():
        password = getpass("Password: ")
        if getpass("Password again: ") != password:
            raise CommandError("The two passwords differ.")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if len(password) < PASSWORD_LENGTH_MIN:
        raise CommandError(f"The password must have at least {PASSWORD_LENGTH_MIN} characters.")
    return password
