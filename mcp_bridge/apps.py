"""The `mcp_bridge` application."""

from __future__ import annotations

from django.apps import AppConfig


class McpBridgeConfig(AppConfig):
    """Registers `mcp_bridge` with Django."""

    name = "mcp_bridge"
    verbose_name = "MCP"
