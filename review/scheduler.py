"""When a card comes back: FSRS-6 by the package `fsrs`, with what it leaves to its callers.

The package has no new cards, no counters, no validation worth the name and random fuzz. This module adds those and
does no memory arithmetic. It is pure: the same card, rating, time and settings give the same schedule in every process,
so a preview equals what a review then stores, and a history can be replayed.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum, StrEnum
from functools import lru_cache
from importlib.metadata import version
from itertools import pairwise
from uuid import UUID

import fsrs

ALGORITHM = "fsrs-6"
SCHEDULER_VERSION = f"fsrs {version('fsrs')}, fuzz 1"

RETENTION_MIN, RETENTION_MAX = 0.70, 0.99
STEPS_MAX = 10
STEP_MINUTES_MAX = 1439
INTERVAL_DAYS_MAX = 36500
STABILITY_MIN, STABILITY_MAX = 0.001, 1e9
DIFFICULTY_MIN, DIFFICULTY_MAX = 1.0, 10.0
FUZZ_DAYS_MIN = 3
FUZZ_BANDS = ((2.5, 7.0, 0.15), (7.0, 20.0, 0.10), (20.0, math.inf, 0.05))


class SettingsInvalid(ValueError):
    """A scheduler setting out of its range; `setting` names it as `Settings` does."""

    def __init__(self, setting: str, message: str) -> None:
        super().__init__(f"{setting} {message}")
        self.setting = setting


class ScheduleInvalid(ValueError):
    """A schedule that no review can have left behind."""


class ReviewTimeInvalid(ValueError):
    """A time without a time zone."""


class NotAfterLastReview(ReviewTimeInvalid):
    """A review at or before the last one, which the package would schedule wrongly instead of refusing."""


class Rating(IntEnum):
    """How well the learner remembered, on the scale of FSRS."""

    AGAIN = 1
    HARD = 2
    GOOD = 3
    EASY = 4

    @property
    def word(self) -> str:
        """`Again`, `Hard`, `Good` or `Easy`."""
        return self.name.capitalize()

    @property
    def stored(self) -> int:
        """0 to 3, as review events keep it."""
        return self.value - 1


class State(StrEnum):
    """Where a card stands in its life; the package knows the last three."""

    NEW = "new"
    LEARNING = "learning"
    REVIEW = "review"
    RELEARNING = "relearning"


_PACKAGE_STATES = {
    State.LEARNING: fsrs.State.Learning,
    State.REVIEW: fsrs.State.Review,
    State.RELEARNING: fsrs.State.Relearning,
}
_OUR_STATES = {theirs: ours for ours, theirs in _PACKAGE_STATES.items()}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a workspace schedules. Steps are whole minutes. Raises SettingsInvalid for a value out of its range."""

    desired_retention: float = 0.90
    learning_steps_minutes: tuple[int, ...] = (1, 10)
    relearning_steps_minutes: tuple[int, ...] = (10,)
    maximum_interval_days: int = INTERVAL_DAYS_MAX
    enable_fuzz: bool = True

    def __post_init__(self) -> None:
        _check_retention(self.desired_retention)
        _check_steps("learning_steps_minutes", self.learning_steps_minutes)
        _check_steps("relearning_steps_minutes", self.relearning_steps_minutes)
        if not _is_whole(self.maximum_interval_days) or not 1 <= self.maximum_interval_days <= INTERVAL_DAYS_MAX:
            raise SettingsInvalid("maximum_interval_days", f"must be a whole number from 1 to {INTERVAL_DAYS_MAX}")
        if not isinstance(self.enable_fuzz, bool):
            raise SettingsInvalid("enable_fuzz", "must be true or false")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_retention(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not RETENTION_MIN <= value <= RETENTION_MAX:
        raise SettingsInvalid("desired_retention", f"must be a number from {RETENTION_MIN:.2f} to {RETENTION_MAX:.2f}")


def _check_steps(setting: str, steps: object) -> None:
    if not isinstance(steps, tuple):
        raise SettingsInvalid(setting, "must be a list of whole minutes")
    if len(steps) > STEPS_MAX:
        raise SettingsInvalid(setting, f"must have at most {STEPS_MAX} steps")
    if not all(_is_whole(step) and 1 <= step <= STEP_MINUTES_MAX for step in steps):
        raise SettingsInvalid(setting, f"must hold whole minutes from 1 to {STEP_MINUTES_MAX}")
    if any(later <= earlier for earlier, later in pairwise(steps)):
        raise SettingsInvalid(setting, "must increase from step to step")


@dataclass(frozen=True, slots=True)
class Schedule:
    """Where a card stands. Stability is in days, difficulty 1 to 10 (FSRS-6); the default is a new card."""

    state: State = State.NEW
    step_index: int | None = None
    stability: float | None = None
    difficulty: float | None = None
    due_at: datetime | None = None
    last_reviewed_at: datetime | None = None
    scheduled_days: int | None = None
    reps: int = 0
    lapses: int = 0

    @property
    def interval_seconds(self) -> int | None:
        """Seconds from the last review to the due time; None for a new card."""
        if self.due_at is None or self.last_reviewed_at is None:
            return None
        return (self.due_at - self.last_reviewed_at) // timedelta(seconds=1)

    def elapsed_days(self, *, at: datetime) -> int | None:
        """Whole 24-hour spans from the last review to `at`; None for a new card."""
        return None if self.last_reviewed_at is None else (at - self.last_reviewed_at).days


NEW = Schedule()


def schedule_fault(schedule: Schedule) -> str | None:
    """What makes `schedule` one that no review can have left behind, in a few words; None when it is sound."""
    if not 0 <= schedule.lapses <= schedule.reps:
        return "lapses are not between 0 and reps"
    if schedule.state is State.NEW:
        return None if schedule == NEW else "a new card has no schedule"
    return _memory_fault(schedule) or _times_fault(schedule) or _state_fault(schedule)


def _memory_fault(schedule: Schedule) -> str | None:
    if schedule.stability is None or not STABILITY_MIN <= schedule.stability <= STABILITY_MAX:
        return "stability is out of range"
    if schedule.difficulty is None or not DIFFICULTY_MIN <= schedule.difficulty <= DIFFICULTY_MAX:
        return "difficulty is out of range"
    return None


def _times_fault(schedule: Schedule) -> str | None:
    if schedule.due_at is None or schedule.last_reviewed_at is None:
        return "due time or last review is missing"
    return None if schedule.due_at > schedule.last_reviewed_at else "due time is not after the last review"


def _state_fault(schedule: Schedule) -> str | None:
    if schedule.reps < 1:
        return "a reviewed card has no reps"
    if schedule.state is State.REVIEW:
        days = schedule.scheduled_days
        sound = schedule.step_index is None and days is not None and 1 <= days <= INTERVAL_DAYS_MAX
        return None if sound else "a card in review has no step and 1 to 36500 scheduled days"
    if schedule.step_index is None or schedule.step_index < 0 or schedule.scheduled_days != 0:
        return "a card on steps has a step and 0 scheduled days"
    relearned = schedule.state is State.RELEARNING
    return "a card in relearning has lapsed" if relearned and (schedule.reps < 2 or schedule.lapses < 1) else None


def review_card(card_id: UUID, schedule: Schedule, rating: Rating, *, at: datetime, settings: Settings) -> Schedule:
    """The schedule after `rating` at `at`, which is cut down to whole milliseconds.

    Raises ScheduleInvalid, ReviewTimeInvalid, or NotAfterLastReview; nothing is repaired.
    """
    at = _whole_milliseconds(at)
    card = _package_card(schedule, at=at)
    if schedule.last_reviewed_at is not None and at <= schedule.last_reviewed_at:
        raise NotAfterLastReview("a review must be after the last one")
    reviewed, _ = _package_scheduler(settings).review_card(card, fsrs.Rating(rating), at)
    state = _OUR_STATES[reviewed.state]
    days = 0
    if state is State.REVIEW:
        days = _fuzzed(card_id, schedule, (reviewed.due - at).days, at=at, settings=settings)
    return Schedule(
        state=state,
        step_index=reviewed.step,
        # The package has no ceiling; far beyond the longest interval the figure says nothing any more.
        stability=None if reviewed.stability is None else min(reviewed.stability, STABILITY_MAX),
        difficulty=reviewed.difficulty,
        due_at=at + timedelta(days=days) if state is State.REVIEW else reviewed.due,
        last_reviewed_at=at,
        scheduled_days=days,
        reps=schedule.reps + 1,
        lapses=schedule.lapses + (schedule.state is State.REVIEW and rating is Rating.AGAIN),
    )


def preview(card_id: UUID, schedule: Schedule, *, at: datetime, settings: Settings) -> Mapping[Rating, Schedule]:
    """What each rating at `at` would lead to: exactly what `review_card` gives for it."""
    return {rating: review_card(card_id, schedule, rating, at=at, settings=settings) for rating in Rating}


def retrievability(schedule: Schedule, *, at: datetime, settings: Settings) -> float | None:
    """The probability, 0 to 1, that the card is remembered at `at` (FSRS-6); None for a new card.

    A time before the last review counts as the time of that review. Raises ScheduleInvalid or ReviewTimeInvalid.
    """
    at = _whole_milliseconds(at)
    card = _package_card(schedule, at=at)
    if card.last_review is None:
        return None
    return float(_package_scheduler(settings).get_card_retrievability(card, at))


def _whole_milliseconds(at: datetime) -> datetime:
    if at.tzinfo is None:
        raise ReviewTimeInvalid("a review's time must carry its time zone")
    at = at.astimezone(UTC)
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


@lru_cache(maxsize=256)
def _package_scheduler(settings: Settings) -> fsrs.Scheduler:
    return fsrs.Scheduler(
        desired_retention=settings.desired_retention,
        learning_steps=[timedelta(minutes=step) for step in settings.learning_steps_minutes],
        relearning_steps=[timedelta(minutes=step) for step in settings.relearning_steps_minutes],
        maximum_interval=settings.maximum_interval_days,
        enable_fuzzing=False,
    )


def _package_card(schedule: Schedule, *, at: datetime) -> fsrs.Card:
    # Without an id of its own the package's Card sleeps a millisecond to make one.
    fault = schedule_fault(schedule)
    if fault is not None:
        raise ScheduleInvalid(fault)
    if schedule.last_reviewed_at is None:
        return fsrs.Card(card_id=0, due=at)
    return fsrs.Card(
        card_id=0,
        state=_PACKAGE_STATES[schedule.state],
        step=schedule.step_index,
        stability=schedule.stability,
        difficulty=schedule.difficulty,
        due=schedule.due_at,
        last_review=schedule.last_reviewed_at.astimezone(UTC),
    )


def _fuzzed(card_id: UUID, schedule: Schedule, days: int, *, at: datetime, settings: Settings) -> int:
    if not settings.enable_fuzz:
        return days
    elapsed = schedule.elapsed_days(at=at) or 0
    unit = fuzz_unit(card_id, reps_before=schedule.reps)
    return fuzz_days(days, unit=unit, elapsed_days=elapsed, maximum_days=settings.maximum_interval_days)


def fuzz_unit(card_id: UUID, *, reps_before: int) -> float:
    """A number from 0 up to 1 that is the card's own at that review: one draw for all four ratings."""
    digest = hashlib.sha256(f"{card_id}:{reps_before}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def fuzz_bounds(days: int, *, elapsed_days: int, maximum_days: int) -> tuple[int, int]:
    """The shortest and longest interval, in days, that an interval of `days` may become, both included.

    Bounds grow with `days`, so Hard <= Good <= Easy survives; an interval that outgrows the last one stays longer.
    """
    if days < FUZZ_DAYS_MIN:
        return days, days
    delta = 1.0 + sum(share * max(min(days, end) - start, 0.0) for start, end, share in FUZZ_BANDS)
    low = max(2, math.floor(days - delta + 0.5))
    high = min(math.floor(days + delta + 0.5), maximum_days)
    if days > elapsed_days:
        low = max(low, elapsed_days + 1)
    return min(low, high), high


def fuzz_days(days: int, *, unit: float, elapsed_days: int, maximum_days: int) -> int:
    """`days` moved within its bounds by `unit`, so that cards learned together do not stay together."""
    low, high = fuzz_bounds(days, elapsed_days=elapsed_days, maximum_days=maximum_days)
    return low + math.floor(unit * (high - low + 1))
