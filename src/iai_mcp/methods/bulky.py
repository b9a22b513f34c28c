"""The method behind which a call stands that no line could carry."""

import os
import re
import stat
from collections.abc import Mapping

from iai_mcp import paths
from iai_mcp.client.bulky import ENDING, METHOD, PREFIX
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.memory.params import Params
from iai_mcp.methods.memory import Method
from iai_mcp.protocol.messages import parse
from iai_mcp.store import MemoryStore

_NAME = re.compile(re.escape(PREFIX) + r"[0-9a-f]{1,64}" + re.escape(ENDING))
_LARGEST = 1 << 30  # SQLite keeps no longer text


def _call_spooled(store: MemoryStore, params: Params) -> dict[str, object]:
    from iai_mcp.core import dispatch

    method = params.text("method")
    if method == METHOD:
        raise InvalidInput("a spooled call can not be one of a spooled call")
    return dispatch(store, method, _read(params.text("file")))


def _read(name: str) -> object:
    """The params that a caller left in the spool: a plain file of its own, and no other."""
    if not _NAME.fullmatch(name):
        raise InvalidInput("file must be the name of a spooled call")
    try:
        path = os.path.join(paths.spool_dir(), name)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
                raise InvalidInput("the spooled call is not a file, or larger than 1 GiB")
            return parse(file.read())
    except (OSError, ValueError) as unreadable:
        raise InvalidInput("the spooled call can not be read") from unreadable


METHODS: Mapping[str, Method] = {METHOD: _call_spooled}
