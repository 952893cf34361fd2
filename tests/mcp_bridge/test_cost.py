"""What a request costs the database, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tests.agent import Agent
from tests.factories import make_card
from tests.mcp_bridge.door import Door

Counter = Callable[[int], AbstractContextManager[Any]]


@pytest.fixture(autouse=True)
def key_was_used_just_now(door: Door) -> None:
    """The first request of a key writes its `last_used_at`; the next ones in five minutes do not."""
    door.ask("tools/list")


@pytest.mark.parametrize("method", ["tools/list", "resources/list"])
def test_a_list_costs_the_look_up_of_the_key(door: Door, django_assert_num_queries: Counter, method: str) -> None:
    with django_assert_num_queries(1):
        door.ask(method)


def test_a_guide_costs_the_look_up_of_the_key(door: Door, django_assert_num_queries: Counter) -> None:
    with django_assert_num_queries(1):
        door.data("get_guide", topic="review_flow")


def test_a_refused_token_or_a_form_that_no_token_has_costs_at_most_one_look_up(
    door: Door, django_assert_num_queries: Counter
) -> None:
    with django_assert_num_queries(0):
        door.send("{}", headers={"authorization": "Bearer nonsense"})
    with django_assert_num_queries(1):
        door.send("{}", headers={"authorization": "Bearer fca_00000000_00000000000000000000000000"})


def test_revealing_an_answer_costs_key_workspace_and_card(
    alice: Agent, door: Door, django_assert_num_queries: Counter
) -> None:
    card = make_card(alice.workspace)
    with django_assert_num_queries(3):
        door.data("reveal_answer", cardId=str(card.card_id))
