"""Reviews that arrive at the same instant."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection, connections
from django.utils import timezone
from psycopg import sql

from flashcards.models import Card, Workspace
from review.models import ReviewEvent
from review.scheduler import Rating
from review.services import Reviewer, Submission, submit_review
from tests.agent import Answered
from tests.factories import make_card, make_user, make_workspace
from tests.server import LiveServer

AT_ONCE = 20
SUBMIT = "/v1/agent/reviews/submit"


def learner_with_cards(live: LiveServer, count: int) -> tuple[str, list[str]]:
    """The key of a new user, and the ids of that many new cards of theirs."""
    email, card_ids = f"{uuid4().hex}@example.com", [str(uuid4()) for _ in range(count)]
    archive = {
        "workspace": {"workspace_id": str(uuid4()), "name": "Personal"},
        "cards": [{"card_id": card_id, "front_text": "Front", "back_text": "Back"} for card_id in card_ids],
    }
    file = live.output.parent / f"{email}.json"
    file.write_text(json.dumps(archive))
    imported = live.manage("import_workspace", str(file), "--email", email)
    assert imported.returncode == 0, imported.stderr
    return live.create_api_key(email), card_ids


def submit_at_once(live: LiveServer, key: str, bodies: list[dict[str, str]]) -> list[Answered]:
    """The answers to requests that are sent together, each on a connection of its own."""
    ready = threading.Barrier(len(bodies))

    def send(body: dict[str, str]) -> Answered:
        ready.wait()
        return live.request("POST", SUBMIT, body, key=key)

    with ThreadPoolExecutor(len(bodies)) as pool:
        return list(pool.map(send, bodies))


def body(card_id: str, review_id: str, rating: str = "Good") -> dict[str, str]:
    return {"cardId": card_id, "reviewId": review_id, "rating": rating, "reviewedTimeZone": "UTC"}


def outcomes(answers: list[Answered]) -> Counter[tuple[int, str]]:
    """How often each status and code was answered."""
    return Counter((answer.status, answer.body.get("error", {}).get("code", "")) for answer in answers)


def events(live: LiveServer, key: str) -> list[dict[str, Any]]:
    """The stored review events of the user."""
    query = {"sql": "SELECT card_id, client_event_id FROM review_events"}
    rows: list[dict[str, Any]] = live.request("POST", "/v1/agent/sql/query", query, key=key).data["rows"]
    return rows


@pytest.mark.server
@pytest.mark.parametrize("ratings", [["Good"], ["Again", "Hard", "Good", "Easy"]], ids=["identical", "differing"])
def test_of_twenty_submits_of_one_review_id_one_succeeds(server: LiveServer, ratings: list[str]) -> None:
    key, (card_id,) = learner_with_cards(server, 1)
    review_id = str(uuid4())
    bodies = [body(card_id, review_id, ratings[number % len(ratings)]) for number in range(AT_ONCE)]
    answers = submit_at_once(server, key, bodies)
    assert outcomes(answers) == {(200, ""): 1, (409, "REVIEW_EVENT_CONFLICT"): AT_ONCE - 1}
    (success,) = [answer.data for answer in answers if answer.status == 200]
    for answer in answers:
        if answer.status == 409:
            schedule = answer.error["details"]["reviewSchedule"]
            assert schedule == {name: success[name] for name in schedule}
    assert events(server, key) == [{"card_id": card_id, "client_event_id": review_id}]


@pytest.mark.server
def test_of_twenty_cards_under_one_review_id_one_is_reviewed(server: LiveServer) -> None:
    key, card_ids = learner_with_cards(server, AT_ONCE)
    review_id = str(uuid4())
    answers = submit_at_once(server, key, [body(card_id, review_id) for card_id in card_ids])
    assert outcomes(answers) == {(200, ""): 1, (409, "REVIEW_ID_CARD_MISMATCH"): AT_ONCE - 1}
    (success,) = [answer.data for answer in answers if answer.status == 200]
    assert events(server, key) == [{"card_id": success["cardId"], "client_event_id": review_id}]


@pytest.mark.server
def test_twenty_reviews_of_one_card_count_as_many_times_as_they_succeed(server: LiveServer) -> None:
    key, (card_id,) = learner_with_cards(server, 1)
    answers = submit_at_once(server, key, [body(card_id, str(uuid4())) for _ in range(AT_ONCE)])
    counted = outcomes(answers)
    assert set(counted) <= {(200, ""), (409, "REVIEW_STALE")}
    reps = sorted(answer.data["reps"] for answer in answers if answer.status == 200)
    assert reps == list(range(1, counted[(200, "")] + 1))
    assert len(events(server, key)) == len(reps)


def submit_in_thread(
    workspace: Workspace, card: Card, review_id: UUID, caught: list[BaseException]
) -> threading.Thread:
    """A started thread that submits; what it raises is put into `caught`."""

    def run() -> None:
        submission = Submission(card.pk, review_id, Rating.GOOD, "UTC")
        try:
            submit_review(submission, workspace=workspace, reviewer=Reviewer(uuid4(), uuid4()), now=timezone.now())
        except BaseException as error:  # noqa: BLE001  the test looks at it
            caught.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def insertion_of(event: ReviewEvent) -> tuple[Any, list[Any]]:
    """The statement that stores `event`, for a connection that Django does not know."""
    columns = ("review_event_id", "workspace_id", "card_id", "client_event_id", "rating")
    times = {"reviewed_at_client": event.reviewed_at_client, "reviewed_at_server": event.reviewed_at_server}
    row = {column: getattr(event, column) for column in columns}
    row |= {**times, "replica_id": event.replica_id, "reviewed_time_zone": "UTC"}
    names, places = sql.SQL(", ").join(map(sql.Identifier, row)), sql.SQL(", ").join([sql.Placeholder()] * len(row))
    return sql.SQL("INSERT INTO review_reviewevent ({}) VALUES ({})").format(names, places), list(row.values())


def wait_until_somebody_waits_for_a_lock(link: psycopg.Connection[Any]) -> None:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if link.execute(waiting).fetchone() != (0,):
            return
        time.sleep(0.01)
    raise AssertionError("nobody waits")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's writers queue before they look")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("same_card", "code"), [(True, "REVIEW_EVENT_CONFLICT"), (False, "REVIEW_ID_CARD_MISMATCH")])
def test_a_review_id_that_only_the_constraint_sees_taken_is_answered_alike(same_card: bool, code: str) -> None:
    workspace = make_workspace(make_user())
    card, review_id = make_card(workspace), uuid4()
    taken_by = card if same_card else make_card(workspace)
    other = ReviewEvent(workspace=workspace, card=taken_by, client_event_id=str(review_id), rating=2)
    caught: list[BaseException] = []
    at = connection.get_connection_params()
    address = {name: at[name] for name in ("dbname", "user", "host", "port") if name in at}
    with psycopg.connect(**address) as link, psycopg.connect(**address, autocommit=True) as watch:
        insert, values = insertion_of(other)
        link.execute(insert, values)
        thread = submit_in_thread(workspace, card, review_id, caught)
        wait_until_somebody_waits_for_a_lock(watch)
        link.commit()
        thread.join()
    (error,) = caught
    assert getattr(error, "code", error) == code
    assert [event.pk for event in ReviewEvent.objects.all()] == [other.pk]
    assert Card.objects.get(pk=card.pk).reps == 0
