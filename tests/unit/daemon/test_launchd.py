"""The listening socket from launchd, whose C function is replaced here."""

import ctypes
import os
import platform
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from iai_mcp.daemon import launchd
from iai_mcp.daemon.launchd import adopt_socket

_ESRCH = 3  # what launchd answers to a process that it did not start

SIGNATURE = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.POINTER(ctypes.POINTER(ctypes.c_int)),
    ctypes.POINTER(ctypes.c_size_t),
)


def fake_library(*descriptors: int, code: int = 0) -> SimpleNamespace:
    """A C function that writes through its pointers, as libSystem's does."""
    array = (ctypes.c_int * len(descriptors))(*descriptors)
    names: list[bytes] = []
    freed: list[int] = []

    def activate(name: bytes, found: object, count: object) -> int:
        names.append(name)
        if code == 0:
            found[0] = ctypes.cast(array, ctypes.POINTER(ctypes.c_int))  # type: ignore[index]
            count[0] = len(descriptors)  # type: ignore[index]
        return code

    def free(pointer: object) -> None:
        freed.append(ctypes.cast(pointer, ctypes.c_void_p).value or 0)  # type: ignore[arg-type]

    return SimpleNamespace(
        launch_activate_socket=SIGNATURE(activate),
        free=free,
        names=names,
        freed=freed,
        at=ctypes.addressof(array),
    )


@pytest.fixture(autouse=True)
def no_activation(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LISTEN_FDS", "LISTEN_PID"):
        monkeypatch.setenv(name, "")  # so that it is put back afterwards


def test_without_launchd_nothing_is_taken() -> None:
    library = fake_library(code=_ESRCH)
    assert adopt_socket(library) is False
    assert library.freed == []
    assert os.environ["LISTEN_PID"] == ""


def test_a_socket_that_was_passed_by_another_manager_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
    library = fake_library(99)
    assert adopt_socket(library) is False
    assert library.names == []


def test_on_other_systems_no_library_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    assert adopt_socket() is False


# In a process of its own: descriptor 3 belongs to pytest here.
_TAKEN = """
import os, socket, sys
sys.path[:0] = {path!r}
from iai_mcp.daemon.launchd import adopt_socket
from iai_mcp.daemon.socket_server import inherited_socket
from tests.unit.daemon.test_launchd import fake_library

made = []
for name in ("a", "b"):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(sys.argv[1] + name)
    listener.listen()
    made.append(os.dup2(listener.fileno(), 40 + len(made)))
    listener.close()
library = fake_library(*made)
assert adopt_socket(library)
assert library.names == [b"Listeners"], library.names
assert library.freed == [library.at]
inherited = inherited_socket()
assert inherited.fileno() == 3
print(inherited.getsockname(), end="")
for descriptor in made:
    try:
        os.fstat(descriptor)
    except OSError:
        continue
    raise SystemExit("a descriptor was left open")
"""


def test_the_socket_of_launchd_is_passed_on_as_descriptor_three(tmp_path: Path) -> None:
    root = Path(launchd.__file__).parents[3]
    code = _TAKEN.format(path=[str(root), str(root.parent)])
    done = subprocess.run(
        [sys.executable, "-c", code, f"{tmp_path}/"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{tmp_path}/a"
