"""Ids that are taken: everybody keeps what they have, and a second run still changes nothing."""

from __future__ import annotations

from uuid import UUID, uuid5

import pytest

from accounts.models import Membership, User
from flashcards.models import Card, Deck, Workspace
from review.archive.identity import resolve_ids
from review.models import ReviewEvent
from tests.archive.conftest import exported
from tests.archive.samples import CARD, DECK, EVENT, WORKSPACE, archive

FULL = archive(cards=[CARD], decks=[DECK], review_events=[EVENT])
W = UUID(WORKSPACE["workspace_id"])
MODELS = (Workspace, Card, Deck, ReviewEvent)


def rows_of(email: str) -> list[list[dict]]:
    owned = Membership.objects.filter(user__email=email).values("workspace_id")
    return [[*model._default_manager.filter(workspace_id__in=owned).order_by("pk").values()] for model in MODELS]


@pytest.fixture
def both(load) -> tuple[Workspace, Workspace]:
    """The same archive imported by Alice, then by Bob."""
    load(FULL, email="alice@example.com")
    before = rows_of("alice@example.com")
    load(FULL, email="bob@example.com")
    assert rows_of("alice@example.com") == before
    alices, bobs = (User.objects.get(email=f"{name}@example.com").workspaces.get() for name in ("alice", "bob"))
    return alices, bobs


def test_bobs_copy_gets_ids_that_follow_from_his_and_the_old_ones(both):
    alices, bobs = both
    assert alices.workspace_id == W
    assert bobs.workspace_id == uuid5(User.objects.get(email="bob@example.com").id, str(W))
    card = Card.objects.in_workspace(bobs).get()
    deck = Deck.objects.in_workspace(bobs).get()
    event = ReviewEvent.objects.in_workspace(bobs).get()
    assert card.card_id == uuid5(bobs.workspace_id, CARD["card_id"])
    assert deck.deck_id == uuid5(bobs.workspace_id, DECK["deck_id"])
    assert event.review_event_id == uuid5(bobs.workspace_id, EVENT["review_event_id"])
    assert event.card_id == card.card_id


def test_bobs_second_run_changes_nothing(both, load):
    before = [rows_of(f"{name}@example.com") for name in ("alice", "bob")]
    load(FULL, email="bob@example.com")
    assert [rows_of(f"{name}@example.com") for name in ("alice", "bob")] == before


def test_bobs_second_run_changes_nothing_even_when_the_ids_have_become_free(both, load):
    before = rows_of("bob@example.com")
    ReviewEvent.objects.in_workspace(both[0]).delete()
    both[0].delete()
    load(FULL, email="bob@example.com")
    assert rows_of("bob@example.com") == before


def test_bob_never_changes_alices_rows_by_naming_their_ids(load):
    load(FULL, email="alice@example.com")
    before = rows_of("alice@example.com")
    hostile = archive(
        {"workspace_id": "66666666-0000-4000-8000-000000000001", "name": "Bob's"},
        cards=[{**CARD, "front_text": "Overwritten", "deleted_at": "2026-01-01T00:00:00Z"}],
        decks=[{**DECK, "name": "Overwritten"}],
        review_events=[{**EVENT, "rating": 0}],
    )
    load(hostile, email="bob@example.com")
    assert rows_of("alice@example.com") == before
    assert Card.objects.get(front_text="Overwritten").card_id != UUID(CARD["card_id"])


def test_an_event_that_names_alices_card_does_not_point_at_it(load):
    load(FULL, email="alice@example.com")
    load(archive({"name": "Bob's"}, review_events=[EVENT]), email="bob@example.com")
    bobs = User.objects.get(email="bob@example.com").workspaces.get()
    event = ReviewEvent.objects.in_workspace(bobs).get()
    assert event.card_id == uuid5(bobs.workspace_id, CARD["card_id"])


def test_another_workspace_of_the_same_user_counts_as_taken(load):
    load(FULL)
    second = "11111111-0000-4000-8000-000000000002"
    load({**FULL, "workspace": {"workspace_id": second, "name": "Copy"}})
    copies = Card.objects.in_workspace(UUID(second))
    assert copies.get().card_id == uuid5(UUID(second), CARD["card_id"])
    assert Card.objects.in_workspace(W).get().card_id == UUID(CARD["card_id"])


def test_a_derived_id_that_is_taken_is_derived_from_in_turn(load):
    load(FULL, email="alice@example.com")
    target = UUID("11111111-0000-4000-8000-000000000003")
    squatted = uuid5(target, CARD["card_id"])
    load(archive({"name": "Squat"}, cards=[{**CARD, "card_id": str(squatted)}]), email="mallory@example.com")
    document = {**FULL, "workspace": {"workspace_id": str(target), "name": "Bob's"}}
    for _ in range(2):
        load(document, email="bob@example.com")
        card = Card.objects.in_workspace(target).get()
        assert card.card_id == uuid5(target, str(squatted))
        assert ReviewEvent.objects.in_workspace(target).get().card_id == card.card_id


def test_an_entry_and_another_that_is_given_its_id_are_refused(load, refused):
    load(FULL, email="alice@example.com")
    target = UUID("11111111-0000-4000-8000-000000000003")
    twins = [CARD, {**CARD, "card_id": str(uuid5(target, CARD["card_id"]))}]
    assert refused(archive({"workspace_id": str(target), "name": "B"}, cards=twins)) == [
        "cards[1].card_id: is the one of an earlier entry"
    ]


def test_an_export_of_alices_workspace_can_be_given_to_bob(both, load):
    load(exported(email="alice@example.com"), email="charlie@example.com")
    charlies = User.objects.get(email="charlie@example.com").workspaces.get()
    assert Card.objects.in_workspace(charlies).get().front_text == CARD["front_text"]
    assert Card.objects.count() == 3


def test_what_a_row_has_wins_over_what_is_free():
    target, other, old = (UUID(int=number) for number in (1, 2, 3))
    derived = uuid5(target, str(old))
    stored: dict[UUID, UUID] = {}

    def resolve(is_new: bool = False):
        return resolve_ids([old], target, lambda ids: {i: stored[i] for i in ids if i in stored}, is_new=is_new)[old]

    assert resolve() == (old, False)
    stored[derived] = target
    assert resolve() == (derived, True)
    stored[old] = target
    assert resolve() == (old, True)
    stored[old] = other
    assert resolve() == resolve(is_new=True) == (derived, True)
    del stored[derived]
    assert resolve() == resolve(is_new=True) == (derived, False)
