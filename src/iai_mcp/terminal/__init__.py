"""Terminal sessions: one holder process per program, found by small files, spoken to by socket.

Imports nothing: the holder starts below this package and pays for every import.
"""
