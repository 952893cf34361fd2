"""Markdown that somebody has already, turned into cards: a block is the front, what hangs under it the back.

Pure text in, drafts out; nothing is stored here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from flashcards.content import ContentRefused, clean_back_text, clean_front_text

CARDS_MAX = 100
# Parsing takes up to 25 microseconds a character; 100 cards of honest size are far below this.
MARKDOWN_LENGTH_MAX = 400_000
FAULTS_MAX = 10
QUOTE_LENGTH_MAX = 40
TAB_STOP = 4

_LISTS = ("bullet_list", "ordered_list")
# What stands before code that is marked by its indent alone, where the indent would not say so any more.
_NEEDS_A_FENCE = ("", *_LISTS)

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
    if len(markdown) > MARKDOWN_LENGTH_MAX:
        message = f"The Markdown has {len(markdown):,} characters; at most {MARKDOWN_LENGTH_MAX:,} go in one call."
        raise BlocksRefused([BlockFault(1, "too_long", message)])
    # A file may begin with a byte order mark, which is no part of its first block.
    lines = re.split(r"\r\n|\r|\n", markdown.removeprefix("\ufeff"))
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
    nodes = SyntaxTreeNode(_parser().parse("\n".join(lines))).children
    levels = [_level(node) for node in nodes if node.type == "heading"]
    if len(levels) > 1 and levels.count(min(levels)) == 1 and levels[0] == min(levels):
        nodes = [node for node in nodes if _level(node) != levels[0]]
        levels = levels[1:]
    card_level = min(levels, default=0)
    starts = [index for index, node in enumerate(nodes) if node.type == "heading" and _level(node) == card_level]
    ends = [*starts, len(nodes)]
    for node in nodes[: ends[0]]:
        yield from _outside_headings(node, lines)
    for start, end in pairwise(ends):
        yield _section(nodes[start], nodes[start + 1 : end], lines, end=_first_line(nodes, end, len(lines)))


def _level(node: SyntaxTreeNode) -> int:
    return int(node.tag[1]) if node.type == "heading" else 0


def _outside_headings(node: SyntaxTreeNode, lines: list[str]) -> Iterator[CardDraft]:
    if node.type in _LISTS:
        for item in node.children:
            yield _list_item(item, lines)
    elif node.type != "hr":
        first, last = _lines_of(node)
        yield CardDraft(first + 1, "\n".join(lines[first:last]), "")


def _section(heading: SyntaxTreeNode, children: Sequence[SyntaxTreeNode], lines: list[str], *, end: int) -> CardDraft:
    kept = len(children)
    # A rule before the next heading parts two cards and belongs to neither.
    while kept and children[kept - 1].type == "hr":
        kept -= 1
    first, body = _lines_of(heading)
    back = lines[body : _first_line(children, kept, end)]
    return CardDraft(first + 1, heading.children[0].content.strip(), _joined(children[:kept], back, before=body))


def _list_item(item: SyntaxTreeNode, lines: list[str]) -> CardDraft:
    first, last = _lines_of(item)
    column = _content_column(lines[first])
    own = _LIST_MARKER.sub("", lines[first], count=1).lstrip(" \t")
    text = [own, *(_dedented(line, column) for line in lines[first + 1 : last])]
    front, back = item.children[:1], item.children[1:]
    end = _lines_of(front[0])[1] - first if front else 1
    return CardDraft(first + 1, _joined(front, text[:end], before=first), _joined(back, text[end:], before=first + end))


def _lines_of(node: SyntaxTreeNode) -> tuple[int, int]:
    """The lines of a block, the last one excluded, counted from 0."""
    assert node.map is not None, "the parser knows the lines of every block"  # noqa: S101
    return node.map


def _first_line(nodes: Sequence[SyntaxTreeNode], index: int, end: int) -> int:
    """The line that the block at `index` begins in; behind the last block `end`."""
    return _lines_of(nodes[index])[0] if index < len(nodes) else end


def _joined(nodes: Sequence[SyntaxTreeNode], lines: list[str], *, before: int) -> str:
    """The Markdown of blocks that follow each other in `lines`, each at the margin; `before` lines precede them.

    What stands around the blocks, such as the targets of links, stays; without a block there is nothing.
    """
    if not nodes:
        return ""
    parts: list[str] = []
    at, previous = 0, ""
    for node in nodes:
        first, last = (line - before for line in _lines_of(node))
        parts += [*lines[at:first], *_at_margin(node, lines[first:last], previous=previous)]
        at, previous = last, node.type
    return "\n".join([*parts, *lines[at:]]).strip("\n").rstrip()


def _at_margin(node: SyntaxTreeNode, lines: list[str], *, previous: str) -> list[str]:
    """The lines of a block without its own indent, which is lost at the start of a text and misleads behind a list."""
    match node.type:
        case "code_block":
            return lines if previous not in _NEEDS_A_FENCE else _fenced(node.content)
        case "paragraph":
            # How its other lines are indented means nothing, but beside a margin of their own it might.
            return [lines[0].lstrip(" "), *lines[1:]]
        case "bullet_list" | "ordered_list":
            first, _ = _lines_of(node)
            indent = min(_indent_of(lines[_lines_of(item)[0] - first]) for item in node.children)
        case _:
            indent = _indent_of(lines[0])
    return [_dedented(line, indent) for line in lines]


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _fenced(code: str) -> list[str]:
    longest = max(map(len, re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence, *code.rstrip("\n").split("\n"), fence]


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
