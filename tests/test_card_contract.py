"""Wherever an agent learns to write cards, it reads what belongs on which side."""

from __future__ import annotations

import re

import pytest

from mcp_bridge.operations import guide_text
from review.app.flashcard_operations import app_flashcard, flashcard
from sqlgate.operations import sql_execute

FRONT = "front_text holds only the question or prompt, never the answer"
BACK = "back_text holds the answer, optionally with one concrete example"


def states_it(text: str) -> bool:
    """Whether both sentences stand in `text`, whatever its line breaks and Markdown signs."""
    plain = re.sub(r"\s+", " ", text.replace("`", ""))
    return FRONT in plain and BACK in plain


@pytest.mark.parametrize("topic", ["card_authoring", "bulk_authoring"])
def test_the_authoring_guides_state_it(topic):
    assert states_it(guide_text(topic))


def test_the_description_of_sql_execute_states_it():
    assert states_it(sql_execute.description)


@pytest.mark.parametrize("tool", [flashcard, app_flashcard], ids=["for every client", "for one with the review app"])
def test_the_description_of_create_card_states_it(tool):
    assert states_it(tool.description)


def test_describe_cards_states_it(alice):
    rows = alice.sql("DESCRIBE cards").data["rows"]
    described = " ".join(f"{row['column_name']} {row['description']}" for row in rows)
    assert states_it(described.replace(" Holds ", " holds "))
