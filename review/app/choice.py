"""What a user allows the review app, and the page where they say so."""

from __future__ import annotations

from django.conf import settings

from accounts.models import User
from review.app.errors import ReviewAppRatingsSwitchedOff, ReviewAppSwitchedOff
from review.app.models import ReviewAppChoice

SETTINGS_PATH = "/settings/apps/"


def settings_url() -> str:
    """The public address of the page "MCP Apps"."""
    return f"{settings.PUBLIC_AUTH_BASE_URL}{SETTINGS_PATH}"


def choice_of(user: User) -> ReviewAppChoice:
    """What `user` chose, or the default, which is not stored."""
    return ReviewAppChoice.objects.filter(user=user).first() or ReviewAppChoice(user=user)


def set_choice(user: User, *, enabled: bool, may_rate: bool) -> None:
    """Store what `user` chose; it holds from their next request on."""
    ReviewAppChoice.objects.update_or_create(user=user, defaults={"enabled": enabled, "may_rate": may_rate})


def require_app(user: User) -> ReviewAppChoice:
    """What `user` chose, the app being on; raises ReviewAppSwitchedOff."""
    choice = choice_of(user)
    if not choice.enabled:
        url = settings_url()
        raise ReviewAppSwitchedOff(
            f"The review app is switched off. It can be switched on at {url}.", details={"settingsUrl": url}
        )
    return choice


def require_ratings(choice: ReviewAppChoice) -> None:
    """Raises ReviewAppRatingsSwitchedOff where the app may not save ratings."""
    if not choice.may_rate:
        url = settings_url()
        raise ReviewAppRatingsSwitchedOff(
            f"Saving ratings from the review app is switched off. It can be switched on at {url}.",
            details={"settingsUrl": url},
        )
