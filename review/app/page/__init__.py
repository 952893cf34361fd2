"""The page of the review session: one document, put together from the files of this folder."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from string import Template

PAGE_URI = "ui://flashcards/review-v1.html"
PAGE_BYTES_MAX = 40_000

_SOURCES = Path(__file__).parent
_SCRIPTS = ("words.js", "protocol.js", "round.js", "handoff.js", "view.js", "main.js")
_FOR_READERS = re.compile(r"^\s*(?:/\*[^\0]*?\*/|//.*)\n|^\s+", re.MULTILINE)
# A space before a colon or a bracket would matter to a selector; one after them never does.
_SPACE_IN_STYLE = re.compile(r"([{};:,])\s+|\s+(?={)")


@cache
def review_page() -> str:
    """The whole HTML document behind PAGE_URI, below PAGE_BYTES_MAX, without a reference to anything outside of it.

    Its own Content-Security-Policy lets nothing run but its one script, whatever the host's policy allows: a mistake
    in the cleaning of card texts would still execute nothing.
    """
    style = _SPACE_IN_STYLE.sub(r"\1", _read("page.css"))
    script = '"use strict";\n(() => {\n' + "".join(map(_read, _SCRIPTS)) + "})();\n"
    policy = f"default-src 'none'; script-src {_source_hash(script)}; style-src {_source_hash(style)}"
    return Template(_read("shell.html")).substitute(style=style, script=script, policy=policy)


def _read(name: str) -> str:
    """A source without what only its readers need; no text in it may span lines."""
    return _FOR_READERS.sub("", (_SOURCES / name).read_text(encoding="utf-8"))


def _source_hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
