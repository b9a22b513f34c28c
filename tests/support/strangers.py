"""Another user on the same machine, played by a child that gives up being root."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

UID = 54321  # nobody in particular
needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="a second user can be played by root only"
)

_EAVESDROPPER = """
import os, socket, sys
os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
listener.listen()
os.write(1, b"!")
while True:
    connection, _ = listener.accept()
    while heard := connection.recv(65536):
        os.write(1, heard)
    connection.close()
"""


class Eavesdropper:
    """Another user's process that listens where a daemon should, and keeps what it is told."""

    def __init__(self, path: Path) -> None:
        self.path = path
        command = [sys.executable, "-c", _EAVESDROPPER, str(path), str(UID)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.read(1) == b"!"
        self._heard = bytearray()
        self._ears = threading.Thread(target=self._listen)
        self._ears.start()

    def heard(self) -> bytes:
        """All that it was ever told; it listens no more."""
        self._process.kill()
        self._process.wait()
        self._ears.join()
        return bytes(self._heard)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            while said := pipe.read1(65536):
                self._heard += said
