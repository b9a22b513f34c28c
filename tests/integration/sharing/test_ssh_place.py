"""A circle's place behind a real sshd, and what goes wrong on the way there."""

from pathlib import Path

import pytest
from tests.support.sshd import Sshd

from iai_mcp.adapters.sftp_files import FarPlace, SftpFiles
from iai_mcp.domain.errors import AlreadyExists, InvalidInput, IoFailed, ReadOnly, RemoteFailed


def _files(far: Sshd, path: Path | str, largest: int = 1 << 20) -> SftpFiles:
    return SftpFiles(
        FarPlace.read(f"ssh://far{path}"), largest=largest, ssh=("ssh", "-F", str(far.config))
    )


def test_large_files_go_there_and_back(far_machine: Sshd, tmp_path: Path) -> None:
    files, data = _files(far_machine, tmp_path), bytes(range(256)) * 3000
    files.put("circle/device", "1.rec", data, over=False)
    assert files.content("circle/device/1.rec") == data
    assert (tmp_path / "circle/device/1.rec").read_bytes() == data
    assert files.names("circle/device") == ["1.rec"]
    with pytest.raises(AlreadyExists):
        files.put("circle/device", "1.rec", b"another", over=False)
    files.put("circle/device", "1.rec", b"", over=True)
    assert files.content("circle/device/1.rec") == b""
    assert files.names("circle/device") == ["1.rec"]
    files.close()


def test_links_pipes_and_huge_files_are_not_read(far_machine: Sshd, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "huge").write_bytes(bytes(2000))
    files = _files(far_machine, tmp_path, largest=1000)
    for name in ("link", "huge"):
        with pytest.raises(IoFailed):
            files.content(name)
    files.close()


def test_a_cut_is_told_and_the_next_call_connects_again(far_machine: Sshd, tmp_path: Path) -> None:
    files = _files(far_machine, tmp_path)
    assert files.names("") == []
    far_machine.stop()
    with pytest.raises(RemoteFailed, match=r"far( ended|: it can not be reached)"):
        files.names("")
    with pytest.raises(RemoteFailed, match="can not be reached"):
        files.names("")
    far_machine.start()
    assert files.names("") == []
    files.close()


def test_a_place_that_is_not_there_is_not_made(far_machine: Sshd, tmp_path: Path) -> None:
    files = _files(far_machine, tmp_path / "absent")
    with pytest.raises(IoFailed, match="is not there on far"):
        files.put("circle", "1.rec", b"x", over=False)
    assert list(tmp_path.iterdir()) == []
    files.close()


def test_an_unknown_host_key_is_never_accepted(far_machine: Sshd, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(far_machine.config.read_text().replace("/known", "/none-known"))
    place = FarPlace.read(f"ssh://far{tmp_path}")
    files = SftpFiles(place, largest=1, ssh=("ssh", "-F", str(config)))
    with pytest.raises(RemoteFailed, match="host key is not known or has changed"):
        files.names("")


def test_who_is_not_let_in_is_told_what_to_set_up(far_machine: Sshd, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(far_machine.config.read_text().replace("/user\n", "/host\n"))
    place = FarPlace.read(f"ssh://far{tmp_path}")
    files = SftpFiles(place, largest=1, ssh=("ssh", "-F", str(config)))
    with pytest.raises(RemoteFailed, match="set up a key or an agent"):
        files.names("")


@pytest.mark.parametrize(
    "url",
    [
        "ssh://-oProxyCommand=id/x",
        "ssh://host",
        "ssh://host/",
        "ssh://u:secret@host/x",
        "ssh://ho st/x",
        "ssh://host:none/x",
        "http://host/x",
        "ssh:///x",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="write the place as ssh://"):
        FarPlace.read(url)


def test_a_far_directory_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    assert issubclass(ReadOnly, IoFailed)
    place = FarPlace.read("ssh://ann@far:2222/~/shared")
    assert (place.host, place.port, place.path) == ("ann@far", 2222, "~/shared")
