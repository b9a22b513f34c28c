"""The page: memory and agents in a browser, served on loopback by a process of its own.

A process of its own (`decisions/0064`) is wholly gone when it is closed, outlives a daemon that
restarts, and does not keep one awake that wants to sleep.
"""
