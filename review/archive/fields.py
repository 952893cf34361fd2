"""The fields of an archive: their order, what each may hold, and what stands for an absent one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any
from uuid import UUID, uuid4

from flashcards.content import (
    ContentRefused,
    clean_back_text,
    clean_card_type,
    clean_deck_name,
    clean_front_text,
    clean_tags,
    clean_workspace_name,
    refuse_unstorable,
)
from flashcards.models import CardState, default_learning_steps, default_relearning_steps, whole_milliseconds
from flashcards.operation import parse_uuid
from review.models import CLIENT_EVENT_ID_LENGTH_MAX
from review.scheduler import (
    ALGORITHM,
    DIFFICULTY_MAX,
    DIFFICULTY_MIN,
    INTERVAL_DAYS_MAX,
    STABILITY_MAX,
    STABILITY_MIN,
    Settings,
    SettingsInvalid,
)

INTEGER_MAX = 2_147_483_647
SMALL_INTEGER_MAX = 32_767
NESTING_MAX = 50
TIME_ZONE_LENGTH_MAX = 64
SCHEDULER_VERSION_LENGTH_MAX = 40

Read = Callable[[object], Any]


@dataclass(frozen=True, slots=True)
class FieldRule:
    """How one field is read (ContentRefused says why not) and what it is when absent.

    A required field has no `default`. `filled` marks one whose default depends on the row: the importer fills it.
    """

    read: Read
    default: Callable[[], Any] | None = None
    filled: bool = False


def read_entry(entry: object, rules: Mapping[str, FieldRule]) -> Iterator[tuple[str, Any]]:
    """Field by field, its value or the ContentRefused that it earned; absent `filled` fields are left out.

    An unknown name comes as a refusal under that name; an entry that is no object as one under the empty name.
    """
    if not isinstance(entry, dict):
        yield "", ContentRefused("wrong_type", "must be an object")
        return
    for name in entry.keys() - rules.keys():
        yield name, _unknown_field(name, rules)
    for name, rule in rules.items():
        if name in entry:
            yield name, _read(rule, entry[name])
        elif not rule.filled:
            yield name, rule.default() if rule.default else ContentRefused("missing", "is missing")


def _read(rule: FieldRule, value: object) -> Any:
    try:
        return rule.read(value)
    except ContentRefused as refusal:
        return refusal


def _unknown_field(name: str, rules: Mapping[str, FieldRule]) -> ContentRefused:
    close = get_close_matches(name, rules, n=1)
    hint = f"; did you mean {close[0]}?" if close else f"; known are {', '.join(rules)}"
    return ContentRefused("unknown_field", f"is not a known field{hint}")


def identifier(value: object) -> UUID:
    """A UUID in its hyphenated form."""
    try:
        return parse_uuid(value)
    except ValueError as error:
        raise ContentRefused("wrong_type", str(error)) from None


def moment(value: object) -> datetime:
    """An ISO 8601 time, kept to the microsecond; one without a zone is UTC."""
    try:
        parsed = datetime.fromisoformat(value)  # type: ignore[arg-type]  # TypeError for anything but text
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError):
        raise ContentRefused("wrong_type", "must be a time such as 2026-01-31T12:00:00.000000Z") from None


def schedule_moment(value: object) -> datetime:
    """A time of the schedule, cut to the millisecond."""
    return whole_milliseconds(moment(value))


def whole(low: int, high: int) -> Read:
    """A whole number from `low` to `high`."""

    def read(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise ContentRefused("wrong_type", "must be a whole number")
        if not low <= value <= high:
            raise ContentRefused("out_of_range", f"must be {low:,} to {high:,}")
        return value

    return read


def number(low: float, high: float) -> Read:
    """A number from `low` to `high`, as a double."""

    def read(value: object) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ContentRefused("wrong_type", "must be a number")
        if not low <= value <= high:
            raise ContentRefused("out_of_range", f"must be {low:,.10g} to {high:,.10g}")
        return float(value)

    return read


def flag(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ContentRefused("wrong_type", "must be true or false")
    return value


def one_of(*choices: str) -> Read:
    """One of some words."""

    def read(value: object) -> str:
        if value not in choices:
            raise ContentRefused("wrong_value", f"must be {' or '.join(choices)}")
        return str(value)

    return read


def text(length_max: int) -> Read:
    """A text of 1 to `length_max` characters, kept as it is."""

    def read(value: object) -> str:
        if not isinstance(value, str):
            raise ContentRefused("wrong_type", "must be text")
        refuse_unstorable(value)
        if not 1 <= len(value) <= length_max:
            raise ContentRefused("wrong_length", f"must have 1 to {length_max} characters")
        return value

    return read


def time_zone(value: object) -> str:
    """An IANA time zone's name by its form: a newer zone than this machine knows is kept."""
    if not isinstance(value, str) or not _TIME_ZONE.fullmatch(value):
        raise ContentRefused("wrong_value", "must be a time zone's name such as Europe/Berlin")
    return value


_TIME_ZONE = re.compile(rf"[A-Za-z0-9_+\-/]{{1,{TIME_ZONE_LENGTH_MAX}}}")


def scheduler_setting(name: str) -> Read:
    """A setting of the scheduler, by the scheduler's own rules."""

    def read(value: object) -> Any:
        given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value}
        try:
            Settings(**given)
        except SettingsInvalid as refusal:
            raise ContentRefused("wrong_value", str(refusal).removeprefix(f"{name} ")) from None
        return float(given[name]) if name == "desired_retention" else value

    return read


def json_object(value: object) -> dict[str, Any]:
    """An object of plain JSON that both databases can store and return as it is."""
    if not isinstance(value, dict):
        raise ContentRefused("wrong_type", "must be an object")
    _refuse_unstorable_json(value, NESTING_MAX)
    return value


def _refuse_unstorable_json(value: object, levels: int) -> None:
    if levels == 0:
        raise ContentRefused("too_deep", f"must not be nested more than {NESTING_MAX} levels deep")
    if isinstance(value, str):
        refuse_unstorable(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ContentRefused("out_of_range", "must not hold a number beyond the range of a double")
    elif isinstance(value, dict):
        for key, inner in value.items():
            refuse_unstorable(key)
            _refuse_unstorable_json(inner, levels - 1)
    elif isinstance(value, list):
        for inner in value:
            _refuse_unstorable_json(inner, levels - 1)


def nullable(read: Read) -> Read:
    """As `read`; null stays null."""
    return lambda value: None if value is None else read(value)


def _or_null(read: Read) -> FieldRule:
    return FieldRule(nullable(read), lambda: None)


_STATES = one_of(*(state.value for state in CardState))

WORKSPACE_RULES: Mapping[str, FieldRule] = {
    "workspace_id": FieldRule(identifier, uuid4),
    "name": FieldRule(clean_workspace_name),
    "created_at": FieldRule(moment, filled=True),
    "algorithm": FieldRule(one_of(ALGORITHM), lambda: ALGORITHM),
    "desired_retention": FieldRule(scheduler_setting("desired_retention"), lambda: 0.9),
    "learning_steps_minutes": FieldRule(scheduler_setting("learning_steps_minutes"), default_learning_steps),
    "relearning_steps_minutes": FieldRule(scheduler_setting("relearning_steps_minutes"), default_relearning_steps),
    "maximum_interval_days": FieldRule(scheduler_setting("maximum_interval_days"), lambda: INTERVAL_DAYS_MAX),
    "enable_fuzz": FieldRule(scheduler_setting("enable_fuzz"), lambda: True),
}
CARD_RULES: Mapping[str, FieldRule] = {
    "card_id": FieldRule(identifier, uuid4),
    "front_text": FieldRule(clean_front_text),
    "back_text": FieldRule(clean_back_text, lambda: ""),
    "card_type": FieldRule(clean_card_type, lambda: "basic"),
    "metadata": FieldRule(json_object, filled=True),
    "tags": FieldRule(clean_tags, list),
    "due_at": _or_null(schedule_moment),
    "created_at": FieldRule(moment, filled=True),
    "reps": FieldRule(whole(0, INTEGER_MAX), lambda: 0),
    "lapses": FieldRule(whole(0, INTEGER_MAX), lambda: 0),
    "updated_at": FieldRule(moment, filled=True),
    "deleted_at": _or_null(moment),
    "fsrs_card_state": FieldRule(_STATES, lambda: CardState.NEW.value),
    "fsrs_step_index": _or_null(whole(0, SMALL_INTEGER_MAX)),
    "fsrs_stability": _or_null(number(STABILITY_MIN, STABILITY_MAX)),
    "fsrs_difficulty": _or_null(number(DIFFICULTY_MIN, DIFFICULTY_MAX)),
    "fsrs_last_reviewed_at": _or_null(schedule_moment),
    "fsrs_scheduled_days": _or_null(whole(0, INTERVAL_DAYS_MAX)),
    "suspended": FieldRule(flag, lambda: False),
}
DECK_RULES: Mapping[str, FieldRule] = {
    "deck_id": FieldRule(identifier, uuid4),
    "name": FieldRule(clean_deck_name),
    "tags": FieldRule(clean_tags, list),
    "created_at": FieldRule(moment, filled=True),
    "updated_at": FieldRule(moment, filled=True),
    "deleted_at": _or_null(moment),
}
EVENT_RULES: Mapping[str, FieldRule] = {
    "review_event_id": FieldRule(identifier, filled=True),
    "card_id": FieldRule(identifier),
    "replica_id": FieldRule(identifier, lambda: UUID(int=0)),
    "client_event_id": FieldRule(text(CLIENT_EVENT_ID_LENGTH_MAX)),
    "rating": FieldRule(whole(0, 3)),
    "reviewed_at_client": FieldRule(moment, filled=True),
    "reviewed_at_server": FieldRule(moment, filled=True),
    "reviewed_time_zone": FieldRule(time_zone, lambda: "UTC"),
    "scheduled_days": _or_null(whole(0, INTERVAL_DAYS_MAX)),
    "state_before": _or_null(_STATES),
    "elapsed_days": _or_null(whole(0, INTEGER_MAX)),
    "schedule_before": _or_null(json_object),
    "schedule_after": _or_null(json_object),
    "settings": _or_null(json_object),
    "scheduler_version": _or_null(text(SCHEDULER_VERSION_LENGTH_MAX)),
    "undone_at": _or_null(moment),
}
