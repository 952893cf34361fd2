"""Tools in which an argument `action` chooses: which of the other arguments go with which action, and a rating."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar
from uuid import UUID

from accounts.auth import Principal
from flashcards.errors import validation_issue
from flashcards.operation import Params
from flashcards.time_zones import time_zone_names
from review.errors import ReviewInputInvalid
from review.scheduler import Rating
from review.services import Reviewer, Submission

T = TypeVar("T")

_ALWAYS = frozenset({"action", "workspace_id", "session_id"})


@dataclass(frozen=True, slots=True)
class Action:
    """The arguments of one action, by the names of the fields; those that it needs are among those that it takes."""

    name: str
    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def check(self, params: Params) -> None:
        """Refuse an argument of another action, and the lack of one that this action needs, by name."""
        names = {field: info.alias or field for field, info in type(params).model_fields.items()}
        given = {field for field in names if getattr(params, field) is not None} - _ALWAYS
        issues = [
            validation_issue(names[field], "other_action", f"{names[field]}: {self.name} takes {self._known(names)}.")
            for field in names
            if field in given and field not in self.takes
        ]
        issues += [
            validation_issue(names[field], "missing_field", f"{names[field]} is required for {self.name}.")
            for field in self.needs
            if field not in given
        ]
        if issues:
            raise ReviewInputInvalid(issues[0]["message"], issues)

    def _known(self, names: dict[str, str]) -> str:
        return ", ".join(names[field] for field in self.takes) or "no further argument"


def needed(value: T | None) -> T:
    """The value of an argument that `Action.check` has made sure of."""
    assert value is not None, "an action ran without an argument that it needs"  # noqa: S101
    return value


class RatingParams(Protocol):
    """The arguments of a rating, wherever they stand."""

    @property
    def card_id(self) -> UUID | None: ...
    @property
    def review_id(self) -> UUID | None: ...
    @property
    def rating(self) -> str | None: ...
    @property
    def reviewed_time_zone(self) -> str | None: ...


def submission_of(params: RatingParams, principal: Principal) -> Submission:
    """The rating that checked arguments mean; without a time zone in that of the user's account."""
    return Submission(
        card_id=needed(params.card_id),
        review_id=needed(params.review_id),
        rating=Rating[needed(params.rating).upper()],
        reviewed_time_zone=params.reviewed_time_zone or _time_zone_of(principal),
    )


def reviewer_of(principal: Principal) -> Reviewer:
    """Who rates when `principal` calls."""
    return Reviewer(user_id=principal.user_id, replica_id=principal.connection_id)


def _time_zone_of(principal: Principal) -> str:
    name = principal.user.time_zone
    return name if name in time_zone_names() else "UTC"
