"""The sign-in mail: its words in three languages, and how it is handed to the mail server."""

from __future__ import annotations

import logging
from smtplib import SMTPException
from typing import NamedTuple

from django.conf import settings
from django.core.mail import EmailMessage

from accounts.errors import OtpSendFailed
from accounts.models import CODE_LIFETIME

log = logging.getLogger(__name__)


class _Words(NamedTuple):
    subject: str
    body: str


_WORDS = {
    "en": _Words(
        "{code} is your {service} sign-in code",
        "Your sign-in code for {service}:\n\n{code}\n\n"
        "It is good for {minutes} minutes and for one sign-in. Tell it only to the program or page where you asked "
        "for it.\n\nIf you did not ask for a code, ignore this mail: nobody can sign in without it.\n",
    ),
    "zh": _Words(
        "{service} 登录验证码:{code}",
        "您的 {service} 登录验证码:\n\n{code}\n\n"
        "验证码 {minutes} 分钟内有效,仅可使用一次。请只在您发起登录的程序或页面中使用它。\n\n"
        "如果您没有请求验证码,请忽略此邮件:没有验证码,任何人都无法登录。\n",
    ),
    "ru": _Words(
        "{code} — код для входа в {service}",
        "Ваш код для входа в {service}:\n\n{code}\n\n"
        "Код действует {minutes} минуты и подходит для одного входа. Сообщайте его только той программе или странице, "
        "в которой вы его запросили.\n\nЕсли вы не запрашивали код, не отвечайте на это письмо: без кода никто не "
        "войдёт.\n",
    ),
}


def send_code_mail(email: str, code: str, *, locale: str) -> None:
    """Mail `code` to `email` as plain text in the language of `locale` (en, zh, ru; English for any other).

    Raises OtpSendFailed when the mail server refuses, or does not answer within EMAIL_TIMEOUT seconds.
    """
    words = _WORDS.get(locale.split("-", maxsplit=1)[0], _WORDS["en"])
    named = {
        "code": code,
        "service": " ".join(settings.SERVICE_NAME.split()),
        "minutes": int(CODE_LIFETIME.total_seconds() // 60),
    }
    message = EmailMessage(
        subject=words.subject.format(**named),
        body=words.body.format(**named),
        to=[email],
        headers={"Auto-Submitted": "auto-generated"},
    )
    try:
        message.send()
    except (SMTPException, OSError) as error:
        # The server's words may quote the recipient or the mail; the kind of failure is enough to act on.
        log.error("sign-in mail not sent: %s", type(error).__name__)  # noqa: TRY400
        raise OtpSendFailed("The mail server did not take the mail.") from None
