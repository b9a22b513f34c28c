"""A file system that never answers: whoever looks at anything in it waits until it is taken away.

It is real: FUSE with nobody at the other end, as a network mount is whose server has gone.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_DETACH = 2


@contextmanager
def silent_mount(place: Path) -> Iterator[Path]:
    """
    Raises:
        PermissionError: this user may not mount, or there is no FUSE here.
    """
    library = ctypes.CDLL(None, use_errno=True)
    place.mkdir(parents=True)
    try:
        device = os.open("/dev/fuse", os.O_RDWR)
    except OSError as refused:
        raise PermissionError("there is no FUSE that this user may use") from refused
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
    if library.mount(b"silent", os.fsencode(place), b"fuse", 0, options.encode()):
        os.close(device)
        raise PermissionError(f"can not mount: {os.strerror(ctypes.get_errno())}")
    try:
        yield place
    finally:
        library.umount2(os.fsencode(place), _DETACH)
        os.close(device)
