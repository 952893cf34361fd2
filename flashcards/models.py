"""The core of the data: workspaces, decks, cards and the tags of cards.

Fields carry the names of the SQL dialect's columns, so that a column, a field and an answer's key are one word.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from flashcards.envelope import instant
from flashcards.fields import CodePointTextField, TagsField
from flashcards.folding import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

SEARCH_SEPARATOR = "\x1f"


def whole_milliseconds(moment: datetime) -> datetime:
    """`moment` in UTC, cut down to the millisecond: the precision of every time of the schedule."""
    moment = moment.astimezone(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def search_text(texts: Iterable[str]) -> str:
    """Folded texts joined for substring search. Folding keeps lengths, so each part can be cut out again."""
    return SEARCH_SEPARATOR.join(map(fold, texts))


def default_learning_steps() -> list[int]:
    """Minutes between the steps of a card that is being learned."""
    return [1, 10]


def default_relearning_steps() -> list[int]:
    """Minutes between the steps of a card that was forgotten."""
    return [10]


class Workspace(models.Model):
    """A user's collection of cards and decks with its scheduler settings; the unit of tenancy."""

    workspace_id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = CodePointTextField()
    created_at = models.DateTimeField(default=timezone.now)
    algorithm = models.CharField(max_length=20, default="fsrs-6")
    desired_retention = models.FloatField(default=0.9)
    learning_steps_minutes = models.JSONField(default=default_learning_steps)
    relearning_steps_minutes = models.JSONField(default=default_relearning_steps)
    maximum_interval_days = models.PositiveIntegerField(default=36500)
    enable_fuzz = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="workspace_desired_retention",
                condition=Q(desired_retention__gte=0.70, desired_retention__lte=0.99),
            ),
            models.CheckConstraint(
                name="workspace_maximum_interval",
                condition=Q(maximum_interval_days__gte=1, maximum_interval_days__lte=36500),
            ),
            models.CheckConstraint(name="workspace_algorithm", condition=Q(algorithm="fsrs-6")),
        ]

    def __str__(self) -> str:
        return self.name


M = TypeVar("M", bound=models.Model, covariant=True)


class InWorkspaceQuerySet(models.QuerySet[M]):
    """The only way to rows: name the workspace first."""

    def in_workspace(self, workspace: Workspace | uuid.UUID) -> Self:
        """The rows of that workspace and of no other."""
        return self.filter(workspace_id=workspace.pk if isinstance(workspace, Workspace) else workspace)

    def live(self) -> Self:
        """Rows that are not in the trash."""
        return self.filter(deleted_at__isnull=True)


class DeckQuerySet(InWorkspaceQuerySet["Deck"]):
    """Decks of a workspace."""


class Deck(models.Model):
    """A saved tag filter: it selects the cards that carry at least one of its tags, or every card when it has none."""

    deck_id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="decks", db_index=False)
    name = CodePointTextField()
    tags = TagsField(default=list)
    search_text = CodePointTextField(editable=False, default="")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = DeckQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                F("workspace_id"),
                F("created_at").desc(),
                F("deck_id"),
                name="deck_newest",
                condition=Q(deleted_at__isnull=True),
            ),
            models.Index(fields=["workspace", "deleted_at"], name="deck_trash", condition=Q(deleted_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.name

    def refresh_search_text(self) -> None:
        """Bring `search_text` in step with name and tags; call before storing a change of either."""
        self.search_text = search_text([self.name, *self.tags])

    def folded_tags(self) -> list[str]:
        """The tags as `CardTag.folded` holds them, to select the deck's cards."""
        return [fold(tag) for tag in self.tags]


class CardState(models.TextChoices):
    """Where a card stands in its life."""

    NEW = "new"
    LEARNING = "learning"
    REVIEW = "review"
    RELEARNING = "relearning"


class CardType(models.TextChoices):
    """How a card asks."""

    BASIC = "basic"
    CLOZE = "cloze"


class CardQuerySet(InWorkspaceQuerySet["Card"]):
    """Cards of a workspace."""

    def due(self, *, now: datetime) -> Self:
        """Live cards in study whose time has come; suspended cards and new ones are left out."""
        return self.live().filter(suspended=False, due_at__lte=now)

    def new(self) -> Self:
        """Live cards that were never reviewed; suspended cards are left out."""
        return self.live().filter(suspended=False, due_at__isnull=True)

    def tagged_any(self, workspace: Workspace | uuid.UUID, folded_tags: Iterable[str]) -> Self:
        """Cards that carry at least one of the tags, given folded."""
        tagged = CardTag.objects.in_workspace(workspace).filter(folded__in=list(folded_tags))
        return self.filter(card_id__in=tagged.values("card_id"))

    def in_deck(self, deck: Deck) -> Self:
        """The cards that a deck selects."""
        return self.tagged_any(deck.workspace_id, deck.folded_tags()) if deck.tags else self

    def insert(self, cards: Sequence[Card]) -> None:
        """Store new cards with what is kept in step with them; call it in a transaction."""
        for card in cards:
            card.refresh_search_text()
        self.bulk_create(cards)
        CardTag.objects.sync(cards)

    def move_to_trash(self, cards: Sequence[Card], *, now: datetime) -> None:
        """Delete cards softly; call it in the transaction that locked them. Their reviews stay."""
        self.filter(pk__in=[card.pk for card in cards]).update(deleted_at=now, updated_at=now)
        for card in cards:
            card.deleted_at = card.updated_at = now
        CardTag.objects.sync(cards)


def new_metadata(now: datetime) -> dict[str, Any]:
    """The metadata of a card written at `now`."""
    nothing = dict.fromkeys(("label", "author", "comment"))
    return {
        "version": 1,
        "source": {**nothing, "createdAt": instant(now), "importedAt": None, "importId": None},
    }


def _schedule_constraints() -> list[models.BaseConstraint]:
    unscheduled = Q(
        due_at__isnull=True,
        fsrs_stability__isnull=True,
        fsrs_difficulty__isnull=True,
        fsrs_last_reviewed_at__isnull=True,
    )
    scheduled = Q(
        due_at__isnull=False,
        fsrs_stability__isnull=False,
        fsrs_difficulty__isnull=False,
        fsrs_last_reviewed_at__isnull=False,
    )
    # A check that comes out as NULL passes, so whatever is compared must be said to be set.
    on_step = Q(fsrs_step_index__isnull=False, fsrs_step_index__gte=0)
    stepping = on_step & Q(fsrs_scheduled_days__isnull=False, fsrs_scheduled_days=0) & scheduled
    by_state = {
        CardState.NEW: unscheduled
        & Q(fsrs_step_index__isnull=True, fsrs_scheduled_days__isnull=True, reps=0, lapses=0),
        CardState.LEARNING: stepping & Q(reps__gte=1),
        CardState.REVIEW: scheduled
        & Q(fsrs_step_index__isnull=True, fsrs_scheduled_days__isnull=False)
        & Q(fsrs_scheduled_days__gte=1, fsrs_scheduled_days__lte=36500, reps__gte=1),
        CardState.RELEARNING: stepping & Q(reps__gte=2, lapses__gte=1),
    }
    state = Q()
    for name, rule in by_state.items():
        state |= Q(fsrs_card_state=name.value) & rule
    in_range = {
        "card_schedule_of_state": state,
        "card_stability": Q(fsrs_stability__isnull=True) | Q(fsrs_stability__gte=0.001, fsrs_stability__lte=1e9),
        "card_difficulty": Q(fsrs_difficulty__isnull=True) | Q(fsrs_difficulty__gte=1, fsrs_difficulty__lte=10),
        "card_lapses": Q(lapses__lte=F("reps")),
        "card_due_after_review": Q(due_at__isnull=True) | Q(due_at__gt=F("fsrs_last_reviewed_at")),
        "card_type": Q(card_type__in=[kind.value for kind in CardType]),
    }
    return [models.CheckConstraint(name=name, condition=condition) for name, condition in in_range.items()]


class Card(models.Model):
    """One question with its answer, and where it stands in its schedule.

    Stability is in days, difficulty 1 to 10 (FSRS-6). The check constraints are the state table of the documentation:
    what they refuse, the scheduler would compute nonsense from.
    """

    card_id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="cards", db_index=False)
    front_text = CodePointTextField()
    back_text = CodePointTextField(default="", blank=True)
    card_type = CodePointTextField(choices=CardType.choices, default=CardType.BASIC)
    metadata = models.JSONField(default=dict)
    tags = TagsField(default=list)
    search_text = CodePointTextField(editable=False, default="")
    suspended = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    deleted_at = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField(null=True, blank=True)
    reps = models.PositiveIntegerField(default=0)
    lapses = models.PositiveIntegerField(default=0)
    fsrs_card_state = CodePointTextField(choices=CardState.choices, default=CardState.NEW)
    fsrs_step_index = models.PositiveSmallIntegerField(null=True, blank=True)
    fsrs_stability = models.FloatField(null=True, blank=True)
    fsrs_difficulty = models.FloatField(null=True, blank=True)
    fsrs_last_reviewed_at = models.DateTimeField(null=True, blank=True)
    fsrs_scheduled_days = models.PositiveIntegerField(null=True, blank=True)

    objects = CardQuerySet.as_manager()

    class Meta:
        constraints = _schedule_constraints()
        indexes = [
            models.Index(
                F("workspace_id"),
                F("created_at").desc(),
                F("card_id"),
                name="card_newest",
                condition=Q(deleted_at__isnull=True),
            ),
            models.Index(
                F("workspace_id"),
                F("due_at"),
                F("created_at"),
                F("card_id"),
                name="card_queue_due",
                condition=Q(deleted_at__isnull=True, suspended=False, due_at__isnull=False),
            ),
            # The queue's indexes know suspension; this one serves whoever asks for due cards, suspended or not.
            models.Index(
                F("workspace_id"),
                F("due_at"),
                F("card_id"),
                name="card_due",
                condition=Q(deleted_at__isnull=True, due_at__isnull=False),
            ),
            models.Index(
                F("workspace_id"),
                F("created_at"),
                F("card_id"),
                name="card_queue_new",
                condition=Q(deleted_at__isnull=True, suspended=False, due_at__isnull=True),
            ),
            models.Index(
                fields=["workspace", "fsrs_last_reviewed_at"],
                name="card_last_reviewed",
                condition=Q(deleted_at__isnull=True),
            ),
            models.Index(fields=["workspace", "updated_at"], name="card_updated", condition=Q(deleted_at__isnull=True)),
            models.Index(fields=["workspace", "deleted_at"], name="card_trash", condition=Q(deleted_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return str(self.card_id)

    def refresh_search_text(self) -> None:
        """Bring `search_text` in step with texts and tags; call before storing a change of either."""
        self.search_text = search_text([self.front_text, self.back_text, *self.tags])


class CardTagQuerySet(InWorkspaceQuerySet["CardTag"]):
    """Tags of live cards, indexed by workspace."""

    def sync(self, cards: Sequence[Card]) -> None:
        """Make the rows of these cards what their `tags` say: the one place that keeps both in step.

        Call it in the transaction that stores the cards. A card in the trash has no rows. Two statements, however many
        cards there are.
        """
        self.filter(card_id__in=[card.card_id for card in cards]).delete()
        self.bulk_create(
            (
                CardTag(
                    workspace_id=card.workspace_id,
                    card=card,
                    tag=tag,
                    folded=fold(tag),
                    position=position,
                    created_at=card.created_at,
                )
                for card in cards
                if card.deleted_at is None
                for position, tag in enumerate(card.tags)
            ),
            batch_size=1000,
        )


class CardTag(models.Model):
    """One tag of one live card, so that tag filters and tag counts are index look-ups.

    `created_at` is the card's: the newest cards of a tag come straight from the index.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    card = models.ForeignKey(Card, models.CASCADE, related_name="card_tags", db_index=False)
    tag = CodePointTextField()
    folded = CodePointTextField()
    position = models.PositiveSmallIntegerField()
    created_at = models.DateTimeField()

    objects = CardTagQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["card", "position"], name="card_tag_position")]
        indexes = [
            models.Index(F("workspace_id"), F("tag"), F("created_at").desc(), F("card_id"), name="card_tag_newest"),
            models.Index(fields=["workspace", "folded", "card"], name="card_tag_folded"),
        ]

    def __str__(self) -> str:
        return self.tag


class DeckTagQuerySet(InWorkspaceQuerySet["DeckTag"]):
    """Tags of live decks."""


class DeckTag(models.Model):
    """One tag of one live deck: a view of `Deck.tags`, to be read only, that is always in step."""

    deck_tag_id = models.TextField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.DO_NOTHING, related_name="+", db_constraint=False)
    deck = models.ForeignKey(Deck, models.DO_NOTHING, related_name="deck_tags", db_constraint=False)
    tag = CodePointTextField()
    position = models.PositiveSmallIntegerField()

    objects = DeckTagQuerySet.as_manager()

    class Meta:
        managed = False

    def __str__(self) -> str:
        return self.tag


class Upkeep(models.Model):
    """When a task that the service does by itself was last begun, so that of many processes one does it."""

    task = models.CharField(max_length=40, primary_key=True)
    began_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.task
