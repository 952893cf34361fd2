"""What an export writes, and that nothing is lost on the way."""

from __future__ import annotations

import io
import json
import re
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from flashcards.models import Card, Deck, Workspace
from review.archive.fields import CARD_RULES, DECK_RULES, EVENT_RULES, WORKSPACE_RULES
from review.models import ReviewEvent
from tests.archive.conftest import exported
from tests.archive.samples import CARD, REVIEWED, archive
from tests.factories import LONG_AGO, make_card, make_deck, make_review_event, make_user, make_workspace

pytestmark = pytest.mark.django_db
MOMENT = LONG_AGO + timedelta(microseconds=123456)


@pytest.fixture
def full() -> Workspace:
    """A workspace of everything: cards in each state, trash, undone reviews, hostile text, all kinds of numbers."""
    workspace = make_workspace(
        make_user(), name="Wörter 🌍\u2028!", created_at=MOMENT, desired_retention=0.87, enable_fuzz=False
    )
    cards = [
        make_card(
            workspace, front_text=f'{state} é\u200b\u0301 " \\ </script>', fsrs_card_state=state, tags=["b", "A\x01"]
        )
        for state in ("new", "learning", "review", "relearning")
    ]
    make_card(workspace, created_at=MOMENT, suspended=True, card_type="cloze", fsrs_card_state="review",
              fsrs_stability=0.1 + 0.2, fsrs_difficulty=1.0)  # fmt: skip
    make_card(workspace, deleted_at=MOMENT, tags=["gone"], back_text="")
    make_deck(workspace, name="All")
    make_deck(workspace, name="Deleted", tags=["b"], deleted_at=MOMENT)
    schedule = {"state": "review", "stability": 3.25, "due_at": "2026-01-01T00:00:00.000Z", "step_index": None}
    for card in cards:
        make_review_event(
            card, reviewed_at_server=MOMENT, undone_at=MOMENT, schedule_before=schedule, schedule_after=schedule,
            settings={"z": [1, 2.5], "a": {"y": True, "x": None}}, elapsed_days=2, scheduler_version="fsrs 6.3.2",
            state_before="review", scheduled_days=3, reviewed_time_zone="Asia/Tokyo",
        )  # fmt: skip
    make_review_event(cards[0], card_id="99999999-0000-4000-8000-000000000001", client_event_id="purged")
    return workspace


def test_export_import_export_gives_the_same_bytes(full, load):
    first = exported(workspace=full.name)
    User.objects.all().delete()
    full.delete()
    assert not Workspace.objects.exists()
    load(first, email="bob@example.com")
    assert exported(email="bob@example.com") == first


def test_an_export_holds_every_field_and_the_trash(full):
    document = json.loads(exported(email="alice@example.com"))
    assert list(document) == ["format", "version", "workspace", "cards", "decks", "review_events"]
    assert (document["format"], document["version"]) == ("flashcards-workspace", 1)
    assert [len(document[name]) for name in ("cards", "decks", "review_events")] == [6, 2, 5]
    assert document["cards"][-1]["deleted_at"] == "2025-01-01T08:00:00.123456Z"
    assert list(document["cards"][0]) == [
        *("card_id", "front_text", "back_text", "card_type", "metadata", "tags", "due_at", "created_at", "reps"),
        *("lapses", "updated_at", "deleted_at", "fsrs_card_state", "fsrs_step_index", "fsrs_stability"),
        *("fsrs_difficulty", "fsrs_last_reviewed_at", "fsrs_scheduled_days", "suspended"),
    ]
    assert list(document["review_events"][0]) == [
        *("review_event_id", "card_id", "replica_id", "client_event_id", "rating", "reviewed_at_client"),
        *("reviewed_at_server", "reviewed_time_zone", "scheduled_days", "state_before", "elapsed_days"),
        *("schedule_before", "schedule_after", "settings", "scheduler_version", "undone_at"),
    ]


def test_times_are_written_with_microseconds(full):
    times = re.findall(r'_at":"([^"]*)"', exported(email="alice@example.com"))
    assert len(times) > 20
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", time) for time in times if len(time) > 24)
    assert {len(time) for time in times} == {27, 24}  # 24: inside a schedule, kept as it was written


def test_each_entry_has_a_line_of_its_own(full):
    lines = exported(email="alice@example.com").splitlines()
    assert len([line for line in lines if line.startswith('{"card_id"')]) == 6


def test_an_export_takes_the_same_queries_whatever_it_holds(full, django_assert_num_queries):
    with CaptureQueriesContext(connection) as few:
        exported(email="alice@example.com")
    for _ in range(20):
        make_review_event(make_card(full))
    with django_assert_num_queries(len(few)):
        exported(email="alice@example.com")


def test_an_empty_workspace_is_an_archive_too(load):
    make_workspace(make_user(), name="Blank")
    document = json.loads(exported(email="alice@example.com"))
    assert (document["cards"], document["decks"], document["review_events"]) == ([], [], [])


def test_nothing_of_bob_is_in_alices_export(alice, bob):
    make_review_event(make_card(bob.workspace, front_text="Bob's secret", tags=["private"]))
    make_deck(bob.workspace, name="Bob's deck")
    text = exported(email="alice@example.com")
    assert "Bob" not in text
    assert "private" not in text


def test_a_workspace_is_chosen_by_id_or_name(alice, bob):
    second = make_workspace(alice.user, name="Second")
    for choice in ({"workspace": "Second"}, {"workspace": str(second.pk).upper()}, {"workspace": str(second.pk)}):
        assert json.loads(exported(**choice))["workspace"]["name"] == "Second"
    assert json.loads(exported(email="ALICE@example.com", workspace="Personal"))["workspace"]["workspace_id"] == str(
        alice.workspace.pk
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Say which workspace: --email, --workspace, or both."),
        ({"email": "nobody@example.com"}, "There is no such workspace."),
        ({"workspace": "Nowhere"}, "There is no such workspace."),
        ({"workspace": "Personal"}, "Several workspaces fit; pass the id of one as --workspace:"),
    ],
)
def test_a_choice_that_is_none_earns_one_line(alice, bob, options, message):
    with pytest.raises(CommandError) as refusal:
        exported(**options)
    assert str(refusal.value).split("\n")[0] == message


def test_bob_cannot_be_exported_as_alice(alice, bob):
    with pytest.raises(CommandError, match="There is no such workspace"):
        exported(email="alice@example.com", workspace=str(bob.workspace.pk))


def test_a_file_is_written_whole_or_not_at_all(full, tmp_path):
    file = tmp_path / "archive.json"
    call_command("export_workspace", workspace=str(full.pk), output=str(file), stdout=io.StringIO())
    assert file.read_text(encoding="utf-8") == exported(workspace=str(full.pk))
    with pytest.raises(CommandError, match=r"Cannot write .*No such file or directory"):
        call_command("export_workspace", workspace=str(full.pk), output=str(tmp_path / "no" / "where.json"))
    assert [each.name for each in tmp_path.iterdir()] == ["archive.json"]


def test_what_was_imported_comes_out_again(load):
    load(archive(cards=[REVIEWED, {**CARD, "card_id": "22222222-0000-4000-8000-000000000002"}]))
    cards = json.loads(exported(email="alice@example.com"))["cards"]
    by_id = {card["card_id"]: card for card in cards}
    assert {name: by_id[CARD["card_id"]][name] for name in REVIEWED} == {
        **REVIEWED,
        "due_at": "2026-02-01T00:00:00.000000Z",
        "fsrs_last_reviewed_at": "2026-01-20T10:00:00.000000Z",
    }


@pytest.mark.parametrize(
    ("model", "rules", "left_out"),
    [
        (Workspace, WORKSPACE_RULES, set()),
        (Card, CARD_RULES, {"workspace_id", "search_text"}),
        (Deck, DECK_RULES, {"workspace_id", "search_text"}),
        # Who reviewed is a user of this server.
        (ReviewEvent, EVENT_RULES, {"workspace_id", "reviewed_by"}),
    ],
)
def test_no_column_is_forgotten(model, rules, left_out):
    assert {field.attname for field in model._meta.concrete_fields} - left_out == set(rules)
