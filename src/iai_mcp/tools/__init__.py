"""MCP tools: each a thin door to one method of `core.dispatch`. Loaded by the daemon only."""
