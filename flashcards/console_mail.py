"""Mail for a machine without a mail server: printed, and said to be."""

from __future__ import annotations

from django.core.mail import EmailMessage
from django.core.mail.backends.console import EmailBackend

WARNING = (
    "EMAIL_URL is not set: mail is printed here instead of sent, sign-in codes included. "
    "Whoever reads this output can sign in as anybody."
)


class ConsoleMail(EmailBackend):
    """Prints each mail to standard output under a line that nobody overlooks."""

    def write_message(self, message: EmailMessage) -> None:
        """The warning, the mail, a rule."""
        self.stream.write(f"\n*** {WARNING} ***\n")
        super().write_message(message)
