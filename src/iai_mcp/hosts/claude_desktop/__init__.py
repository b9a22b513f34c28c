"""Claude Desktop."""
