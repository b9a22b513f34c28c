"""Agents on other machines: one archive that travels, one ssh connection, the ports over it.

`service` and what it needs run over there, on the standard library alone; the rest runs here.
`docs/remote.md` draws who talks to whom.
"""
