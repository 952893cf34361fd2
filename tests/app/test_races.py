"""The page's calls at the same instant, at a server with several workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.app.live import LiveDoor, at_once, live_round
from tests.server import LiveServer, kill, migrated_database, running_server, start_server

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server with two workers, which share nothing but the database."""
    with running_server(tmp_path_factory.mktemp("workers"), WEB_CONCURRENCY="2") as running:
        yield running


def codes(envelopes: list[dict]) -> Counter[str]:
    """How often each code was answered; a success has none."""
    return Counter(envelope.get("error", {}).get("code", "") for envelope in envelopes)


def test_of_200_ratings_at_once_each_card_keeps_one(workers: LiveServer) -> None:
    round_ = live_round(workers, 10)
    ratings = ("Again", "Hard", "Good", "Easy")
    calls = [round_.arguments("review_card", n % 10, rating=ratings[n % 4]) for n in range(200)]
    assert codes(at_once(round_.host, calls)) == {"": 10, "REVIEW_EVENT_CONFLICT": 190}
    rows = round_.host.data("sql_query", sql="SELECT card_id, client_event_id FROM review_events")["rows"]
    assert sorted((row["card_id"], row["client_event_id"]) for row in rows) == sorted(
        (card["cardId"], card["reviewId"]) for card in round_.cards
    )
    assert {card["status"] for card in round_.do("state")["cards"]} == {"rated"}


def test_undos_at_once_give_one_new_review_id(workers: LiveServer) -> None:
    round_ = live_round(workers, 1)
    round_.do("review_card", 0)
    envelopes = at_once(round_.host, [round_.arguments("undo", 0)] * 20)
    assert codes(envelopes) == {"": 20}
    renewed = {envelope["data"]["card"]["reviewId"] for envelope in envelopes}
    assert len(renewed) == 1
    assert round_.do("review_card", 0, reviewId=renewed.pop())["reps"] == 1


def test_rating_and_undoing_at_once_leave_a_card_that_can_be_rated(workers: LiveServer) -> None:
    round_ = live_round(workers, 1)
    round_.do("review_card", 0)
    calls = [round_.arguments(action, 0) for action in ("undo", "review_card") for _ in range(10)]
    assert set(codes(at_once(round_.host, calls))) <= {"", "REVIEW_EVENT_CONFLICT"}
    (card,) = round_.do("state")["cards"]
    assert card["status"] == "open"
    assert round_.do("review_card", 0, reviewId=card["reviewId"])["reps"] == 1


def test_a_token_is_known_to_every_worker_and_after_a_restart(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("restart")
    with migrated_database(folder) as url:
        first = start_server(folder, environment={"DATABASE_URL": url})
        host = LiveDoor(first, first.create_api_key())
        host.data("flashcard", action="create_card", markdown="- a\n  - b")
        offer = host.data("flashcard", action="list_cards")
        kill(first)
        second = start_server(folder, environment={"DATABASE_URL": url})
        host.live = second
        chosen = [{"cardId": offer["cards"][0]["cardId"]}]
        token = offer["candidateToken"]
        data = host.data("flashcard_review_session", candidateToken=token, cards=chosen, selectionReason="why")
        assert data["selectedCount"] == 1
        kill(second)
