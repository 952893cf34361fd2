"""What an import refuses: everything or nothing, each fault with its place."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from flashcards.models import Card, CardState, Deck, Workspace
from review.archive.faults import ArchiveRefused
from review.archive.fields import CARD_RULES
from review.archive.importing import import_archive
from review.archive.schedule import schedule_faults
from review.models import ReviewEvent
from review.scheduler import Schedule, State, schedule_fault
from tests.archive.samples import CARD, DECK, EVENT, REVIEWED, WORKSPACE, archive
from tests.factories import make_user, make_workspace


def test_one_fault_stores_nothing_at_all(refused):
    document = archive(cards=[CARD, {**CARD, "card_id": "nonsense"}], decks=[DECK], review_events=[EVENT])
    assert refused(document) == ["cards[1].card_id: must be a UUID such as 3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4"]
    assert not any(model.objects.exists() for model in (User, Workspace, Card, Deck, ReviewEvent))


def test_faults_of_all_lists_are_reported_and_no_more_than_ten(refused):
    faults = refused(
        archive(
            {**WORKSPACE, "desired_retention": 1.5},
            cards=[{}] * 3,
            decks=[{"name": ""}],
            review_events=[{**EVENT, "rating": 4}] * 20,
        )
    )
    assert faults[:6] == [
        "workspace.desired_retention: must be a number from 0.70 to 0.99",
        "cards[0].front_text: is missing",
        "cards[1].front_text: is missing",
        "cards[2].front_text: is missing",
        "decks[0].name: must not be blank",
        "review_events[0].rating: must be 0 to 3",
    ]
    assert len(faults) == 10


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("front_text", " \u200b", "must not be blank"),
        ("front_text", "x" * 20_001, "must not be longer than 20,000 characters, has 20,001"),
        ("front_text", "a\x00", "must not contain a NUL character (U+0000)"),
        ("front_text", "a\ud800", "must not contain a lone surrogate (U+D800)"),
        ("front_text", None, "must be text"),
        ("back_text", "x" * 100_001, "must not be longer than 100,000 characters, has 100,001"),
        ("card_type", "image", "must be basic or cloze"),
        ("tags", ["a", " "], "must not hold a blank tag"),
        ("tags", "geo", "must be a list of tags"),
        ("metadata", [], "must be an object"),
        ("metadata", {"a": [{"b": "\udfff"}]}, "must not contain a lone surrogate (U+DFFF)"),
        ("metadata", {"a\x00": 1}, "must not contain a NUL character (U+0000)"),
        ("suspended", 1, "must be true or false"),
        ("created_at", None, "must be a time such as 2026-01-31T12:00:00.000000Z"),
        ("created_at", "yesterday", "must be a time such as 2026-01-31T12:00:00.000000Z"),
        ("created_at", 1767225600, "must be a time such as 2026-01-31T12:00:00.000000Z"),
        ("created_at", "0001-01-01T00:00:00+14:00", "must be a time such as 2026-01-31T12:00:00.000000Z"),
        ("reps", "3", "must be a whole number"),
        ("reps", True, "must be a whole number"),
        ("reps", 1.0, "must be a whole number"),
        ("reps", -1, "must be 0 to 2,147,483,647"),
        ("fsrs_step_index", 32_768, "must be 0 to 32,767"),
        ("fsrs_stability", 0, "must be 0.001 to 1,000,000,000"),
        ("fsrs_difficulty", 10.5, "must be 1 to 10"),
        ("fsrs_difficulty", "5", "must be a number"),
        ("fsrs_card_state", "New", "must be new or learning or review or relearning"),
        ("\x1b[2J\ud800", 1, "is not a known field; known are " + ", ".join(CARD_RULES)),
        ("fron_text", "Q", "is not a known field; did you mean front_text?"),
    ],
)
def test_a_wrong_field_of_a_card_is_named(refused, field, value, message):
    shown = field.replace("\x1b", "\ufffd").replace("\ud800", "\ufffd")
    faulty = {**CARD, "card_id": DECK["deck_id"], field: value}
    assert refused(archive(cards=[CARD, faulty])) == [f"cards[1].{shown}: {message}"]


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({"fsrs_card_state": "new"}, ["due_at", "fsrs_stability", "fsrs_difficulty", "fsrs_last_reviewed_at",
                                      "fsrs_scheduled_days", "reps"]),
        ({"due_at": None}, ["due_at: must be set in state review"]),
        ({"due_at": REVIEWED["fsrs_last_reviewed_at"]}, ["due_at: must be after fsrs_last_reviewed_at"]),
        ({"due_at": "2026-01-20T10:00:00.000900Z"}, ["due_at: must be after fsrs_last_reviewed_at"]),
        ({"fsrs_scheduled_days": 0}, ["fsrs_scheduled_days: must be at least 1 in state review"]),
        ({"fsrs_step_index": 0}, ["fsrs_step_index: must be null in state review"]),
        ({"reps": 0}, ["reps: must be at least 1 in state review"]),
        ({"lapses": 4}, ["lapses: must not be more than reps"]),
        ({"fsrs_card_state": "learning"}, ["fsrs_step_index: must be set in state learning",
                                           "fsrs_scheduled_days: must be 0 in state learning"]),
        ({"fsrs_card_state": "relearning", "fsrs_step_index": 0, "fsrs_scheduled_days": 0, "reps": 1},
         ["reps: must be at least 2 in state relearning", "lapses: must be at least 1 in state relearning"]),
    ],
)  # fmt: skip
def test_a_schedule_that_no_review_leaves_behind_is_refused(refused, changes, faults):
    said = refused(archive(cards=[{**REVIEWED, **changes}]))
    assert len(said) == len(faults)
    assert all(line.startswith(f"cards[0].{fault}") for line, fault in zip(said, faults, strict=True))


NOW = datetime(2026, 1, 1, tzinfo=UTC)
MAYBE_TIME = st.sampled_from([None, NOW, NOW + timedelta(minutes=1)])
SCHEDULES = st.fixed_dictionaries(
    {
        "fsrs_card_state": st.sampled_from([state.value for state in CardState]),
        "due_at": MAYBE_TIME,
        "fsrs_last_reviewed_at": MAYBE_TIME,
        "fsrs_stability": st.sampled_from([None, 0.001, 1e9]),
        "fsrs_difficulty": st.sampled_from([None, 1.0, 10.0]),
        "fsrs_step_index": st.sampled_from([None, 0, 1]),
        "fsrs_scheduled_days": st.sampled_from([None, 0, 1, 36500]),
        "reps": st.integers(0, 3),
        "lapses": st.integers(0, 3),
    }
)


@pytest.mark.django_db
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(fields=SCHEDULES)
def test_archive_scheduler_and_database_agree_on_what_a_schedule_may_be(fields):
    workspace = Workspace(name="W")
    workspace.save()
    sound = not list(schedule_faults(fields))
    assert sound is (schedule_fault(as_schedule(fields)) is None)
    if sound:
        Card.objects.create(workspace=workspace, front_text="Q", **fields)
        return
    with pytest.raises(IntegrityError), transaction.atomic():
        Card.objects.create(workspace=workspace, front_text="Q", **fields)


def as_schedule(fields: dict) -> Schedule:
    named = {name.removeprefix("fsrs_"): value for name, value in fields.items()}
    return Schedule(state=State(named.pop("card_state")), **named)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("name", None, "must be text"),
        ("algorithm", "sm-2", "must be fsrs-6"),
        ("desired_retention", True, "must be a number from 0.70 to 0.99"),
        ("learning_steps_minutes", [10, 1], "must increase from step to step"),
        ("relearning_steps_minutes", [0], "must hold whole minutes from 1 to 1439"),
        ("maximum_interval_days", 0, "must be a whole number from 1 to 36500"),
        ("enable_fuzz", "yes", "must be true or false"),
        ("owner", "me", "is not a known field; known are workspace_id, name, created_at, algorithm, desired_retention, "
         "learning_steps_minutes, relearning_steps_minutes, maximum_interval_days, enable_fuzz"),
    ],
)  # fmt: skip
def test_a_wrong_field_of_the_workspace_is_named(refused, field, value, message):
    assert refused(archive({**WORKSPACE, field: value})) == [f"workspace.{field}: {message}"]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("rating", None, "must be a whole number"),
        ("card_id", 7, "must be a UUID such as 3f2b8c1e-9a4d-4c7b-8f10-2d6e5a90b1c4"),
        ("client_event_id", "", "must have 1 to 200 characters"),
        ("client_event_id", "x" * 201, "must have 1 to 200 characters"),
        ("reviewed_time_zone", "", "must be a time zone's name such as Europe/Berlin"),
        ("state_before", "due", "must be new or learning or review or relearning"),
        ("schedule_after", "{}", "must be an object"),
        ("scheduler_version", "x" * 41, "must have 1 to 40 characters"),
        ("undone_at", "no", "must be a time such as 2026-01-31T12:00:00.000000Z"),
    ],
)
def test_a_wrong_field_of_a_review_event_is_named(refused, field, value, message):
    assert refused(archive(review_events=[{**EVENT, field: value}])) == [f"review_events[0].{field}: {message}"]


def test_a_client_event_id_of_200_characters_is_welcome(load):
    load(archive(review_events=[{**EVENT, "client_event_id": "🌍" * 200}]))


def test_two_entries_of_one_id_are_refused(refused):
    assert refused(archive(cards=[CARD, CARD])) == ["cards[1].card_id: is the one of an earlier entry"]
    # Also when hundreds of entries lie between them.
    apart = [CARD, *({"front_text": f"{number}"} for number in range(1500)), CARD]
    assert refused(archive(cards=apart)) == ["cards[1501].card_id: is the one of an earlier entry"]


def test_a_client_event_id_belongs_to_one_event(load, refused):
    other = {**EVENT, "review_event_id": "44444444-0000-4000-8000-000000000002"}
    fault = "client_event_id: is the one of another review event"
    assert refused(archive(review_events=[EVENT, other])) == [f"review_events[1].{fault}"]
    load(archive(review_events=[EVENT]))
    assert refused(archive(review_events=[other])) == [f"review_events[0].{fault}"]


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ("", "the file: ends before it is complete (line 1, column 1)"),
        ("[]", "the file: must be one JSON object"),
        ("PK\x03\x04", "the file: must be one JSON object"),
        (b"\xff\xfe{", "the file: is not UTF-8 text"),
        ('{"workspace"', "the file: ends before it is complete (line 1, column 13)"),
        ('{"workspace": {"name": "B"},\n "cards": [{}, {]', "cards[1]: is not JSON (line 2, column 17)"),
        ('{"workspace": {"name": "B"}, "cards": [{}', "cards[1]: ends before it is complete (line 1, column 42)"),
        ('{"workspace": {"name": "B"}} {}', "the file: goes on after its object has ended"),
        ('{"workspace": {"name": "B"}, "workspace": {}}', "the file: names 'workspace' twice"),
        ('{"workspace": {"name": "B", "name": "C"}}', "workspace: names 'name' twice"),
        ('{"workspace": {"name": NaN}}', "workspace: holds NaN, which is not JSON"),
        ('{"workspace": ' + "[" * 100_000, "workspace: is nested too deeply"),
        ('{"workspace": {"name": "B"}, "cards": [{"reps": ' + "9" * 5000 + "}]}",
         "cards[0]: holds a number of more than 4,300 digits"),
        ('{"workspace": {"name": "B"}, "cards": ["' + "x" * 20_000_000 + '"]}',
         "cards[0]: is longer than 8,388,608 characters"),
        ('{"workspace": {"name": "B"}, "cards": {}}', "cards: must be a list"),
        ('{"workspace": {"name": "B"}, "cards": [7]}', "cards[0]: must be an object"),
        ('{"workspace": []}', "workspace: must be an object"),
        ("{}", "workspace: is missing"),
        ('{"workspace": {"name": "B"}, "format": "anki"}', 'format: must be "flashcards-workspace"'),
        ('{"workspace": {"name": "B"}, "version": 2}', "version: must be 1, the only one there is"),
        ('{"workspace": {"name": "B"}, "reviews": []}',
         "reviews: is not a known field; known are format, version, workspace, cards, decks, review_events"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_archive_earns_one_line(refused, document, fault):
    assert refused(document) == [fault]


def test_metadata_nested_beyond_reason_is_refused(refused):
    deep: dict = {}
    for _ in range(60):
        deep = {"a": deep}
    assert refused(archive(cards=[{**CARD, "metadata": deep}])) == [
        "cards[0].metadata: must not be nested more than 50 levels deep"
    ]


def test_a_file_that_is_not_there_earns_one_line(tmp_path):
    for file in (tmp_path / "nothing.json", tmp_path):
        with pytest.raises(CommandError, match=rf"Cannot read {file}: (No such file|Is a directory)"):
            call_command("import_workspace", str(file), email="a@example.com", stdout=io.StringIO())


class Trickle(io.BytesIO):
    """A file that gives a few bytes at a time, so that every boundary between two reads is met."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(3)


CARD_OF_SIGNS = {**REVIEWED, "back_text": 'é🌍"\\\n', "metadata": {"n": -1.5e-7}}
TEXT = json.dumps(archive(cards=[CARD_OF_SIGNS], decks=[]), indent=1, ensure_ascii=False).encode()


@pytest.mark.django_db
def test_a_file_is_read_the_same_however_it_is_cut_into_reads():
    import_archive(Trickle(TEXT), email="alice@example.com", now=NOW)
    card = Card.objects.get()
    assert (card.back_text, card.metadata) == ('é🌍"\\', {"n": -1.5e-7})


@pytest.mark.django_db
def test_a_file_that_was_cut_off_anywhere_is_refused():
    for length in range(len(TEXT) - 1):
        with pytest.raises(ArchiveRefused) as refusal:
            import_archive(io.BytesIO(TEXT[:length]), email="alice@example.com", now=NOW)
        assert "ends before it is complete" in str(refusal.value)
    assert not User.objects.exists()


@pytest.mark.django_db
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(place=st.integers(0, len(TEXT) - 1), put=st.binary(min_size=1, max_size=3))
def test_a_damaged_file_is_imported_or_refused_and_never_crashes(place, put):
    damaged = TEXT[:place] + put + TEXT[place + 1 :]
    with transaction.atomic():
        with suppress(ArchiveRefused):
            import_archive(io.BytesIO(damaged), email="alice@example.com", now=NOW)
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_a_faulty_archive_leaves_an_existing_workspace_as_it_was(load, refused):
    user = make_user()
    workspace = make_workspace(user, workspace_id=WORKSPACE["workspace_id"], name="Old name")
    refused(archive(cards=[CARD], review_events=[{**EVENT, "rating": 9}]))
    workspace.refresh_from_db()
    assert workspace.name == "Old name"
    assert not Card.objects.exists()
