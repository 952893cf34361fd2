"""Clients, authorization codes and the connections they lead to. Access and refresh tokens are the toolkit's own rows.

A connection is one token family: `OAuthConnection.id` is the `token_family` of all its refresh tokens.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone
from oauth2_provider.models import AbstractApplication, AbstractGrant, ApplicationManager

from accounts.models import Connection, ConnectionQuerySet
from accounts.oauth.redirects import RedirectUriRefused, check_redirect_uris, is_redirect_allowed
from flashcards.models import Workspace
from flashcards.operation import Scope


class OAuthClient(AbstractApplication):
    """A public client: one that registered itself (RFC 7591), or one whose `client_id` is its metadata document.

    `metadata` holds what else it said about itself. `used_at` is when a user first let it in; a client that nobody
    ever let in is forgotten some days after `registered_at`, its last registration.
    """

    metadata = models.JSONField(default=dict, blank=True)
    registered_at = models.DateTimeField(default=timezone.now)
    used_at = models.DateTimeField(null=True, blank=True)

    objects = ApplicationManager()

    class Meta(AbstractApplication.Meta):
        swappable = "OAUTH2_PROVIDER_APPLICATION_MODEL"
        indexes = [
            models.Index(fields=["registered_at"], name="oauth_client_unused", condition=Q(used_at__isnull=True))
        ]

    def clean(self) -> None:
        """The rule for redirect URIs holds here too, so that neither the admin nor a document gets around it."""
        try:
            check_redirect_uris(self.redirect_uris.split())
        except RedirectUriRefused as refusal:
            raise ValidationError({"redirect_uris": str(refusal)}) from None
        super().clean()

    def get_allowed_schemes(self) -> list[str]:
        """The schemes of its own redirect URIs; `clean` has judged them."""
        return sorted({urlsplit(uri).scheme for uri in self.redirect_uris.split()})

    def redirect_uri_allowed(self, uri: str) -> bool:
        """Whether `uri` is one of the registered ones (RFC 8252 section 7.3: a loopback one on any port)."""
        return is_redirect_allowed(uri, self.redirect_uris.split())

    def is_usable(self, request: object) -> bool:
        """Clients known by a document are strangers while OAUTH_CIMD is off."""
        return bool(settings.OAUTH_CIMD) or self.registration_source != self.RegistrationSource.CIMD


class OAuthConnectionQuerySet(ConnectionQuerySet["OAuthConnection"]):
    """Connections of apps."""


class OAuthConnection(Connection):
    """What a user let an app do: one row a token family. `scope` is what was granted; a refresh never exceeds it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="oauth_connections")
    client = models.ForeignKey(OAuthClient, models.CASCADE, related_name="connections")
    scope = models.CharField(max_length=40, choices=[(scope.value, scope.value) for scope in Scope])

    objects = OAuthConnectionQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["revoked_at"], name="oauth_connection_ended")]
        constraints = [
            models.CheckConstraint(
                name="oauth_connection_scope", condition=Q(scope__in=[scope.value for scope in Scope])
            )
        ]

    def __str__(self) -> str:
        return f"{self.client_id} for {self.user_id}"


class OAuthGrant(AbstractGrant):
    """An authorization code; `code` holds its SHA-256 in hex, never the code.

    The row stays after the code was redeemed, so that a replay is seen and ends the `connection` it led to.
    `redirect_uri_given` tells whether the request named its redirect URI; then the redemption must too.
    """

    redirect_uri_given = models.BooleanField(default=True)
    selected_workspace = models.ForeignKey(Workspace, models.SET_NULL, null=True, blank=True, related_name="+")
    redeemed_at = models.DateTimeField(null=True, blank=True)
    connection = models.ForeignKey(OAuthConnection, models.CASCADE, null=True, blank=True, related_name="grants")

    class Meta(AbstractGrant.Meta):
        swappable = "OAUTH2_PROVIDER_GRANT_MODEL"
        indexes = [models.Index(fields=["expires"], name="oauth_grant_expiry")]


class RefreshRetry(models.Model):
    """One time that a rotated refresh token, given by its SHA-256 in hex, was honoured again."""

    connection = models.ForeignKey(OAuthConnection, models.CASCADE, related_name="refresh_retries")
    token_checksum = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["token_checksum"], name="refresh_retry_token")]

    def __str__(self) -> str:
        return str(self.pk)


class RegistrationLog(models.Model):
    """One attempt to register a client: what the limit counts."""

    client_address = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            models.Index(fields=["client_address", "created_at"], name="registration_log_address"),
            models.Index(fields=["created_at"], name="registration_log_age"),
        ]

    def __str__(self) -> str:
        return str(self.pk)
