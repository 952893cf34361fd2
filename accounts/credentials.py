"""Codes, tokens and keys: how they are made, read, hashed and compared. Nothing here touches the database."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import unicodedata
from typing import NamedTuple

from django.utils.crypto import salted_hmac

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_DIGITS = 8
TOKEN_LENGTH = 20
KEY_ID_LENGTH = 8
KEY_SECRET_LENGTH = 26
_KEY_FORM = re.compile(rf"fca_([{CROCKFORD}]{{{KEY_ID_LENGTH}}})_([{CROCKFORD}]{{{KEY_SECRET_LENGTH}}})", re.ASCII)


class ApiKeyText(NamedTuple):
    """The two parts of `fca_<key_id>_<secret>`: one to find the row by, one to prove it."""

    key_id: str
    secret: str

    def __str__(self) -> str:
        return f"fca_{self.key_id}_{self.secret}"


def random_crockford(length: int) -> str:
    """`length` random characters of Crockford's base32, 5 bits each."""
    return "".join(secrets.choice(CROCKFORD) for _ in range(length))


def random_code() -> str:
    """Eight random digits."""
    return f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}d}"


def make_api_key() -> ApiKeyText:
    """A new key with 130 random bits of secret."""
    return ApiKeyText(random_crockford(KEY_ID_LENGTH), random_crockford(KEY_SECRET_LENGTH))


def parse_api_key(text: str) -> ApiKeyText | None:
    """The parts of a key; None for a text that cannot be one."""
    match = _KEY_FORM.fullmatch(text)
    return ApiKeyText(*match.groups()) if match else None


def hash_secret(secret: str) -> bytes:
    """SHA-256 of a secret that has so many random bits that a plain hash is enough."""
    return hashlib.sha256(secret.encode()).digest()


def same_secret(secret: str, secret_hash: bytes) -> bool:
    """Whether `secret` has that hash, compared in constant time."""
    return hmac.compare_digest(hash_secret(secret), secret_hash)


def hash_code(code: str, challenge_id: str) -> bytes:
    """A code's hash, keyed and bound to its challenge: eight digits would not survive a plain hash."""
    return salted_hmac("accounts.login_code", f"{challenge_id}:{code}", algorithm="sha256").digest()


def same_code(code: str, challenge_id: str, code_hash: bytes) -> bool:
    """Whether `code` is the one of that challenge, compared in constant time."""
    return hmac.compare_digest(hash_code(code, challenge_id), code_hash)


def normalise_code(text: str) -> str:
    """A code as it was mailed: spaces, dashes and full-width digits are the input method's doing, not the user's."""
    return _ascii(re.sub(r"[\s\u2010-\u2015-]+", "", unicodedata.normalize("NFKC", text)))


def normalise_token(text: str) -> str:
    """An otpSessionToken as it was made: case, spaces and hyphens do not matter."""
    return _ascii(re.sub(r"[\s-]+", "", text).upper())


def _ascii(text: str) -> str:
    # What is no code or token anyway must still have bytes to hash, lone surrogates included.
    return text.encode("ascii", "replace").decode()
