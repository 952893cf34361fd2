"""The MCP transport, discovery and the guides."""
