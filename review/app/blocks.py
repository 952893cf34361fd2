"""Markdown that somebody has already, turned into cards: a block is the front, what hangs under it the back.

Pure text in, drafts out; nothing is stored here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from flashcards.content import ContentRefused, clean_back_text, clean_front_text

CARDS_MAX = 100
FAULTS_MAX = 10
QUOTE_LENGTH_MAX = 40
TAB_STOP = 4

_LIST_MARKER = re.compile(r"[ \t]*(?:[-+*]|\d{1,9}[.)])")


@dataclass(frozen=True, slots=True)
class CardDraft:
    """A card that the Markdown would make; `line` is where its front begins, counted from 1."""

    line: int
    front_text: str
    back_text: str


@dataclass(frozen=True, slots=True)
class BlockFault:
    """A block that makes no card: its line, a stable reason and a sentence that names both."""

    line: int
    reason: str
    message: str


class BlocksRefused(ValueError):
    """The Markdown as a whole is refused; `faults` holds the first ten."""

    def __init__(self, faults: Sequence[BlockFault]) -> None:
        super().__init__(faults[0].message)
        self.faults = list(faults[:FAULTS_MAX])


def card_drafts(markdown: str) -> list[CardDraft]:
    """The cards of `markdown`, in its order; BlocksRefused names every block that makes none.

    A heading owns everything up to the next one of its level or higher. The shallowest headings are cards; a lone one
    that holds all others is a title and is skipped. Outside of headings each top-level list item is a card.
    """
    lines = re.split(r"\r\n|\r|\n", markdown)
    found = list(_blocks(lines))
    faults = [fault for block in found if (fault := _fault(block))]
    if not found:
        faults = [BlockFault(1, "no_blocks", "The Markdown holds no block to make a card of.")]
    elif len(found) > CARDS_MAX:
        message = f"The Markdown makes {len(found):,} cards; at most {CARDS_MAX} go in one call."
        faults = [BlockFault(found[CARDS_MAX].line, "too_many_cards", message)]
    if faults:
        raise BlocksRefused(faults)
    return [
        CardDraft(block.line, clean_front_text(block.front_text), clean_back_text(block.back_text)) for block in found
    ]


def _fault(block: CardDraft) -> BlockFault | None:
    if not block.back_text:
        quote = " ".join(block.front_text.split())[:QUOTE_LENGTH_MAX]
        message = f"Line {block.line}: “{quote}” has nothing under it for the back."
        return BlockFault(block.line, "block_without_children", message)
    for side, clean, text in (
        ("front", clean_front_text, block.front_text),
        ("back", clean_back_text, block.back_text),
    ):
        try:
            clean(text)
        except ContentRefused as refused:
            return BlockFault(block.line, refused.reason, f"Line {block.line}: the {side} {refused.message}.")
    return None


@cache
def _parser() -> MarkdownIt:
    # Only blocks matter here, so the inline pass stays off; the source itself becomes the card's Markdown.
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("inline")


def _blocks(lines: list[str]) -> Iterator[CardDraft]:
    nodes = [node for node in SyntaxTreeNode(_parser().parse("\n".join(lines))).children if node.type != "hr"]
    levels = [_level(node) for node in nodes if node.type == "heading"]
    if len(levels) > 1 and levels.count(min(levels)) == 1 and levels[0] == min(levels):
        nodes = [node for node in nodes if _level(node) != levels[0]]
        levels = levels[1:]
    card_level = min(levels, default=0)
    starts = [index for index, node in enumerate(nodes) if node.type == "heading" and _level(node) == card_level]
    before_headings = nodes[: starts[0]] if starts else nodes
    for node in before_headings:
        yield from _outside_headings(node, lines)
    ends = [*(_first_line(nodes[index]) for index in starts[1:]), len(lines)]
    for index, end in zip(starts, ends, strict=False):
        yield _section(nodes[index], end, lines)


def _level(node: SyntaxTreeNode) -> int:
    return int(node.tag[1]) if node.type == "heading" else 0


def _first_line(node: SyntaxTreeNode) -> int:
    return node.map[0] if node.map else 0


def _outside_headings(node: SyntaxTreeNode, lines: list[str]) -> Iterator[CardDraft]:
    if node.type in ("bullet_list", "ordered_list"):
        for item in node.children:
            yield _list_item(item, lines)
    else:
        first, last = node.map or (0, 0)
        yield CardDraft(first + 1, "\n".join(lines[first:last]), "")


def _section(heading: SyntaxTreeNode, end: int, lines: list[str]) -> CardDraft:
    first, last = heading.map or (0, 0)
    return CardDraft(first + 1, heading.children[0].content.strip(), _without_separators(lines[last:end]))


def _without_separators(lines: list[str]) -> str:
    # A rule before the next heading parts two cards and belongs to neither.
    return re.sub(r"(\n\s*|\A\s*)([-*_])[ \t]*(\2[ \t]*){2,}\Z", "", _block_text(lines)).rstrip()


def _list_item(item: SyntaxTreeNode, lines: list[str]) -> CardDraft:
    first, last = item.map or (0, 0)
    column = _content_column(lines[first])
    own = _LIST_MARKER.sub("", lines[first], count=1).lstrip(" \t")
    text = [own, *(_dedented(line, column) for line in lines[first + 1 : last])]
    front_end = (item.children[0].map[1] if item.children and item.children[0].map else first + 1) - first
    back = text[front_end:]
    # Nested blocks may stand up to three columns further in than they must; four would be code.
    slack = min((len(line) - len(line.lstrip(" ")) for line in back if line.strip()), default=0)
    return CardDraft(
        first + 1, _block_text(text[:front_end]), _block_text([_dedented(line, min(slack, 3)) for line in back])
    )


def _block_text(lines: list[str]) -> str:
    return "\n".join(lines).strip("\n").rstrip()


def _content_column(line: str) -> int:
    """The column at which the content of a list item begins, as CommonMark counts it."""
    marker = _LIST_MARKER.match(line)
    end = marker.end() if marker else 0
    start, rest = _column(line[:end]), line[end:]
    spaces = _column(line[: len(line) - len(rest.lstrip(" \t"))]) - start
    return start + (spaces if rest.strip() and spaces <= TAB_STOP else 1)


def _column(text: str) -> int:
    return len(text.expandtabs(TAB_STOP))


def _dedented(line: str, column: int) -> str:
    """`line` without indent up to `column`; a line that is indented less loses what it has."""
    content = line.lstrip(" \t")
    indent = line[: len(line) - len(content)].expandtabs(TAB_STOP)
    return indent[column:] + content
