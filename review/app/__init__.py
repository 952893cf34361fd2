"""The review session as an MCP App: rendering, candidates, sessions and the page."""
