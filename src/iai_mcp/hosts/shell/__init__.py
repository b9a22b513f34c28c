"""A plain shell, and any other program."""
