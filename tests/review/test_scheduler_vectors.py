"""The scheduler against schedules that were computed and checked elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from review.scheduler import (
    NEW,
    Rating,
    Schedule,
    Settings,
    State,
    fuzz_bounds,
    fuzz_days,
    fuzz_unit,
    preview,
    retrievability,
    review_card,
)

CASES = json.loads((Path(__file__).parent / "cases" / "scheduling.json").read_text())
CARD_ID = UUID("00000000-0000-4000-8000-000000000001")


def settings_of(case: dict[str, Any]) -> Settings:
    return Settings(
        desired_retention=case["desired_retention"],
        learning_steps_minutes=tuple(case["learning_steps"]),
        relearning_steps_minutes=tuple(case["relearning_steps"]),
        maximum_interval_days=case["maximum_interval"],
        enable_fuzz=False,
    )


def start_of(case: dict[str, Any] | None) -> Schedule:
    """The schedule a case begins with; what it does not say is filled in with what a sound schedule has."""
    if case is None:
        return NEW
    in_review = case["state"] == "review"
    last = datetime.fromisoformat(case["last_review"])
    return Schedule(
        state=State(case["state"]),
        step_index=case["step"],
        stability=case["stability"],
        difficulty=case["difficulty"],
        due_at=last + (timedelta(days=1) if in_review else timedelta(minutes=1)),
        last_reviewed_at=last,
        scheduled_days=1 if in_review else 0,
        reps=case["reps"],
        lapses=case.get("lapses", 0),
    )


@pytest.mark.parametrize("case", CASES["vectors"], ids=lambda case: case["name"])
def test_a_history_leads_to_the_golden_schedules(case):
    schedule, settings = start_of(case["start"]), settings_of(case["settings"])
    for review, expected in zip(case["reviews"], case["expected"], strict=True):
        at = datetime.fromisoformat(review["at"])
        elapsed_days = schedule.elapsed_days(at=at)
        schedule = review_card(CARD_ID, schedule, Rating(review["rating"]), at=at, settings=settings)
        assert schedule == Schedule(
            state=State(expected["state"]),
            step_index=expected["step"],
            stability=schedule.stability,
            difficulty=schedule.difficulty,
            due_at=datetime.fromisoformat(expected["due"]),
            last_reviewed_at=datetime.fromisoformat(expected["last_review"]),
            scheduled_days=expected["scheduled_days"],
            reps=expected["reps"],
            lapses=expected["lapses"],
        )
        assert schedule.stability == pytest.approx(expected["stability"], rel=1e-6)
        assert schedule.difficulty == pytest.approx(expected["difficulty"], rel=1e-6)
        assert schedule.interval_seconds == expected["interval_seconds"]
        assert elapsed_days == expected["elapsed_days"]


@pytest.mark.parametrize("case", CASES["previews"], ids=lambda case: case["name"])
def test_a_preview_shows_the_golden_outcome_of_each_rating(case):
    at = datetime.fromisoformat(case["at"])
    outcomes = preview(CARD_ID, start_of(case["start"]), at=at, settings=settings_of(case["settings"]))
    shown = {
        rating.name.lower(): {
            "state": outcome.state.value,
            "step": outcome.step_index,
            "due": outcome.due_at,
            "interval_seconds": outcome.interval_seconds,
        }
        for rating, outcome in outcomes.items()
    }
    assert shown == {
        name: {**expected, "due": datetime.fromisoformat(expected["due"])}
        for name, expected in case["expected"].items()
    }


@pytest.mark.parametrize("case", CASES["retrievability"], ids=lambda case: case["at"])
def test_retrievability_is_the_golden_one(case):
    last = datetime.fromisoformat(case["last_review"])
    schedule = Schedule(State.REVIEW, None, case["stability"], 5.0, last + timedelta(days=1), last, 1, reps=1)
    recalled = retrievability(schedule, at=datetime.fromisoformat(case["at"]), settings=Settings())
    assert recalled == pytest.approx(case["expected"], rel=1e-9)


@pytest.mark.parametrize("case", CASES["fuzz"]["units"], ids=lambda case: f"{case['card_id']}-{case['reps_before']}")
def test_a_cards_draw_is_the_golden_one(case):
    assert fuzz_unit(UUID(case["card_id"]), reps_before=case["reps_before"]) == case["unit"]


@pytest.mark.parametrize("case", CASES["fuzz"]["days"], ids=lambda case: f"{case['days']}-at-{case['unit']}")
def test_fuzzed_days_are_the_golden_ones(case):
    ends = {"elapsed_days": case["elapsed_days"], "maximum_days": case["maximum_interval"]}
    assert fuzz_days(case["days"], unit=case["unit"], **ends) == case["expected"]
    if case["bounds"] is not None:
        assert fuzz_bounds(case["days"], **ends) == tuple(case["bounds"])


@pytest.mark.parametrize("case", CASES["fuzz"]["end_to_end"], ids=lambda case: case["card_id"])
def test_a_fuzzed_history_leads_to_the_golden_schedules(case):
    settings = replace(settings_of(case["settings"]), enable_fuzz=case["settings"]["enable_fuzz"])
    schedule = NEW
    for review, expected in zip(case["reviews"], case["expected"], strict=True):
        at = datetime.fromisoformat(review["at"])
        schedule = review_card(UUID(case["card_id"]), schedule, Rating(review["rating"]), at=at, settings=settings)
        assert schedule.state.value == expected["state"]
        assert schedule.scheduled_days == expected["scheduled_days"]
        assert schedule.due_at == datetime.fromisoformat(expected["due"])
        assert schedule.reps == expected["reps"]
