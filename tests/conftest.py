"""Fixtures that every test may use."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client

from tests.agent import Agent
from tests.factories import make_api_key, make_user, make_workspace
from tests.server import server

__all__ = ["server"]


@pytest.fixture(autouse=True)
def _plain_settings(settings) -> None:
    """Static files straight from their folders, mail in memory: what a test machine has."""
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    settings.WHITENOISE_AUTOREFRESH = settings.WHITENOISE_USE_FINDERS = True
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]


def make_agent(email: str, workspace_name: str = "Personal") -> Agent:
    """An agent with a key of its own whose user has one workspace."""
    user = make_user(email=email)
    workspace = make_workspace(user, name=workspace_name)
    return Agent(Client(raise_request_exception=False), user, workspace, make_api_key(user))


@pytest.fixture
def alice(db) -> Agent:
    """An agent of Alice."""
    return make_agent("alice@example.com")


@pytest.fixture
def bob(db) -> Agent:
    """An agent of Bob, who must never see anything of Alice's."""
    return make_agent("bob@example.com")


@pytest.fixture
def is_postgresql() -> bool:
    """Whether the suite runs on PostgreSQL."""
    return settings.DATABASES["default"]["ENGINE"].endswith("postgresql")
