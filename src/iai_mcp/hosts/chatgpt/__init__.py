"""ChatGPT's export."""
