"""Dial the daemon and call it: blocking, standard library only, never starts anything."""
