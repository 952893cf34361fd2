"""What an import stores."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from flashcards.models import Card, CardTag, Deck, Workspace, new_metadata
from review.models import ReviewEvent
from tests.archive.samples import CARD, DECK, EVENT, REVIEWED, WORKSPACE, archive

MODELS = (User, Workspace, Card, CardTag, Deck, ReviewEvent)


def every_row() -> list[list[dict]]:
    return [[*model._default_manager.order_by("pk").values()] for model in MODELS]


def test_an_archive_becomes_a_workspace_of_a_user_who_is_made(load):
    said = load(archive(cards=[CARD], decks=[DECK], review_events=[EVENT]), email=" Alice@Example.com ")
    assert said == (
        f"Made workspace 'Botany' ({WORKSPACE['workspace_id']}) of alice@example.com: 1 card, 1 deck, 1 review event.\n"
    )
    workspace = User.objects.get(email="alice@example.com").workspaces.get()
    assert str(workspace.workspace_id) == WORKSPACE["workspace_id"]
    assert str(Card.objects.in_workspace(workspace).get().card_id) == CARD["card_id"]
    assert str(Deck.objects.in_workspace(workspace).get().deck_id) == DECK["deck_id"]
    assert str(ReviewEvent.objects.in_workspace(workspace).get().card_id) == CARD["card_id"]


def test_an_agent_finds_the_imported_cards_by_tag_and_text(alice, load):
    load(archive(cards=[CARD], decks=[DECK]), email="alice@example.com")
    for condition in ("tags OVERLAP ('Europe')", "MATCH('NORWAY')", "IN_DECK('Geography')"):
        found = alice.sql("SELECT card_id FROM cards WHERE " + condition, WORKSPACE["workspace_id"])
        assert found.data["rows"] == [{"card_id": CARD["card_id"]}]


def test_the_owner_is_found_by_address(alice, load):
    load(archive(), email="ALICE@example.com")
    assert alice.user.workspaces.count() == 2


def test_an_address_that_is_none_is_refused(load):
    with pytest.raises(CommandError, match="email must be an address"):
        load(archive(), email="alice")


def test_absent_fields_take_their_defaults(load):
    before = timezone.now()
    load({"workspace": {"name": "Plain"}, "cards": [{"front_text": "Q"}], "decks": [{"name": "D"}]})
    workspace = Workspace.objects.get()
    assert (workspace.desired_retention, workspace.learning_steps_minutes) == (0.9, [1, 10])
    assert (workspace.relearning_steps_minutes, workspace.maximum_interval_days) == ([10], 36500)
    assert workspace.enable_fuzz
    card = Card.objects.get()
    assert (card.back_text, card.card_type, card.tags, card.suspended) == ("", "basic", [], False)
    assert (card.fsrs_card_state, card.due_at, card.reps, card.deleted_at) == ("new", None, 0, None)
    assert before <= card.created_at <= timezone.now()
    assert card.updated_at == card.created_at
    assert card.metadata == new_metadata(card.created_at)
    assert Deck.objects.get().tags == []


def test_absent_fields_of_an_event_take_their_defaults(load):
    event = {"card_id": CARD["card_id"], "client_event_id": "e", "rating": 0, "reviewed_at_client": "2026-01-01T00:00Z"}
    load(archive(review_events=[event]))
    stored = ReviewEvent.objects.get()
    assert stored.replica_id == UUID(int=0)
    assert (stored.reviewed_time_zone, stored.state_before, stored.scheduled_days) == ("UTC", None, None)
    assert stored.reviewed_at_server == stored.reviewed_at_client == datetime(2026, 1, 1, tzinfo=UTC)
    assert stored.undone_at is None


def test_cards_without_times_keep_the_order_of_the_file(load):
    load(archive(cards=[{"front_text": f"{number}"} for number in range(5)]))
    cards = list(Card.objects.order_by("created_at"))
    assert [card.front_text for card in cards] == ["0", "1", "2", "3", "4"]
    assert cards[4].created_at - cards[0].created_at == timedelta(microseconds=4)


def test_texts_are_tidied_as_at_every_other_door(load):
    card = {**CARD, "front_text": "  Q\n", "back_text": " ", "tags": [" a ", "b", "a", "A"]}
    load(archive({**WORKSPACE, "name": " Botany "}, cards=[card], decks=[{**DECK, "name": " D ", "tags": ["x", "x "]}]))
    stored = Card.objects.get()
    assert (stored.front_text, stored.back_text, stored.tags) == ("Q", "", ["a", "b", "A"])
    assert (Deck.objects.get().name, Deck.objects.get().tags) == ("D", ["x"])
    assert Workspace.objects.get().name == "Botany"


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("2026-01-31T12:00:00.123456Z", datetime(2026, 1, 31, 12, 0, 0, 123456, UTC)),
        ("2026-01-31T14:30:00+02:30", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31 12:00", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("20260131T120000Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
    ],
)
def test_times_are_iso_8601_and_without_a_zone_they_are_utc(load, written, stored):
    load(archive(cards=[{**CARD, "created_at": written}]))
    assert Card.objects.get().created_at == stored


def test_times_of_the_schedule_are_cut_to_the_millisecond_and_others_are_not(load):
    exact = "2026-01-20T10:00:00.123999Z"
    later = "2026-02-01T00:00:00.000999Z"
    load(
        archive(
            cards=[{**REVIEWED, "created_at": exact, "fsrs_last_reviewed_at": exact, "due_at": later}],
            review_events=[{**EVENT, "reviewed_at_server": exact}],
        )
    )
    card = Card.objects.get()
    assert card.created_at.microsecond == 123999
    assert card.fsrs_last_reviewed_at.microsecond == 123000
    assert card.due_at.microsecond == 0
    assert ReviewEvent.objects.get().reviewed_at_server.microsecond == 123999


def test_numbers_stay_exact(load):
    load(archive(cards=[{**REVIEWED, "fsrs_stability": 0.1 + 0.2, "fsrs_difficulty": 7}]))
    assert Card.objects.get().fsrs_stability == 0.30000000000000004
    assert Card.objects.get().fsrs_difficulty == 7.0


def test_a_deleted_card_stays_deleted_and_keeps_its_reviews(alice, load):
    gone = {**CARD, "deleted_at": "2026-01-01T00:00:00Z"}
    load(archive(cards=[gone], review_events=[EVENT]))
    assert Card.objects.get().deleted_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert not CardTag.objects.exists()
    statements = ("SELECT card_id FROM cards", "SELECT card_id FROM review_events")
    found = [alice.sql(statement, WORKSPACE["workspace_id"]).data["rowCount"] for statement in statements]
    assert found == [0, 1]


def test_an_event_may_name_a_card_that_is_nowhere(load):
    load(archive(review_events=[EVENT]))
    assert str(ReviewEvent.objects.get().card_id) == CARD["card_id"]


def test_an_event_keeps_what_undoing_and_replaying_need(load):
    more = {
        "schedule_before": {"state": "new", "reps": 0, "stability": None},
        "schedule_after": {"state": "learning", "stability": 2.3065, "due": [1, 2.0, True]},
        "elapsed_days": 3,
        "settings": {"desired_retention": 0.9},
        "scheduler_version": "fsrs 6.3.2",
        "undone_at": "2026-01-03T00:00:00Z",
        "state_before": "relearning",
        "scheduled_days": 4,
        "reviewed_time_zone": "Europe/Berlin",
        "replica_id": "55555555-0000-4000-8000-000000000001",
    }
    load(archive(review_events=[{**EVENT, **more}]))
    stored = ReviewEvent.objects.values(*more).get()
    assert stored == more | {
        "undone_at": datetime(2026, 1, 3, tzinfo=UTC),
        "replica_id": UUID("55555555-0000-4000-8000-000000000001"),
    }


def test_a_name_can_be_given(load):
    load(archive(), name=" Zoology ")
    assert Workspace.objects.get().name == "Zoology"
    load({"workspace": {"workspace_id": WORKSPACE["workspace_id"]}}, name="Ornithology")
    assert Workspace.objects.get().name == "Ornithology"


def test_importing_again_changes_nothing(load):
    document = archive(
        cards=[CARD, {**REVIEWED, "card_id": "22222222-0000-4000-8000-000000000002"}],
        decks=[DECK],
        review_events=[EVENT, {"card_id": CARD["card_id"], "client_event_id": "no id", "rating": 1}],
    )
    load(document)
    before = every_row()
    assert load(document).startswith("Updated workspace 'Botany'")
    assert every_row() == before


def test_rows_that_the_workspace_has_are_updated_in_place(load):
    load(archive(cards=[CARD], decks=[DECK], review_events=[EVENT]))
    load(
        archive(
            {**WORKSPACE, "desired_retention": 0.8},
            cards=[{**CARD, "front_text": "Capital of Peru", "back_text": "Lima", "tags": ["south"]}],
            decks=[{**DECK, "name": "Renamed"}],
            review_events=[{**EVENT, "rating": 0}],
        )
    )
    card = Card.objects.get()
    assert (card.front_text, card.tags, card.search_text) == (
        "Capital of Peru", ["south"], "capital of peru\x1flima\x1fsouth",
    )  # fmt: skip
    assert CardTag.objects.get().tag == "south"
    assert Deck.objects.get().name == "Renamed"
    assert ReviewEvent.objects.get().rating == 0
    assert Workspace.objects.get().desired_retention == 0.8


def test_rows_that_the_archive_does_not_name_stay(load):
    load(archive(cards=[CARD]))
    load(archive(cards=[{"front_text": "Another"}]))
    assert Card.objects.count() == 2


def test_an_event_without_an_id_is_found_again_by_its_client_event_id(load):
    load(archive(review_events=[EVENT]))
    load(archive(review_events=[{**{k: v for k, v in EVENT.items() if k != "review_event_id"}, "rating": 3}]))
    stored = ReviewEvent.objects.get()
    assert (str(stored.review_event_id), stored.rating) == (EVENT["review_event_id"], 3)


def test_lists_may_stand_in_any_order(load):
    document = archive(cards=[CARD], decks=[DECK], review_events=[EVENT])
    load(dict(reversed(document.items())))
    assert Card.objects.count() == Deck.objects.count() == ReviewEvent.objects.count() == 1


def test_a_file_with_a_byte_order_mark_is_read(load):
    load(b"\xef\xbb\xbf" + json.dumps(archive(cards=[CARD])).encode())
    assert Card.objects.count() == 1


def test_a_dash_reads_standard_input(db, monkeypatch):
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    text = json.dumps(archive(cards=[CARD], review_events=[EVENT])).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Pipe(text)))
    call_command("import_workspace", "-", email="alice@example.com", stdout=io.StringIO(), stderr=io.StringIO())
    assert ReviewEvent.objects.count() == 1


def test_an_import_works_inside_an_open_transaction_and_leaves_it_usable(load, refused):
    refused(archive(cards=[{"front_text": ""}]))
    load(archive(cards=[CARD]))
    assert Card.objects.count() == 1


def test_the_progress_bar_is_for_terminals_only(load, tmp_path):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    file = tmp_path / "seen.json"
    file.write_text(json.dumps(archive(cards=[CARD] + [{"front_text": "Q"}] * 1500)))
    for screen, wanted in ((Terminal(), True), (io.StringIO(), False)):
        call_command("import_workspace", str(file), email="a@example.com", stdout=io.StringIO(), stderr=screen)
        assert ("[###################...........] 1,000 of 1,501" in screen.getvalue()) is wanted
        assert ("] 1,501 of 1,501\n" in screen.getvalue()) is wanted


def test_an_import_takes_the_same_queries_for_few_and_for_many(load, django_assert_num_queries):
    def document(number: int, cards: int) -> dict:
        events = [{"card_id": CARD["card_id"], "client_event_id": f"{n}", "rating": 1} for n in range(cards)]
        workspace = {"name": f"W {number}"}
        return archive(
            workspace, cards=[{"front_text": f"Q {n}", "tags": ["t"]} for n in range(cards)], review_events=events
        )

    load(document(0, 1))
    with CaptureQueriesContext(connection) as few:
        load(document(1, 2))
    with django_assert_num_queries(len(few)):
        load(document(2, 20))
