"""Claude.ai's export."""
