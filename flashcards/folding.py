"""Case folding as the whole service knows it: one code point to one, so that lengths and positions survive.

What a database would fold by itself differs from engine to engine and is not used anywhere.
"""

from __future__ import annotations

from functools import cache


@cache
def _fold_table() -> dict[int, str]:
    # Unicode has no letters with case beyond plane 1; looking at all planes would cost half a second.
    pairs = ((code, chr(code).lower()) for code in range(0x20000))
    return {code: lower for code, lower in pairs if len(lower) == 1 and ord(lower) != code}


def fold(text: str) -> str:
    """`text` with each code point lower-cased where its lower case is a single code point; same length as `text`."""
    return text.lower() if text.isascii() else text.translate(_fold_table())


def folded_pairs() -> list[tuple[str, str]]:
    """Every code point that `fold` changes, with what it becomes: for a database that folds by a table of ours."""
    return [(chr(code), lower) for code, lower in _fold_table().items()]
