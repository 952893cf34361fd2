"""What was reviewed, when, how, and what it did to the schedule."""

from __future__ import annotations

import uuid
from uuid import UUID

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from flashcards.fields import CodePointTextField, OptionalCodePointTextField
from flashcards.models import Card, InWorkspaceQuerySet, Workspace

CLIENT_EVENT_ID_LENGTH_MAX = 200


class ReviewEventQuerySet(InWorkspaceQuerySet["ReviewEvent"]):
    """Review events of a workspace."""

    def of_review_id(self, workspace: Workspace, review_id: UUID) -> ReviewEvent | None:
        """The event that this reviewId recorded, undone or not."""
        return self.in_workspace(workspace).filter(client_event_id=str(review_id)).first()

    def newest_standing(self, card: Card) -> ReviewEvent | None:
        """The last review of the card that was not undone."""
        standing = self.in_workspace(card.workspace_id).filter(card_id=card.card_id, undone_at__isnull=True)
        return standing.order_by("-reviewed_at_server", "-reviewed_at_client", "review_event_id").first()


class ReviewEvent(models.Model):
    """One rating of one card, with the schedule before and after, so that it can be undone and a history replayed.

    `client_event_id` is the reviewId that makes a submit idempotent. The card's key has no database constraint: events
    outlive a card that left the trash. `replica_id` is the connection, `reviewed_by` its user (None for an imported
    review); neither is a foreign key, because events outlive both.
    """

    review_event_id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="review_events", db_index=False)
    card = models.ForeignKey(Card, models.DO_NOTHING, related_name="review_events", db_index=False, db_constraint=False)
    replica_id = models.UUIDField(default=uuid.UUID(int=0))
    reviewed_by = models.UUIDField(null=True)
    client_event_id = CodePointTextField()
    rating = models.PositiveSmallIntegerField()
    reviewed_at_client = models.DateTimeField(default=timezone.now)
    reviewed_at_server = models.DateTimeField(default=timezone.now)
    reviewed_time_zone = CodePointTextField(default="UTC")
    state_before = OptionalCodePointTextField(null=True)
    scheduled_days = models.PositiveIntegerField(null=True)
    elapsed_days = models.PositiveIntegerField(null=True)
    schedule_before = models.JSONField(null=True)
    schedule_after = models.JSONField(null=True)
    settings = models.JSONField(null=True)
    scheduler_version = models.CharField(max_length=40, null=True)
    undone_at = models.DateTimeField(null=True)

    objects = ReviewEventQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "client_event_id"], name="review_once"),
            models.CheckConstraint(name="review_rating", condition=Q(rating__gte=0, rating__lte=3)),
        ]
        indexes = [
            models.Index(F("workspace_id"), F("reviewed_at_server").desc(), F("review_event_id"), name="review_newest"),
            models.Index(F("workspace_id"), F("card_id"), F("reviewed_at_server").desc(), name="review_of_card"),
        ]

    def __str__(self) -> str:
        return str(self.review_event_id)


# Django finds the models of an app through this module alone.
import review.app.models  # noqa: E402, F401
