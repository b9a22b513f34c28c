"""The process that owns one PTY: reads it into a ring, serves clients, keeps the exit code.

There is one per session, so this room imports built-in modules only (`docs/decisions/0035`
has the numbers): no json, re, enum, dataclasses, typing, socket, signal or subprocess.
"""
