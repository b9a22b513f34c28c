"""Another user on the same machine, played by a child that gives up being root."""

import os
import subprocess
import sys
import threading
from pathlib import Path

UID = 54321  # nobody in particular

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


def can_be_played() -> bool:
    """Only root can become somebody else."""
    return os.geteuid() == 0


class Eavesdropper:
    """Another user's process that listens where a daemon should, and keeps what it is told."""

    def __init__(self, path: Path) -> None:
        self.path = path
        command = [sys.executable, "-c", _EAVESDROPPER, str(path), str(UID)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0)
        self._heard = bytearray()
        self._ears = threading.Thread(target=self._listen)
        assert self._process.stdout is not None
        assert self._process.stdout.read(1) == b"!"
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
            while said := pipe.read(65536):
                self._heard += said
