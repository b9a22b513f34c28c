"""The chain of a stream: a digest that covers every event of it, in order.

Each event has a leaf, the digest of its line and a salt. The chain is folded over the leaves, one by
one, so it does not matter which events share a record. A record can be written again without an event
that was forgotten: the leaf stays and tells nothing of the words, and the chain stays what it was. No
event can be changed or put in without changing the chain.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from iai_mcp.domain.shared_events import DIGEST_BYTES

SALT_BYTES = 12
BEGINNING = b""  # the digest before the first event


@dataclass(frozen=True, slots=True)
class Link:
    """One event's place in the chain."""

    salt: bytes
    leaf: bytes


def linked(line: bytes) -> Link:
    """A new place for an event."""
    salt = os.urandom(SALT_BYTES)
    return Link(salt, leaf_of(salt, line))


def leaf_of(salt: bytes, line: bytes) -> bytes:
    return hashlib.blake2b(salt + line, digest_size=DIGEST_BYTES).digest()


def folded(previous: bytes, leaves: Iterable[bytes]) -> bytes:
    """The digest after these leaves."""
    return [previous, *steps(previous, leaves)][-1]


def steps(previous: bytes, leaves: Iterable[bytes]) -> Iterator[bytes]:
    """The digest after each of these leaves."""
    for leaf in leaves:
        previous = hashlib.blake2b(previous + leaf, digest_size=DIGEST_BYTES).digest()
        yield previous
