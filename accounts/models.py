"""Users, their workspaces, and how they prove who they are. Secrets are stored as hashes only."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self, TypeVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from flashcards.models import Workspace

EMAIL_LENGTH_MAX = 256
LABEL_LENGTH_MAX = 120
CODE_LIFETIME = timedelta(seconds=180)
WRONG_CODES_MAX = 5
TOUCH_INTERVAL = timedelta(minutes=5)


class UserManager(BaseUserManager["User"]):
    """Makes users for Django's own commands."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        """A stored user; without a password nobody can sign in to the admin as them."""
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        """A stored user who may do everything in the admin."""
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractBaseUser, PermissionsMixin):
    """A person. The e-mail address, lower-cased, is the login; a password exists for operators of the admin only."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.CharField(max_length=EMAIL_LENGTH_MAX, unique=True)
    locale = models.CharField(max_length=12, default="en")
    time_zone = models.CharField(max_length=64, default="UTC")
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    workspaces = models.ManyToManyField(Workspace, through="Membership", related_name="users")

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"

    def __str__(self) -> str:
        return self.email


class Membership(models.Model):
    """A user's right to a workspace."""

    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="memberships")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "workspace"], name="membership_once")]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.workspace_id}"


class LoginChallenge(models.Model):
    """One code that was mailed: its keyed hash, how often it was guessed wrong, and whether it was used."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.CharField(max_length=EMAIL_LENGTH_MAX)
    code_hash = models.BinaryField()
    wrong_codes = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(F("email"), F("created_at").desc(), name="challenge_newest"),
            models.Index(fields=["expires_at"], name="challenge_expiry"),
        ]
        constraints = [
            models.CheckConstraint(name="challenge_wrong_codes", condition=Q(wrong_codes__lte=WRONG_CODES_MAX))
        ]

    def __str__(self) -> str:
        return str(self.id)


class LoginToken(models.Model):
    """What a client holds between send-code and verify-code; several may lead to one challenge."""

    token_hash = models.BinaryField(primary_key=True, max_length=32)
    challenge = models.ForeignKey(LoginChallenge, models.CASCADE, related_name="tokens")
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return str(self.challenge_id)


class SendLog(models.Model):
    """One request for a code that the limits of its IP address let through: what all send limits count.

    `new_code` tells whether it made a code of its own, and so counts for its e-mail address, or was given a token for
    an earlier one. A mail that failed does not count for the e-mail address.
    """

    email = models.CharField(max_length=EMAIL_LENGTH_MAX)
    client_address = models.CharField(max_length=64)
    new_code = models.BooleanField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            models.Index(fields=["email", "created_at"], name="send_log_email"),
            models.Index(fields=["client_address", "created_at"], name="send_log_address"),
            models.Index(fields=["created_at"], name="send_log_age"),
        ]

    def __str__(self) -> str:
        return str(self.pk)


C = TypeVar("C", bound=models.Model, covariant=True)


class ConnectionQuerySet(models.QuerySet[C]):
    """Ways in, of one kind."""

    def active(self) -> Self:
        """Those that still open the door: neither they nor their users were switched off."""
        return self.filter(revoked_at__isnull=True, user__is_active=True)


class Connection(models.Model):
    """What one program holds of a user: the workspace it has selected, when it was last used, whether it was ended."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE)
    selected_workspace = models.ForeignKey(Workspace, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def is_touch_due(self, *, now: datetime) -> bool:
        """Whether `last_used_at` is old enough to be written again."""
        return self.last_used_at is None or now - self.last_used_at >= TOUCH_INTERVAL

    def touch(self, *, now: datetime) -> None:
        """Write `last_used_at`, at most every five minutes, in a statement of its own."""
        if self.is_touch_due(now=now):
            stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - TOUCH_INTERVAL)
            type(self)._default_manager.filter(stale, pk=self.pk).update(last_used_at=now)


class ApiKeyQuerySet(ConnectionQuerySet["ApiKey"]):
    """API keys."""


class ApiKey(Connection):
    """The connection of a command-line agent: a key and its label.

    The key is shown once. `key_id` finds the row; the secret is compared with `secret_hash` in constant time.
    """

    user = models.ForeignKey(User, models.CASCADE, related_name="api_keys")
    key_id = models.CharField(max_length=8, unique=True)
    secret_hash = models.BinaryField(max_length=32)
    label = models.CharField(max_length=LABEL_LENGTH_MAX)

    objects = ApiKeyQuerySet.as_manager()

    def __str__(self) -> str:
        return self.label


# Django finds the models of an app through this module alone.
import accounts.oauth.models  # noqa: E402, F401
