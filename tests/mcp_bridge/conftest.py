"""Fixtures of the MCP tests."""

from __future__ import annotations

import pytest

from tests.agent import Agent
from tests.mcp_bridge.door import MODERN_VERSION, Door, door_of


@pytest.fixture(params=["2025-06-18", MODERN_VERSION])
def door(request: pytest.FixtureRequest, alice: Agent) -> Door:
    """Alice's client, once in each protocol era."""
    return door_of(alice, request.param)


@pytest.fixture
def legacy(alice: Agent) -> Door:
    """Alice's client of a handshake revision."""
    return door_of(alice, "2025-06-18")


@pytest.fixture
def modern(alice: Agent) -> Door:
    """Alice's client of 2026-07-28."""
    return door_of(alice, MODERN_VERSION)
