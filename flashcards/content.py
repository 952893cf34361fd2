"""What people write into cards, decks and workspaces: how it is tidied, and what is refused.

Every door uses these same rules: SQL, the tools, the web pages and the archive. Each function returns the value as it
is stored and raises ContentRefused. Nothing is normalised beyond what is said here. Lengths are in code points.
"""

from __future__ import annotations

import re

FRONT_TEXT_LENGTH_MAX = 20_000
BACK_TEXT_LENGTH_MAX = 100_000
NAME_LENGTH_MAX = 200
TAG_LENGTH_MAX = 100
TAGS_MAX = 50
CARD_TYPES = ("basic", "cloze")
# Advice to whoever writes cards; nothing checks it.
CARD_CONTRACT = (
    "front_text holds only the question or prompt, never the answer; "
    "back_text holds the answer, optionally with one concrete example."
)

# White space, and the characters that Unicode calls default-ignorable (UAX #44): they leave nothing to read.
_INVISIBLE = re.compile(
    "[\\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class ContentRefused(ValueError):
    """A value that is not stored.

    The message is a predicate without its subject ("must not be blank"), so that each door names the field in its own
    words. `reason` is a stable code: wrong_type, nul_character, lone_surrogate, blank, too_long, too_many or
    unknown_type.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def clean_front_text(value: object) -> str:
    """The front of a card: trimmed, 1 to 20,000 code points, not blank."""
    return _clean_text(value, length_max=FRONT_TEXT_LENGTH_MAX)


def clean_back_text(value: object) -> str:
    """The back of a card: trimmed, at most 100,000 code points; may be empty."""
    return _clean_text(value, length_max=BACK_TEXT_LENGTH_MAX, may_be_blank=True)


def clean_deck_name(value: object) -> str:
    """A deck's name: trimmed, 1 to 200 code points, not blank. Two decks may share one."""
    return _clean_text(value, length_max=NAME_LENGTH_MAX)


def clean_workspace_name(value: object) -> str:
    """A workspace's name: trimmed, 1 to 200 code points, not blank."""
    return _clean_text(value, length_max=NAME_LENGTH_MAX)


def clean_tags(value: object) -> list[str]:
    """The tags of a card or deck: each trimmed, not blank and at most 100 code points.

    Exact duplicates are dropped, the first of each kept in its place; case variants are different tags. At most 50 may
    remain.
    """
    if not isinstance(value, list | tuple):
        raise ContentRefused("wrong_type", "must be a list of tags")
    tags = list(dict.fromkeys(map(_clean_tag, value)))
    if len(tags) > TAGS_MAX:
        raise ContentRefused("too_many", f"must not have more than {TAGS_MAX} tags, has {len(tags):,}")
    return tags


def clean_card_type(value: object) -> str:
    """A card's type, `basic` or `cloze`."""
    if value not in CARD_TYPES:
        raise ContentRefused("unknown_type", f"must be {' or '.join(CARD_TYPES)}")
    return str(value)


def refuse_unstorable(text: str) -> None:
    """Refuse a text with a NUL or a lone surrogate: PostgreSQL stores neither, UTF-8 has no place for the latter."""
    found = _UNSTORABLE.search(text)
    if found is None:
        return
    code = ord(found[0])
    if code == 0:
        raise ContentRefused("nul_character", "must not contain a NUL character (U+0000)")
    raise ContentRefused("lone_surrogate", f"must not contain a lone surrogate (U+{code:04X})")


def is_blank(text: str) -> bool:
    """Whether there is nothing to read in `text`: white space and zero-width characters alone."""
    return _INVISIBLE.fullmatch(text) is not None


def _clean_text(value: object, *, length_max: int, may_be_blank: bool = False) -> str:
    if not isinstance(value, str):
        raise ContentRefused("wrong_type", "must be text")
    refuse_unstorable(value)
    text = value.strip()
    if is_blank(text) and not may_be_blank:
        raise ContentRefused("blank", "must not be blank")
    if len(text) > length_max:
        raise ContentRefused("too_long", f"must not be longer than {length_max:,} characters, has {len(text):,}")
    return text


def _clean_tag(value: object) -> str:
    if not isinstance(value, str):
        raise ContentRefused("wrong_type", "must hold text only")
    refuse_unstorable(value)
    tag = value.strip()
    if is_blank(tag):
        raise ContentRefused("blank", "must not hold a blank tag")
    if len(tag) > TAG_LENGTH_MAX:
        limit = f"{TAG_LENGTH_MAX} characters, has one of {len(tag):,}"
        raise ContentRefused("too_long", f"must not hold a tag longer than {limit}")
    return tag
