from __future__ import annotations

from contextlib import suppress
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.app.blocks import BlocksRefused, CardDraft, card_drafts

Cards = list[tuple[int, str, str]]


@pytest.mark.parametrize(
    ("markdown", "cards"),
    [
        ("## Q1\nA1\n\n- x\n  - y\n\n## Q2\n$x^2$", [(1, "Q1", "A1\n\n- x\n  - y"), (7, "Q2", "$x^2$")]),
        ("# Title\n\n## Q1\nA1\n## Q2\nA2", [(3, "Q1", "A1"), (5, "Q2", "A2")]),
        ("# Only\nback", [(1, "Only", "back")]),
        ("# Title\n## Lone\n### Part\ntext", [(2, "Lone", "### Part\ntext")]),
        ("## Q\n```py\n# no heading\n\n- no item\n```", [(1, "Q", "```py\n# no heading\n\n- no item\n```")]),
        ("## Q1\nA1\n\n---\n\n## Q2\nA2\n***", [(1, "Q1", "A1"), (6, "Q2", "A2")]),
        ("Setext\n======\nbody\n\nOther\n=====\n> quote", [(1, "Setext", "body"), (5, "Other", "> quote")]),
        ("# Title\n- a\n  - b\n## C\nd", [(2, "a", "- b"), (4, "C", "d")]),
        ("- Capital?\n  - Paris\n  - Big\n    - deep", [(1, "Capital?", "- Paris\n- Big\n  - deep")]),
        ("- Two?\n\n  Para\n\n      code\n", [(1, "Two?", "Para\n\n    code")]),
        ("1. One\nlazy\n   - a", [(1, "One\nlazy", "- a")]),
        ("10) Ten\n\n    | a |\n    |---|\n    | 1 |", [(1, "Ten", "| a |\n|---|\n| 1 |")]),
        ("- a\n\t- b\n\t\t- c", [(1, "a", "- b\n    - c")]),
        ("-   Wide\n    - x", [(1, "Wide", "- x")]),
        ("* q\r\n  * a\r\n", [(1, "q", "* a")]),
        # What begins a text keeps its meaning though the indent around the text is lost.
        ("# Q\n  - b\n  - c\n\ntext", [(1, "Q", "- b\n- c\n\ntext")]),
        ("# Q\n   * b\n * c\n   - d", [(1, "Q", "* b\n* c\n  - d")]),
        ("# Q\n  ```\n  x\n    y\n  ```", [(1, "Q", "```\nx\n  y\n```")]),
        ("# Q\n\n    x = 1\n      y\n\ntext", [(1, "Q", "```\nx = 1\n  y\n```\n\ntext")]),
        ("- Q\n\n      ```\n\n  text", [(1, "Q", "````\n```\n````\n\ntext")]),
        ("-     code\n\n  back", [(1, "```\ncode\n```", "back")]),
        ("- Q\n    - b\n\n    text", [(1, "Q", "- b\n\ntext")]),
        # A rule parts two cards; what only looks like one belongs to its card.
        ("# Q\nx\n\nPart\n---\n# R\ny", [(1, "Q", "x\n\nPart\n---"), (6, "R", "y")]),
        ("# Q\n- x\n  ---\n# R\ny", [(1, "Q", "- x\n  ---"), (4, "R", "y")]),
        ("# Q\n[l]: http://x\nsee [l]\n\n[m]: http://y\n\n---", [(1, "Q", "[l]: http://x\nsee [l]\n\n[m]: http://y")]),
        ("\ufeff# Q\nx", [(1, "Q", "x")]),
    ],
)
def test_blocks_become_cards(markdown: str, cards: Cards) -> None:
    assert card_drafts(markdown) == [CardDraft(*card) for card in cards]


@pytest.mark.parametrize(
    ("markdown", "line", "reason"),
    [
        ("", 1, "no_blocks"),
        ("\n\n---\n", 1, "no_blocks"),
        ("- one\n  - a\n- two", 3, "block_without_children"),
        ("intro\n\n# A\nx\n# B\ny", 1, "block_without_children"),
        ("# A\n# B\nx", 1, "block_without_children"),
        ("# A\nx\n#\ny", 3, "blank"),
        ("# A\n---\n***\n# B\ny", 1, "block_without_children"),
        ("# A\n[l]: http://x\n# B\ny", 1, "block_without_children"),
        ("# A\n" + "x" * 399_997, 1, "too_long"),
        ("- a\n  - b\x00", 1, "nul_character"),
        ("\n".join(f"- q{n}\n  - a" for n in range(101)), 201, "too_many_cards"),
        ("# " + "x" * 20_001 + "\nback", 1, "too_long"),
    ],
)
def test_a_block_that_makes_no_card_is_named_by_its_line(markdown: str, line: int, reason: str) -> None:
    with pytest.raises(BlocksRefused) as refused:
        card_drafts(markdown)
    assert (refused.value.faults[0].line, refused.value.faults[0].reason) == (line, reason)


@pytest.mark.parametrize(
    "markdown",
    [
        "# A\nx" + "\n" * 100_000 + "y",
        "# A\nx\n" + "---\n" * 20_000 + "y",
        "# A\nx\n---\n" * 10_000,
        "- a\n" * 25_000,
        "- a\n" + "  b\n" * 25_000,
    ],
)
def test_the_time_grows_no_faster_than_the_text(markdown: str) -> None:
    before = process_time()
    with suppress(BlocksRefused):
        card_drafts(markdown)
    assert process_time() - before < 20


def test_at_most_ten_faults_are_told() -> None:
    with pytest.raises(BlocksRefused) as refused:
        card_drafts("\n".join(f"- lone {n}" for n in range(30)))
    assert [fault.line for fault in refused.value.faults] == list(range(1, 11))


word = st.text(st.sampled_from("ab é1`*$"), min_size=1, max_size=8).filter(lambda text: text.strip(" `*$1"))


@given(st.lists(st.tuples(word, st.lists(word, min_size=1, max_size=3)), min_size=1, max_size=8))
def test_every_heading_with_text_under_it_makes_one_card(sections: list[tuple[str, list[str]]]) -> None:
    markdown = "\n\n".join(f"## h{front}\n\n" + "\n".join(f"x{line}" for line in back) for front, back in sections)
    drafts = card_drafts(markdown)
    assert [draft.back_text for draft in drafts] == [
        "\n".join(f"x{line}" for line in back).rstrip() for _, back in sections
    ]
