"""`python -m iai_mcp.web [PORT]`: the page, started by `iai-mcp page`."""

import asyncio
import sys

from iai_mcp import concurrency, paths, settings
from iai_mcp.adapters import allocator
from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.shown_text import shown


def main() -> int:
    """Serve until closed. The last line of what is said tells why it can not."""
    allocator.keep_little()
    lock = concurrency.ProcessLock(f"{paths.page_socket_path()}.lock")
    try:
        if not lock.try_acquire_exclusive():
            return 0  # another one was faster, and serves whoever started us
        from iai_mcp.web import process

        idle = settings.load().page_idle
        port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
        asyncio.run(process.serve(process.listener(port), idle))
    except IaiError as refused:
        sys.stderr.write(f"{shown(refused.message)}\n")
        return 1
    except paths.NotOurs as stranger:
        sys.stderr.write(f"{shown(stranger.sentence)}\n")
        return 1
    except OSError as refused:
        sys.stderr.write(f"{shown(f'{refused.strerror}: {refused.filename}')}\n")
        return 1
    finally:
        lock.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
