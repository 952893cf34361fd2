"""Submitting a review: what is stored, what is answered, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from flashcards.models import Card, whole_milliseconds
from review.errors import ReviewStale
from review.models import ReviewEvent
from review.scheduler import NEW, SCHEDULER_VERSION, Rating, Settings, preview, review_card
from review.services import Reviewer, Submission, preview_ratings, submit_review
from review.stored_schedule import read_schedule_record, schedule_of, schedule_record, settings_record
from tests.agent import Agent, Answered
from tests.factories import make_api_key, make_card, make_workspace
from tests.review.rows import drop_schedule_constraints, every_row, restore_schedule_constraints

SUBMIT = "/v1/agent/reviews/submit"


def submit(agent: Agent, card: Card, **changes: Any) -> Answered:
    """A Good of `card` under a new reviewId, with `changes` in the body; None leaves a field out."""
    body = {"cardId": str(card.pk), "reviewId": str(uuid4()), "rating": "Good", "reviewedTimeZone": "Europe/Paris"}
    return agent.post(SUBMIT, {name: value for name, value in {**body, **changes}.items() if value is not None})


def stored(card: Card) -> Card:
    """The card as the database has it."""
    return Card.objects.get(pk=card.pk)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


# what a success stores and answers


def test_a_review_is_stored_with_its_event_and_answered(alice: Agent) -> None:
    card, review_id = make_card(alice.workspace), uuid4()
    before = timezone.now()
    answer = submit(alice, card, reviewId=str(review_id))
    event, card = ReviewEvent.objects.get(), stored(card)
    assert answer.status == 200
    assert answer.data == {
        "workspaceId": str(alice.workspace.pk),
        "cardId": str(card.pk),
        "reviewId": str(review_id),
        "reviewEventId": str(event.pk),
        "rating": "Good",
        "reviewedAt": answer.data["reviewedAt"],
        "dueAt": answer.data["dueAt"],
        "intervalSeconds": 600,
        "scheduledDays": 0,
        "state": "learning",
        "reps": 1,
        "lapses": 0,
    }
    reviewed_at = moment(answer.data["reviewedAt"])
    assert whole_milliseconds(before) <= reviewed_at <= timezone.now()
    assert moment(answer.data["dueAt"]) == reviewed_at + timedelta(minutes=10) == card.due_at
    assert schedule_of(card) == review_card(card.pk, NEW, Rating.GOOD, at=reviewed_at, settings=Settings())
    assert event.reviewed_at_server == event.reviewed_at_client == reviewed_at


def test_the_event_keeps_what_undo_and_replay_need(alice: Agent) -> None:
    now = timezone.now()
    last = whole_milliseconds(now - timedelta(days=20, hours=1))
    card = make_card(
        alice.workspace,
        fsrs_card_state="review",
        fsrs_last_reviewed_at=last,
        due_at=last + timedelta(days=20),
        fsrs_scheduled_days=20,
        fsrs_stability=20.0,
        reps=4,
    )
    before = schedule_of(stored(card))
    answer = submit(alice, card, rating="Hard", reviewedTimeZone="Asia/Kathmandu")
    event = ReviewEvent.objects.get()
    assert event.workspace_id == alice.workspace.pk
    assert event.card_id == card.pk
    assert event.client_event_id == answer.data["reviewId"]
    assert event.replica_id == alice.user.api_keys.get().pk
    assert event.reviewed_by == alice.user.pk
    assert event.rating == 1
    assert event.reviewed_time_zone == "Asia/Kathmandu"
    assert event.state_before == "review"
    assert event.elapsed_days == 20
    assert event.scheduled_days == answer.data["scheduledDays"] == stored(card).fsrs_scheduled_days
    assert event.schedule_before == schedule_record(before)
    assert event.schedule_after == schedule_record(schedule_of(stored(card)))
    assert event.settings == settings_record(Settings())
    assert event.scheduler_version == SCHEDULER_VERSION
    assert event.undone_at is None
    replayed = review_card(
        card.pk,
        read_schedule_record(event.schedule_before),
        Rating(event.rating + 1),
        at=event.reviewed_at_server,
        settings=Settings(),
    )
    assert schedule_record(replayed) == event.schedule_after


@pytest.mark.parametrize("rating", ["Again", "Hard", "Good", "Easy"])
def test_a_submit_stores_what_the_preview_showed(alice: Agent, rating: str) -> None:
    now = timezone.now()
    card = make_card(alice.workspace, fsrs_card_state="review", due_at=now - timedelta(days=3), reps=7, lapses=1)
    card = stored(card)
    shown = preview_ratings(card, workspace=alice.workspace, now=now)
    submission = Submission(card.pk, uuid4(), Rating[rating.upper()], "UTC")
    reviewed = submit_review(submission, workspace=alice.workspace, reviewer=Reviewer(uuid4(), uuid4()), now=now)
    assert schedule_of(stored(card)) == schedule_of(reviewed.card) == shown[Rating[rating.upper()]]
    assert stored(card).lapses == 1 + (rating == "Again")
    assert stored(card).fsrs_card_state == ("relearning" if rating == "Again" else "review")


def test_a_review_changes_the_schedule_and_nothing_else_of_the_card(alice: Agent) -> None:
    card = make_card(alice.workspace, tags=["a"], front_text="Q", back_text="A")
    other = make_card(alice.workspace)
    before = every_row()
    submit(alice, card)
    after = every_row()
    schedule = {name for name in before["Card"][0] if name.startswith("fsrs_") or name in ("due_at", "reps", "lapses")}
    for old, new in zip(before["Card"], after["Card"], strict=True):
        changed = {name for name in old if old[name] != new[name]}
        assert changed <= (schedule if old["card_id"] == card.pk else set())
    assert {name: rows for name, rows in after.items() if name not in ("Card", "ReviewEvent")} == {
        name: rows for name, rows in before.items() if name not in ("Card", "ReviewEvent")
    }
    assert stored(other).reps == 0


def test_the_settings_of_the_workspace_decide(alice: Agent) -> None:
    alice.workspace.learning_steps_minutes = [7, 30]
    alice.workspace.save()
    assert submit(alice, make_card(alice.workspace), rating="Again").data["intervalSeconds"] == 420
    assert ReviewEvent.objects.get().settings["learning_steps_minutes"] == [7, 30]


def test_a_suspended_card_is_reviewed(alice: Agent) -> None:
    card = make_card(alice.workspace, suspended=True)
    assert submit(alice, card).status == 200
    assert stored(card).suspended


def test_ids_are_taken_in_either_case_and_answered_in_lower_case(alice: Agent) -> None:
    card, review_id = make_card(alice.workspace), uuid4()
    answer = submit(alice, card, cardId=str(card.pk).upper(), reviewId=str(review_id).upper())
    assert (answer.data["cardId"], answer.data["reviewId"]) == (str(card.pk), str(review_id))
    assert submit(alice, card, reviewId=str(review_id)).error["code"] == "REVIEW_EVENT_CONFLICT"


def test_a_submit_works_in_the_workspace_that_is_named(alice: Agent) -> None:
    second = make_workspace(alice.user, name="Second")
    card = make_card(second)
    assert submit(alice, card, workspaceId=str(second.pk)).data["workspaceId"] == str(second.pk)


# once and only once


def test_a_second_submit_of_a_review_id_stores_nothing_and_tells_the_schedule(alice: Agent) -> None:
    card, review_id = make_card(alice.workspace), str(uuid4())
    first = submit(alice, card, reviewId=review_id)
    before = every_row()
    for rating in ("Good", "Again"):
        answer = submit(alice, card, reviewId=review_id, rating=rating, reviewedTimeZone="UTC")
        assert (answer.status, answer.error["code"]) == (409, "REVIEW_EVENT_CONFLICT")
        names = ("cardId", "dueAt", "intervalSeconds", "scheduledDays", "state", "reps", "lapses")
        assert answer.error["details"] == {"reviewSchedule": {name: first.data[name] for name in names}}
        assert "The review is recorded" in answer.body["instructions"]
    assert every_row() == before


def test_a_repeated_submit_tells_the_schedule_as_it_is_now(alice: Agent) -> None:
    card, review_id = make_card(alice.workspace), str(uuid4())
    submit(alice, card, reviewId=review_id)
    later = submit(alice, card, rating="Easy")
    answer = submit(alice, card, reviewId=review_id)
    assert answer.error["details"]["reviewSchedule"]["dueAt"] == later.data["dueAt"]
    assert answer.error["details"]["reviewSchedule"]["reps"] == 2


def test_a_repeat_from_another_connection_is_the_same_conflict(alice: Agent) -> None:
    card, review_id = make_card(alice.workspace), str(uuid4())
    submit(alice, card, reviewId=review_id)
    alice.key = make_api_key(alice.user, label="second")
    assert submit(alice, card, reviewId=review_id).error["code"] == "REVIEW_EVENT_CONFLICT"


def test_a_review_id_of_another_card_is_a_mismatch(alice: Agent) -> None:
    card, other, review_id = make_card(alice.workspace), make_card(alice.workspace), str(uuid4())
    submit(alice, card, reviewId=review_id)
    before = every_row()
    answer = submit(alice, other, reviewId=review_id)
    assert (answer.status, answer.error["code"]) == (409, "REVIEW_ID_CARD_MISMATCH")
    assert "new random UUID" in answer.body["instructions"]
    assert every_row() == before


def test_one_review_id_may_serve_two_workspaces(alice: Agent, bob: Agent) -> None:
    review_id = str(uuid4())
    assert submit(alice, make_card(alice.workspace), reviewId=review_id).status == 200
    assert submit(bob, make_card(bob.workspace), reviewId=review_id).status == 200


# what is refused


def test_bob_is_refused_alices_card_with_the_answer_of_one_that_does_not_exist(alice: Agent, bob: Agent) -> None:
    foreign = make_card(alice.workspace)
    deleted = make_card(bob.workspace, deleted_at=timezone.now())
    unknown = Card(card_id=uuid4())
    before = every_row()
    answers = [submit(bob, card) for card in (foreign, deleted, unknown)]
    assert {(answer.status, answer.error["code"]) for answer in answers} == {(404, "CARD_NOT_FOUND")}
    same = [{**answer.body, "requestId": ""} for answer in answers]
    assert same[0] == same[1] == same[2]
    assert submit(bob, foreign, workspaceId=str(alice.workspace.pk)).error["code"] == "WORKSPACE_NOT_FOUND"
    assert every_row() == before


def test_a_card_whose_last_review_is_not_in_the_past_is_stale(alice: Agent) -> None:
    ahead = timezone.now() + timedelta(minutes=1)
    card = make_card(
        alice.workspace,
        fsrs_card_state="review",
        fsrs_last_reviewed_at=ahead,
        due_at=ahead + timedelta(days=1),
    )
    before = every_row()
    answer = submit(alice, card)
    assert (answer.status, answer.error["code"]) == (409, "REVIEW_STALE")
    assert "another card" in answer.body["instructions"]
    assert every_row() == before


def test_a_duplicate_is_reported_as_such_before_it_is_stale(alice: Agent) -> None:
    card, review_id = make_card(alice.workspace), str(uuid4())
    submit(alice, card, reviewId=review_id)
    ahead = timezone.now() + timedelta(days=1)
    Card.objects.filter(pk=card.pk).update(fsrs_last_reviewed_at=ahead, due_at=ahead + timedelta(days=1))
    assert submit(alice, card, reviewId=review_id).error["code"] == "REVIEW_EVENT_CONFLICT"
    assert submit(alice, card).error["code"] == "REVIEW_STALE"


def test_two_reviews_within_one_millisecond_are_one_too_many(alice: Agent) -> None:
    card, now = make_card(alice.workspace), timezone.now().replace(microsecond=5000)
    store = partial(submit_review, workspace=alice.workspace, reviewer=Reviewer(alice.user.pk, alice.user.pk))
    store(Submission(card.pk, uuid4(), Rating.GOOD, "UTC"), now=now)
    again = Submission(card.pk, uuid4(), Rating.GOOD, "UTC")
    with pytest.raises(ReviewStale):
        store(again, now=now.replace(microsecond=5999))


@pytest.fixture
def broken_schedules(db: None) -> Iterator[None]:
    drop_schedule_constraints()
    yield
    restore_schedule_constraints()


@pytest.mark.parametrize(
    "fault",
    [
        {"fsrs_stability": None},
        {"fsrs_stability": -1.0},
        {"fsrs_card_state": "studying"},
        {"fsrs_step_index": 0},
        {"fsrs_last_reviewed_at": None},
        {"lapses": 99},
    ],
    ids=str,
)
@pytest.mark.usefixtures("broken_schedules")
def test_a_broken_schedule_fails_aloud_and_is_left_as_it_is(alice: Agent, fault: dict[str, Any], caplog: Any) -> None:
    card = make_card(alice.workspace, front_text="never logged", fsrs_card_state="review")
    Card.objects.filter(pk=card.pk).update(**fault)
    before = every_row()
    answer = submit(alice, card)
    assert (answer.status, answer.error["code"]) == (500, "CARD_FSRS_STATE_INVALID")
    assert every_row() == before
    assert str(card.pk) in caplog.text
    assert "never logged" not in caplog.text
    assert alice.post("/v1/agent/reviews/reveal", {"cardId": str(card.pk)}).status == 200


# Fixed, so that every test process collects the same cases.
SOME_ID = UUID("7fcb0e4c-69c5-4b67-b6e3-cd321ed49383")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("rating", value) for value in (None, "good", "GOOD", " Good", "2", 2, 3.0, True, ["Good"], "", "Okay")),
        *(("reviewId", value) for value in (None, "", "1", 5, "g" * 36, f"{{{SOME_ID}}}", SOME_ID.hex, f"{SOME_ID}\n")),
        *(("cardId", value) for value in (None, "", "1", 5, f"urn:uuid:{SOME_ID}")),
        *(
            ("reviewedTimeZone", value)
            for value in (
                *(None, "", "europe/paris", "Europe/Paris ", "Europe/Atlantis", "../../etc/passwd", "/etc/localtime"),
                *("localtime", "Factory", "posix/Europe/Paris", "Europe", "Europe/../Europe/Paris", "GMT+25", "\x00"),
                *("\ud800", "Europe/Paris\x00", 1, ["UTC"], "Europe//Paris", "./UTC", "zone.tab"),
            )
        ),
        ("reviewedAt", "2026-03-08T09:00:00Z"),
        ("review_id", str(SOME_ID)),
        ("workspaceID", str(SOME_ID)),
    ],
)
def test_a_submit_refuses_arguments_that_are_not_of_their_form(alice: Agent, field: str, value: Any) -> None:
    card = make_card(alice.workspace)
    answer = submit(alice, card, **{field: value})
    assert (answer.status, answer.error["code"]) == (400, "REVIEW_INPUT_INVALID")
    assert [issue["path"] for issue in answer.error["details"]["validationIssues"]] == [field]
    assert stored(card).reps == 0
    assert not ReviewEvent.objects.exists()


@pytest.mark.parametrize("zone", ["UTC", "Europe/Paris", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "Asia/Saigon"])
def test_iana_time_zones_are_taken(alice: Agent, zone: str) -> None:
    assert submit(alice, make_card(alice.workspace), reviewedTimeZone=zone).status == 200


def test_a_caller_without_a_key_is_refused(alice: Agent) -> None:
    alice.key = ""
    assert submit(alice, make_card(alice.workspace)).error["code"] == "AUTHENTICATION_REQUIRED"


def test_a_submit_takes_a_fixed_number_of_queries(alice: Agent, django_assert_num_queries: Any) -> None:
    card, review_id = make_card(alice.workspace), str(uuid4())
    alice.post("/v1/agent/reviews/next")
    key_and_workspace, begin_and_commit, begin_and_roll_back = 2, 2, 3
    with django_assert_num_queries(key_and_workspace + begin_and_commit + 4):
        assert submit(alice, card, reviewId=review_id).status == 200
    with django_assert_num_queries(key_and_workspace + begin_and_roll_back + 2):
        assert submit(alice, card, reviewId=review_id).status == 409


# the whole loop


def test_a_learner_works_through_the_queue(alice: Agent) -> None:
    fronts = [f"question {number}" for number in range(3)]
    for front in fronts:
        make_card(alice.workspace, front_text=front)
    asked = []
    while card := alice.post("/v1/agent/reviews/next").data["card"]:
        asked.append(card["frontText"])
        alice.post("/v1/agent/reviews/reveal", {"cardId": card["cardId"]})
        assert submit(alice, Card(card_id=UUID(card["cardId"])), rating="Easy").data["state"] == "review"
    assert sorted(asked) == fronts
    assert ReviewEvent.objects.count() == 3


def test_a_preview_of_a_stored_card_is_the_schedulers(alice: Agent) -> None:
    card, now = stored(make_card(alice.workspace, fsrs_card_state="relearning")), timezone.now()
    shown = preview_ratings(card, workspace=alice.workspace, now=now)
    assert shown == preview(card.pk, schedule_of(card), at=now, settings=Settings())
