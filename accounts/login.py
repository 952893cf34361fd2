"""Sign-in by a mailed code: the one service behind the agent API, the login page and OAuth sign-in.

Call these functions outside of a transaction: they keep their counts even when they refuse, and no lock is held while
the mail server answers. They take plain arguments and read no request; `now` is the caller's clock.
"""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, QuerySet

from accounts.credentials import (
    TOKEN_LENGTH,
    hash_code,
    hash_secret,
    normalise_code,
    normalise_token,
    random_code,
    random_crockford,
    same_code,
)
from accounts.errors import OtpCodeInvalid, OtpSendFailed, OtpSessionExpired, OtpTooManyAttempts
from accounts.mail import send_code_mail
from accounts.models import CODE_LIFETIME, WRONG_CODES_MAX, LoginChallenge, LoginToken, SendLog, User
from accounts.security_log import log_event
from accounts.send_limits import (
    hold_names,
    rate_limited,
    refuse_busy_address,
    seconds_until_mail,
    send_log_start,
)
from accounts.services import IssuedKey, clean_email, ensure_user, issue_api_key, may_sign_up
from accounts.workspaces import ensure_first_workspace
from flashcards.errors import Advice, Forbidden
from flashcards.outcome import committed

NO_CODE_HASH = b""
_LOCKED = Advice(
    rest="This code is locked after too many wrong ones. POST /api/agent/send-code for a new one.",
    mcp="This code is locked after too many wrong ones. Start the sign-in again.",
)


@dataclass(frozen=True, slots=True)
class SentCode:
    """What the one who asked for a code holds: the token to hand in with it, and how long both are good for."""

    email: str
    token: str
    expires_in_seconds: int


def send_code(*, email: str, client_address: str, locale: str, now: datetime) -> SentCode:
    """Mail a sign-in code to `email` and return the token that goes with it.

    `locale` (en, zh, ru) is the mail's language unless the account has one. The answer does not tell whether an
    account exists, nor whether sign-up is refused. Over the limits of the address no mail goes out and the token
    leads to its newest live code. Parallel requests for one e-mail address, or from one IP address, are let through
    one by one (`send_limits.hold_names`), so that no limit is overrun.

    Raises InvalidEmail; RateLimited with Retry-After; OtpSendFailed, after which the request does not count for the
    e-mail address and there is no challenge.
    """
    email = clean_email(email)
    with committed():
        hold_names(f"email:{email}", f"client:{client_address}")
        refuse_busy_address(client_address, email, now=now)
        wait_seconds = seconds_until_mail(email, now=now)
        if wait_seconds:
            return _another_token(email, client_address, wait_seconds, now=now)
        entry = SendLog.objects.create(email=email, client_address=client_address, new_code=True, created_at=now)
    return _mailed_code(entry, locale=locale, now=now)


def _another_token(email: str, client_address: str, wait_seconds: int, *, now: datetime) -> SentCode:
    challenge = _live_challenges(now=now).filter(email=email).order_by("-created_at").first()
    if challenge is None:
        raise rate_limited("Too many sign-in codes were asked for, for this e-mail address.", wait_seconds)
    SendLog.objects.create(email=email, client_address=client_address, new_code=False, created_at=now)
    return _with_token(challenge, now=now)


def _live_challenges(*, now: datetime) -> QuerySet[LoginChallenge]:
    return LoginChallenge.objects.filter(expires_at__gt=now, used_at__isnull=True, wrong_codes__lt=WRONG_CODES_MAX)


def _mailed_code(entry: SendLog, *, locale: str, now: datetime) -> SentCode:
    # Stored after the mail went out: until then nobody else can be given a token for a code that never arrives.
    challenge = LoginChallenge(
        id=uuid.uuid4(), email=entry.email, code_hash=NO_CODE_HASH, created_at=now, expires_at=now + CODE_LIFETIME
    )
    user = User.objects.filter(email=entry.email).first()
    if user.is_active if user else may_sign_up(entry.email):
        code = random_code()
        challenge.code_hash = hash_code(code, str(challenge.id))
        try:
            send_code_mail(entry.email, code, locale=user.locale if user else locale)
        except OtpSendFailed:
            SendLog.objects.filter(pk=entry.pk).update(new_code=False)
            raise
    with committed():
        challenge.save(force_insert=True)
        return _with_token(challenge, now=now)


def _with_token(challenge: LoginChallenge, *, now: datetime) -> SentCode:
    token = random_crockford(TOKEN_LENGTH)
    LoginToken.objects.create(token_hash=hash_secret(token), challenge=challenge, created_at=now)
    return SentCode(challenge.email, token, math.ceil((challenge.expires_at - now).total_seconds()))


def sign_in_with_code(*, code: str, token: str, locale: str, now: datetime) -> User:
    """The user whom the code was mailed to; the first sign-in makes the account and its first workspace.

    `code` may carry spaces and dashes, `token` is the one of `send_code`; `locale` becomes that of a new account.
    Raises OtpCodeInvalid, OtpTooManyAttempts after five wrong codes, OtpSessionExpired for a token that is unknown or
    a code that is used or too old (of parallel redemptions one succeeds), Forbidden for an account switched off.
    """
    challenge = _proved_challenge(code, token, now=now)
    with committed():
        return _signed_in(challenge, locale=locale, now=now)


def issue_key_for_code(*, code: str, token: str, label: str, locale: str, now: datetime) -> IssuedKey:
    """As `sign_in_with_code`, for a command-line agent: a new API key named `label`, in the same transaction."""
    challenge = _proved_challenge(code, token, now=now)
    with committed():
        user = _signed_in(challenge, locale=locale, now=now)
        return issue_api_key(user, label=label, now=now)


def _proved_challenge(code: str, token: str, *, now: datetime) -> LoginChallenge:
    """The challenge whose code this is. Each comparison is counted before it is made, so that none is a sixth."""
    of_token = LoginChallenge.objects.filter(tokens__token_hash=hash_secret(normalise_token(token)))
    challenge_ids = list(of_token.values_list("pk", flat=True))
    counted = _live_challenges(now=now).filter(pk__in=challenge_ids).update(wrong_codes=F("wrong_codes") + 1)
    challenge = LoginChallenge.objects.filter(pk__in=challenge_ids).first()
    if challenge is None:
        raise OtpSessionExpired("The otpSessionToken is unknown or its time is over.")
    if not counted:
        raise _refusal_of(challenge, now=now)
    if not same_code(normalise_code(code), str(challenge.id), bytes(challenge.code_hash)):
        attempts_left = WRONG_CODES_MAX - challenge.wrong_codes
        if not attempts_left:
            log_event("sign-in code locked", suspicious=True, challenge=challenge.id)
        raise _wrong_code(attempts_left)
    return challenge


def _refusal_of(challenge: LoginChallenge, *, now: datetime) -> OtpSessionExpired | OtpTooManyAttempts:
    if challenge.used_at is not None:
        return OtpSessionExpired("The code was used already.")
    if challenge.expires_at <= now:
        return OtpSessionExpired("The code is too old.")
    return OtpTooManyAttempts(f"{WRONG_CODES_MAX} wrong codes were given.")


def _wrong_code(attempts_left: int) -> OtpCodeInvalid:
    details = {"attemptsRemaining": attempts_left}
    return OtpCodeInvalid("The code is wrong.", details=details, instructions=None if attempts_left else _LOCKED)


def _signed_in(challenge: LoginChallenge, *, locale: str, now: datetime) -> User:
    unused = LoginChallenge.objects.filter(pk=challenge.pk, used_at__isnull=True)
    if not unused.update(used_at=now, wrong_codes=F("wrong_codes") - 1):
        raise OtpSessionExpired("The code was used already.")
    user = ensure_user(challenge.email, locale=locale, now=now)
    if not user.is_active:
        raise Forbidden("This account is switched off.", instructions=_ASK_OPERATOR)
    ensure_first_workspace(user, now=now)
    return user


_ASK_OPERATOR = Advice(
    rest="Ask the operator of this service to switch the account on again.",
    mcp="Ask the operator of this service to switch the account on again.",
)


def prune_login(*, now: datetime) -> int:
    """Delete codes that are too old, their tokens, and requests that no limit counts any more; returns how many."""
    codes, _ = LoginChallenge.objects.filter(expires_at__lte=now).delete()
    requests, _ = SendLog.objects.filter(created_at__lt=send_log_start(now=now)).delete()
    return codes + requests
