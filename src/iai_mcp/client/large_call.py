"""A call that no line can carry: its params wait in a private file of the spool while it is made."""

import contextlib
import json
import os
import secrets
from collections.abc import Iterator

from iai_mcp import paths
from iai_mcp.domain.errors import IoFailed

METHOD = "call_spooled"
PREFIX, ENDING = ".large-", ".tmp"  # the drain removes what a killed caller left under such a name


@contextlib.contextmanager
def spooled(method: str, params: dict[str, object]) -> Iterator[dict[str, object]]:
    """The params of the call to make instead; the file is gone afterwards.

    Raises:
        IoFailed: it can not be written.
    """
    name = f"{PREFIX}{secrets.token_hex(8)}{ENDING}"
    try:
        paths.private_dir(paths.user_data())
        path = os.path.join(paths.private_dir(paths.spool_dir()), name)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as refused:
        raise _not_written(refused) from refused
    try:
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass") as file:
                json.dump(params, file, ensure_ascii=False)
        except OSError as refused:
            raise _not_written(refused) from refused
        yield {"method": method, "file": name}
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _not_written(refused: OSError) -> IoFailed:
    return IoFailed(
        f"so much goes to the daemon by way of {paths.spool_dir()}, and that could not be written: "
        f"{refused.strerror}"
    )
