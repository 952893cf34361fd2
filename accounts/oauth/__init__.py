"""The service as its own OAuth 2.1 authorization server, for the MCP endpoint."""
