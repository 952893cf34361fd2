"""Card text as HTML that is safe to insert: Markdown by markdown-it-py, formulas as MathML, cleaned by nh3.

Raw HTML in a card is shown as the text it is. Links and pictures lose their addresses, because the page must not reach
out; a link keeps its words and a picture its alternative text.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from html.parser import HTMLParser
from typing import Any

import nh3
from latex2mathml.converter import convert as latex_to_mathml
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.dollarmath import dollarmath_plugin

from flashcards.content import is_blank

log = logging.getLogger(__name__)

FORMULA_LENGTH_MAX = 2000

# The converter copies prose as it stands, so that "<" in it would open a tag.
_PROSE = re.compile(r"(\\(?:text|textbf|textit|textrm|texttt|mbox)\{)([^{}]*)\}")
# Operators that the converter calls identifiers: without their spacing they stick to what is beside them.
_OPERATOR = re.compile("<mi>([±¬~⟺⟂⧵•⟨⟩;:])</mi>")

_MATH_TAGS = frozenset(
    [
        "math",
        "semantics",
        "mrow",
        "mi",
        "mn",
        "mo",
        "ms",
        "mtext",
        "mspace",
        "mfrac",
        "msqrt",
        "mroot",
        "mstyle",
        "msub",
        "msup",
        "msubsup",
        "munder",
        "mover",
        "munderover",
        "mtable",
        "mtr",
        "mtd",
        "mpadded",
        "mphantom",
        "menclose",
    ]
)
_TEXT_TAGS = frozenset(
    [
        "p",
        "br",
        "strong",
        "em",
        "s",
        "del",
        "code",
        "pre",
        "ul",
        "ol",
        "li",
        "blockquote",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "hr",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
    ]
)
_MATH_ATTRIBUTES = frozenset(
    [
        "mathvariant",
        "display",
        "stretchy",
        "form",
        "fence",
        "columnalign",
        "displaystyle",
        "linethickness",
        "accent",
        "accentunder",
        "notation",
    ]
)
# No other size: a card must not move its parts over the rest of the page.
_ATTRIBUTES = {tag: set(_MATH_ATTRIBUTES) for tag in _MATH_TAGS} | {"mspace": {"width"}, "ol": {"start"}}


def render_markdown(text: str) -> str:
    """`text` as a sanitised HTML fragment; ValueError for a text that the renderers cannot cope with."""
    try:
        rendered = _markdown().render(text)
    except RecursionError:
        raise ValueError("the text is nested too deeply to be shown") from None
    cleaned = nh3.clean(rendered, tags=set(_TEXT_TAGS | _MATH_TAGS), attributes=_ATTRIBUTES, link_rel=None)
    return _OPERATOR.sub(_as_operator, cleaned).strip()


def _as_operator(identifier: re.Match[str]) -> str:
    return f"<mo>{identifier[1].replace('~', '∼')}</mo>"


def as_it_stands(text: str) -> str:
    """`text` as a sanitised HTML fragment that shows its characters and line breaks, and no Markdown."""
    lines = "<br>\n".join(escape(text, quote=False).split("\n"))
    return f"<p>{lines}</p>"


def is_readable(html: str) -> bool:
    """Whether a rendered text shows anything: a character, a formula, or the text of a picture."""
    shown = _ShownText()
    shown.feed(html)
    return not is_blank("".join(shown.parts))


class _ShownText(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    # Without a space or digit rule "$5 and $6" would be a formula.
    markdown.use(dollarmath_plugin, renderer=_formula, allow_space=False, allow_digits=False)
    markdown.add_render_rule("image", _alternative_text)
    return markdown


def _alternative_text(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return escape(renderer.renderInlineAsText(tokens[index].children or [], options, env))


def _escape_prose(command: re.Match[str]) -> str:
    return command[1] + escape(command[2], quote=False) + "}"


def _formula(latex: str, options: dict[str, Any]) -> str:
    display = "block" if options.get("display_mode") else "inline"
    if len(latex) <= FORMULA_LENGTH_MAX:
        try:
            return str(latex_to_mathml(_PROSE.sub(_escape_prose, latex), display=display))
        except Exception:  # noqa: BLE001  the converter raises whatever its parser stumbles over: shown as source then
            log.debug("a formula could not be converted")
    return f"<code>{escape(latex)}</code>"
