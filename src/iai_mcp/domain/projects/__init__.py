"""Which project a directory belongs to, and which directories are the same project."""
