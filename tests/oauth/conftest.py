"""A registered app, and Alice's browser."""

from __future__ import annotations

import pytest

from tests.oauth.app import App, Browser


@pytest.fixture
def app(db) -> App:
    """An app on Alice's device."""
    return App().registered()


@pytest.fixture
def browser(alice) -> Browser:
    """Alice's browser, signed in."""
    return Browser(alice.user)
