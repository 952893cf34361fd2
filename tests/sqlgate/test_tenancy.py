"""Whatever Bob writes, he reads and changes rows of his own workspace alone."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flashcards.models import Card, CardTag, Deck
from review.models import ReviewEvent
from tests.factories import make_card, make_deck, make_review_event
from tests.sqlgate.generator import StatementMaker, make_archive

ALICES = "alices-own"
ARCHIVE = make_archive(7, cards=20)


@pytest.fixture
def tenants(alice, bob):
    """Alice and Bob with the same kinds of rows; Alice's carry a mark in every text and tag."""
    for number in range(4):
        for agent, mark in ((alice, f" {ALICES}"), (bob, "")):
            tags = [f"geo{mark}", f"x{mark}"][: number % 3]
            state = ["new", "review"][number % 2]
            card = make_card(
                agent.workspace, front_text=f"Oslo{mark}", back_text=f"x{mark}", tags=tags, fsrs_card_state=state
            )
            make_deck(agent.workspace, name=f"Geo{mark}", tags=tags)
            make_review_event(card, client_event_id=f"event-{number}{mark}")
    return alice, bob


def everything_of(agent) -> list[Any]:
    workspace = agent.workspace
    return [
        sorted(map(repr, model.objects.in_workspace(workspace).values_list()))
        for model in (Card, Deck, CardTag, ReviewEvent)
    ]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), writes=st.booleans())
def test_no_statement_of_bob_reaches_a_row_of_alice(tenants, seed, writes):
    alice, bob = tenants
    ids_of_alice = [str(card.card_id) for card in Card.objects.in_workspace(alice.workspace)]
    ids_of_alice += [str(deck.deck_id) for deck in Deck.objects.in_workspace(alice.workspace)]
    before = everything_of(alice)
    maker = StatementMaker(aimed_at(ids_of_alice, seed), random.Random(seed))
    text = maker.write() if writes else maker.read()
    answered = bob.sql(text)
    assert answered.status in (200, 400), text
    shown = str(answered.body)
    assert ALICES not in shown, text
    assert [row_id for row_id in ids_of_alice if row_id in str(answered.body.get("data"))] == [], text
    assert everything_of(alice) == before, text


def aimed_at(ids: list[str], seed: int) -> dict[str, Any]:
    """The archive that statements take their values from, with ids and texts of Alice in it."""
    rng = random.Random(seed)
    return {
        **ARCHIVE,
        "cards": [card | {"card_id": rng.choice(ids), "front_text": f"Oslo {ALICES}"} for card in ARCHIVE["cards"]],
        "decks": [deck | {"deck_id": rng.choice(ids), "tags": [f"geo {ALICES}"]} for deck in ARCHIVE["decks"]],
    }


@pytest.mark.parametrize("number", range(20))
def test_the_workspace_of_a_call_is_the_only_one_it_reads(tenants, number):
    alice, bob = tenants
    text = StatementMaker(ARCHIVE, random.Random(number)).read()
    if "IN_DECK" not in text:
        mine, other = alice.sql(text), bob.sql(text)
        assert (mine.status, other.status) == (200, 200), text
        assert ALICES not in str(other.body)
