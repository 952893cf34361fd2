"""Fixtures of the review app's tests."""

from __future__ import annotations

import pytest

from tests.agent import Agent
from tests.app.host import ERAS, host_of
from tests.mcp_bridge.door import Door


@pytest.fixture(params=ERAS)
def host(request: pytest.FixtureRequest, alice: Agent) -> Door:
    """Alice's host that shows MCP Apps, once in each protocol era."""
    return host_of(alice, request.param)


@pytest.fixture
def modern_host(alice: Agent) -> Door:
    """The same in 2026-07-28 alone, where the era makes no difference."""
    return host_of(alice)
