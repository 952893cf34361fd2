"""Processes that are killed while they work: no acknowledged review is lost, none is stored twice."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from threading import Event
from uuid import uuid4

import pytest

from tests.app.live import LiveDoor
from tests.server import LiveServer, running_server

pytestmark = pytest.mark.server

CLIENTS = 8
REVIEWS_EACH = 10
KILLS = 4
ATTEMPTS_MAX = 100


def workers_of(server: LiveServer) -> list[int]:
    """The processes that serve; their parent only watches over them."""
    parent = server.process.pid
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def review_until_acknowledged(door: LiveDoor, card_id: str, review_id: str) -> str:
    """Submit as clients do, with the same review id until an answer comes: the code of the first, "" for a success."""
    arguments = {"cardId": card_id, "reviewId": review_id, "rating": "Good", "reviewedTimeZone": "UTC"}
    for _ in range(ATTEMPTS_MAX):
        # A killed process answers with a closed connection, and nobody listens until the next one is up.
        with suppress(OSError, HTTPException):
            envelope = door.call("submit_review", **arguments)["structuredContent"]
            return str(envelope.get("error", {}).get("code", ""))
        time.sleep(0.05)
    pytest.fail("no process answered any more")


def test_killed_processes_lose_no_acknowledged_review_and_repeat_none(tmp_path: Path) -> None:
    with running_server(tmp_path, WEB_CONCURRENCY="2") as server:
        door = LiveDoor(server, server.create_api_key())
        rows = ", ".join(f"('{number}', 'back')" for number in range(CLIENTS))
        insert = f"INSERT INTO cards (front_text, back_text) VALUES {rows} RETURNING card_id"
        cards = [row["card_id"] for row in door.data("sql_execute", sql=insert)["rows"]]
        done = Event()

        def kill_now_and_then() -> int:
            killed = 0
            while killed < KILLS or not done.is_set():
                time.sleep(0.8)
                for pid in workers_of(server)[: 1 + killed % 2]:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        killed += 1
            return killed

        def study(card_id: str) -> list[tuple[str, str]]:
            ids = [str(uuid4()) for _ in range(REVIEWS_EACH)]
            return [(review_id, review_until_acknowledged(door, card_id, review_id)) for review_id in ids]

        with ThreadPoolExecutor(CLIENTS + 1) as pool:
            killer = pool.submit(kill_now_and_then)
            answers = [answer for answered in pool.map(study, cards) for answer in answered]
            done.set()
            assert killer.result() >= KILLS

        acknowledged = {review_id for review_id, code in answers if code in ("", "REVIEW_EVENT_CONFLICT")}
        assert len(acknowledged) == CLIENTS * REVIEWS_EACH, Counter(code for _, code in answers)
        stored = door.data("sql_query", sql="SELECT client_event_id FROM review_events LIMIT 100")["rows"]
        assert sorted(row["client_event_id"] for row in stored) == sorted(acknowledged)
        reps = door.data("sql_query", sql="SELECT reps FROM cards")["rows"]
        assert {row["reps"] for row in reps} == {REVIEWS_EACH}
