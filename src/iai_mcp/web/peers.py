"""Which user is at the other end of a connection on loopback.

Anybody on this machine can dial loopback, and might have seen a URL in a list of processes. Linux
tells whose each connection is; elsewhere nobody does, and the secrets alone have to do.
"""

import os
import socket
import sys

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_MAPPED = "0000000000000000FFFF0000"  # before an IPv4 address in the table of IPv6


def is_ours(peer: tuple[str, int], own: tuple[str, int]) -> bool:
    """Whether the program that dialled from `peer` to `own` is one of our user's."""
    if sys.platform != "linux":
        return True
    uid = _uid_of(_entry(*peer), _entry(*own))
    return uid == os.geteuid()


def _uid_of(local: str, remote: str) -> int | None:
    for table in _TABLES:
        try:
            with open(table, encoding="ascii") as lines:
                for line in lines:
                    fields = line.split()
                    if _plain(fields[1]) == local and _plain(fields[2]) == remote:
                        return int(fields[7])
        except OSError:
            continue
    return None


def _plain(entry: str) -> str:
    return entry.removeprefix(_MAPPED)


def _entry(address: str, port: int) -> str:
    """As the kernel writes it: the address as a number of this machine, and the port."""
    number = int.from_bytes(socket.inet_aton(address), sys.byteorder)
    return f"{number:08X}:{port:04X}"
