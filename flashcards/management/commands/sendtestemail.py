"""`manage.py sendtestemail`: Django's own, which says in one line what the mail server did not like."""

from __future__ import annotations

from smtplib import SMTPException
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import sendtestemail


class Command(sendtestemail.Command):
    """Sends a mail to the addresses given, to try EMAIL_URL."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
        except (SMTPException, OSError) as error:
            raise CommandError(f"EMAIL_URL: the mail could not be sent ({error}).") from None
