"""A real sshd on loopback, as an ordinary process with keys made for the test."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SFTP_SERVERS = ("/usr/lib/openssh/sftp-server", "/usr/libexec/sftp-server")


def missing() -> str:
    """What has to be installed for it; "" when everything is there."""
    sshd = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if sshd is None or not any(Path(one).exists() for one in SFTP_SERVERS):
        return "openssh-server"
    return "" if shutil.which("ssh") else "openssh-client"


class Sshd:
    """`config` is an ssh configuration that knows the machine as `far`.

    `within` are the words before its command that put it elsewhere: into a network of its own. `more`
    are lines for its settings.
    """

    def __init__(
        self,
        directory: Path,
        *,
        pam: bool = False,
        address: str = "127.0.0.1",
        within: Sequence[str] = (),
        more: str = "",
    ) -> None:
        self.directory = directory
        self._pam = "yes" if pam else "no"
        self._address, self._within, self._more = address, within, more
        self.port = free_port()
        # What is over there is not what the person who runs the tests has in theirs.
        self.home = directory / "home"
        self.home.mkdir()
        self._process: subprocess.Popen[bytes] | None = None
        for name in ("host", "user"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name)]
            subprocess.run(command, check=True)
        host_key = (directory / "host.pub").read_text().split()[:2]
        (directory / "known").write_text(f"[{self._address}]:{self.port} {' '.join(host_key)}\n")
        shutil.copy(directory / "user.pub", directory / "authorized")
        (directory / "sshd_config").write_text(self._server_config())
        self.config = directory / "config"
        self.config.write_text(self._client_config())

    def start(self) -> None:
        sshd = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        assert sshd is not None
        Path("/run/sshd").mkdir(exist_ok=True) if os.geteuid() == 0 else None
        arguments = ["-D", "-e", "-f", str(self.directory / "sshd_config")]
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*self._within, sshd, *arguments], stderr=log, stdout=log
            )
        deadline = time.monotonic() + 30
        while not self._answers():
            assert time.monotonic() < deadline, "sshd does not listen"
            time.sleep(0.02)

    def stop(self) -> None:
        """It and everybody it serves."""
        if self._process is not None:
            children = subprocess.run(
                ["ps", "-o", "pid=", "--ppid", str(self._process.pid)],
                capture_output=True,
                text=True,
                check=False,
            )
            for pid in children.stdout.split():
                subprocess.run(["kill", "-9", pid], check=False, capture_output=True)
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((self._address, self.port)) == 0

    def _server_config(self) -> str:
        server = next(one for one in SFTP_SERVERS if Path(one).exists())
        return (
            f"Port {self.port}\nListenAddress {self._address}\nHostKey {self.directory}/host\n"
            f"AuthorizedKeysFile {self.directory}/authorized\nPidFile none\nUsePAM {self._pam}\n"
            f"StrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\n"
            f"Subsystem sftp {server}\nSetEnv HOME={self.home}\n{self._more}"
        )

    def _client_config(self) -> str:
        return (
            f"Host far\n  HostName {self._address}\n  Port {self.port}\n"
            f"  IdentityFile {self.directory}/user\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {self.directory}/known\n"
        )


@contextmanager
def sshd(
    directory: Path,
    *,
    pam: bool = False,
    address: str = "127.0.0.1",
    within: Sequence[str] = (),
    more: str = "",
) -> Iterator[Sshd]:
    made = Sshd(directory, pam=pam, address=address, within=within, more=more)
    made.start()
    try:
        yield made
    finally:
        made.stop()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
