"""The methods of the socket, by name: each reads its params and enters one use case."""
