"""What the use cases need from the world, as Protocols. Adapters make them real; tests fake them."""
