"""What the review app remembers: the cards that a list offered, the sessions it opened, and what its user allows."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Self, TypeVar

from django.db import models
from django.utils import timezone

from accounts.models import User
from flashcards.models import Workspace

M = TypeVar("M", bound=models.Model, covariant=True)


class LivingQuerySet(models.QuerySet[M]):
    """Rows with an `expires_at`."""

    def alive(self, user: User, *, now: datetime) -> Self:
        """Those of `user` whose time is not over."""
        return self.filter(user=user, expires_at__gt=now)


class CandidateSnapshotQuerySet(LivingQuerySet["CandidateSnapshot"]):
    """Snapshots of lists."""


class CandidateSnapshot(models.Model):
    """The cards that one list offered for a review session, under the hash of the token that the list gave.

    `card_ids` are texts, in the order of the list.
    """

    token_hash = models.BinaryField(primary_key=True, max_length=32)
    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    card_ids = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(db_index=True)

    objects = CandidateSnapshotQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{len(self.card_ids)} cards for {self.user_id}"


class ReviewSessionQuerySet(LivingQuerySet["ReviewSession"]):
    """Review sessions of the page."""


class ReviewSession(models.Model):
    """A review session of the page: whose it is and how long it lives. Its reviews are ordinary review events."""

    session_id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(db_index=True)

    objects = ReviewSessionQuerySet.as_manager()

    def __str__(self) -> str:
        return str(self.session_id)


class ReviewSessionCard(models.Model):
    """One card of a session. The last of `review_ids` is the one to rate it under; an undo adds one.

    The card is no foreign key: a session may outlive it.
    """

    session = models.ForeignKey(ReviewSession, models.CASCADE, related_name="cards")
    card_id = models.UUIDField()
    position = models.PositiveSmallIntegerField()
    review_ids = models.JSONField()
    skipped = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "card_id"], name="session_card_once")]

    def __str__(self) -> str:
        return f"{self.card_id} in {self.session_id}"

    @property
    def review_id(self) -> uuid.UUID:
        """The id that the next rating, or the one that stands, is stored under."""
        return uuid.UUID(self.review_ids[-1])

    def knows(self, review_id: uuid.UUID) -> bool:
        """Whether that id is this card's in this session, now or before an undo."""
        return str(review_id) in self.review_ids


class ReviewAppChoice(models.Model):
    """What a user allows the review app; without a row, everything."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="+")
    enabled = models.BooleanField(default=True)
    may_rate = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"{'on' if self.enabled else 'off'} for {self.user_id}"
