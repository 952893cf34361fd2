"""Users and their keys: what every way in shares, whether a code, a command or a connected app opened the door."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation.trans_real import parse_accept_lang_header

from accounts.credentials import hash_secret, make_api_key
from accounts.errors import InvalidEmail
from accounts.models import EMAIL_LENGTH_MAX, LABEL_LENGTH_MAX, ApiKey, User
from flashcards.content import ContentRefused, is_blank, refuse_unstorable
from flashcards.errors import validation_issue

LOCALES = ("en", "zh", "ru")


class IssuedKey(NamedTuple):
    """A new connection and, this once, the text of its key."""

    connection: ApiKey
    text: str


def clean_email(text: str) -> str:
    """The address trimmed and lower-cased, as accounts are found by; raises InvalidEmail when it is none."""
    email = text.strip().lower()
    try:
        refuse_unstorable(email)
        validate_email(email)
    except (ContentRefused, ValidationError):
        email = ""
    if not email or len(email) > EMAIL_LENGTH_MAX:
        message = f"email must be an address such as alice@example.com, at most {EMAIL_LENGTH_MAX} characters."
        raise InvalidEmail(message, [validation_issue("email", "invalid_email", message)])
    return email


def clean_label(text: str) -> str:
    """What a key is called: trimmed, 1 to 120 code points, not blank; raises ContentRefused, a ValueError."""
    refuse_unstorable(text)
    label = text.strip()
    if is_blank(label):
        raise ContentRefused("blank", "must not be blank")
    if len(label) > LABEL_LENGTH_MAX:
        raise ContentRefused("too_long", f"must not be longer than {LABEL_LENGTH_MAX} characters, has {len(label):,}")
    return label


def preferred_locale(accept_language: str) -> str:
    """The first of en, zh, ru that an Accept-Language header (RFC 9110 section 12.5.4) names; en when none is."""
    wanted = (language.split("-")[0] for language, _ in parse_accept_lang_header(accept_language))
    return next((language for language in wanted if language in LOCALES), LOCALES[0])


def may_sign_up(email: str) -> bool:
    """Whether the SIGNUP setting lets a new account be made for this address."""
    if settings.SIGNUP in ("open", "closed"):
        return bool(settings.SIGNUP == "open")
    return email.rpartition("@")[2] in settings.SIGNUP.split(",")


def ensure_user(email: str, *, locale: str = "en", now: datetime) -> User:
    """The user of a clean address, made when there is none; one even when several processes make it at once."""
    made = {"locale": locale, "created_at": now, "password": make_password(None)}
    return User.objects.get_or_create(email=email, defaults=made)[0]


def issue_api_key(user: User, *, label: str, now: datetime, workspace_id: UUID | None = None) -> IssuedKey:
    """A new key of `user` that has selected `workspace_id` (None: no selection). Its text exists only here."""
    key = make_api_key()
    connection = ApiKey.objects.create(
        user=user,
        label=label,
        key_id=key.key_id,
        secret_hash=hash_secret(key.secret),
        selected_workspace_id=workspace_id,
        created_at=now,
    )
    return IssuedKey(connection, str(key))
