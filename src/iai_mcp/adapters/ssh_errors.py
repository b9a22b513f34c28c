"""Why `ssh` ended: its own words may name keys and paths, so they are read, and not repeated."""

import re

from iai_mcp.domain.errors import RemoteFailed

_WHY = (
    (r"Host key verification failed|HOST IDENTIFICATION HAS CHANGED", "its host key is not known or"
     " has changed: connect once with `ssh {host}` and look at what it says"),
    (r"Permission denied|Too many authentication", "it does not let you in without a question: set up"
     " a key or an agent"),
    (r"Could not resolve", "nobody knows a machine of that name"),
    (r"Connection refused|timed out|No route|unreachable", "it can not be reached"),
    (r"subsystem request failed", "it offers no sftp: ask its administrator for it"),
)  # fmt: skip


def ssh_ended(host: str, said: str) -> RemoteFailed:
    """What to tell a person when ssh to `host` has ended and said this."""
    for pattern, why in _WHY:
        if re.search(pattern, said):
            return RemoteFailed(f"{host}: {why.format(host=host)}")
    return RemoteFailed(f"{host} ended the connection")
