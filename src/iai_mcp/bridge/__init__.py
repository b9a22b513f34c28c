"""stdio <-> daemon socket for MCP hosts: a reconnecting pipe, standard library only."""
