"""docs/archive.md says what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flashcards.models import Card, Deck
from review.archive.fields import CARD_RULES, DECK_RULES, EVENT_RULES, WORKSPACE_RULES

PAGE = (Path(__file__).parents[2] / "docs" / "archive.md").read_text(encoding="utf-8")


def test_the_smallest_archive_is_imported(load):
    load(re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)[1])
    assert list(Card.objects.order_by("created_at").values_list("back_text", flat=True)) == ["Oslo", "Lima"]
    assert Deck.objects.get().tags == ["europe"]


@pytest.mark.parametrize(
    ("heading", "rules"),
    [
        ("workspace", WORKSPACE_RULES),
        ("cards", CARD_RULES),
        ("decks", DECK_RULES),
        ("review_events", EVENT_RULES),
    ],
)
def test_every_field_is_documented(heading, rules):
    section = re.search(rf"^### {heading}\n(.*?)(?=^##)", PAGE, re.DOTALL | re.MULTILINE)[1]
    assert [name for name in rules if f"`{name}`" not in section] == []
