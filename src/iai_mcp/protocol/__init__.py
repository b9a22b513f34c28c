"""Frames, messages and codes of the socket protocol: sans-I/O, standard library only."""
