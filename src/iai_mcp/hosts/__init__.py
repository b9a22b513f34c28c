"""What we know about each agent program: one package per host, one subject per file."""
