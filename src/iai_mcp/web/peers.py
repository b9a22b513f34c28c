"""Which user is at the other end of a connection on loopback.

Anybody on this machine can dial loopback, and might have seen a URL in a list of processes. Linux
tells whose each connection is; elsewhere nobody does, and the secrets alone have to do.
"""

import os
import socket
import struct
import sys

Address = tuple[str, int]

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_MAPPED = b"0000000000000000FFFF0000"  # before an IPv4 address in the table of IPv6

# The kernel's question and answer about one connection: linux/sock_diag.h, linux/inet_diag.h.
_SOCK_DIAG, _BY_FAMILY, _REQUEST = 4, 20, 1
_QUESTION = struct.Struct("=IHHII BBBxI 2s2s 4s12x 4s12x I II")
_ANSWER = struct.Struct("=IHHII BBBB 4x 32x 4x 8x III I")
_ANY = 0xFFFFFFFF


def is_ours(peer: Address, own: Address) -> bool:
    """Whether the program that dialled from `peer` to `own` is one of our user's."""
    if sys.platform != "linux":
        return True
    uid = _asked(peer, own)
    if uid is None and _asked(own, peer) is None:
        uid = _looked_up(_entry(*peer), _entry(*own))  # this kernel answers no such questions
    return uid == os.geteuid()


def _asked(local: Address, remote: Address) -> int | None:
    """Whose that end of a connection is, by asking the kernel for it alone: whoever dials again and
    again would otherwise have us read a table that grows with every time.
    """
    ends = struct.pack("!H", local[1]), struct.pack("!H", remote[1])
    addresses = socket.inet_aton(local[0]), socket.inet_aton(remote[0])
    kind = (socket.AF_INET, socket.IPPROTO_TCP, 0, _ANY)  # in whatever state
    question = _QUESTION.pack(
        _QUESTION.size, _BY_FAMILY, _REQUEST, 0, 0, *kind, *ends, *addresses, 0, _ANY, _ANY
    )
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
            kernel.settimeout(1.0)
            kernel.send(question)
            answer = kernel.recv(4096)
    except OSError:
        return None
    if len(answer) < _ANSWER.size or _ANSWER.unpack_from(answer)[1] != _BY_FAMILY:
        return None
    return int(_ANSWER.unpack_from(answer)[-1])


def _looked_up(local: bytes, remote: bytes) -> int | None:
    """The same from the tables of all connections."""
    for table, mapped in zip(_TABLES, (b"", _MAPPED), strict=True):
        try:
            with open(table, "rb") as file:
                known = file.read()
        except OSError:
            continue
        at = known.find(b": %s%s %s%s " % (mapped, local, mapped, remote))
        if at >= 0:
            return int(known[at : known.find(b"\n", at)].split()[7])
    return None


def _entry(address: str, port: int) -> bytes:
    """As the kernel writes it: the address as a number of this machine, and the port."""
    number = int.from_bytes(socket.inet_aton(address), sys.byteorder)
    return f"{number:08X}:{port:04X}".encode()
