"""The network to another machine is cut, and this one is known by another address afterwards."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from bench import cut_network
from tests.support.daemon import until
from tests.support.outpost import Outpost, outpost
from tests.support.sshd import missing, sshd
from tests.terminal_kit import Terminal


@pytest.fixture
def link() -> Iterator[cut_network.Link]:
    with cut_network.Link.made() as made:
        if made is None:
            pytest.skip(cut_network.NEEDED)
        yield made


@pytest.fixture
def beyond(link: cut_network.Link, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outpost]:
    if absent := missing():
        pytest.skip(f"needs {absent}")
    with (
        # A short name: sockets are below it.
        sshd(tmp_path_factory.mktemp("sshd"), address=link.there, within=link.within) as far,
        outpost(far) as made,
    ):
        yield made
        made.close()


def test_who_comes_back_from_elsewhere_finds_terminal_and_memory_as_they_were(
    beyond: Outpost, link: cut_network.Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**beyond.home.environment, "PATH": beyond.path}.items():
        monkeypatch.setenv(name, value)
    mia = beyond.hire("Mia", "You are Mia.\n")
    session = beyond.launch("mia", "--prompt", "hello")
    beyond.report(mia, 1)
    screen = Terminal([sys.executable, "-m", "iai_mcp.cli", "session", "attach", session])
    try:
        screen.until(lambda: bool("".join(screen.screen.display).strip()), "its screen is painted")
        with link.cut():
            beyond.say_there(session, "The heron nests on pier nine.")
            beyond.report(mia, 2)
            # No end of the connection is told the other side: it is only silence that tells.
            screen.shows("connection to ssh://far lost")
            link.move()
        screen.until(
            lambda: "connection to" not in "\n".join(screen.screen.display), "it is painted anew"
        )
        screen.type(b"The owl nests on pier two.\r")
        beyond.report(mia, 3)
    finally:
        screen.close()

    def heard(cue: str) -> list[dict[str, Any]]:
        return [hit for hit in beyond.recall(cue) if cue in hit["text"] and hit["role"] == "user"]

    until(lambda: heard("nests on pier nine") and heard("nests on pier two"), "both came home", 60)
    until(lambda: not beyond.spooled(), "nothing waits over there")
    assert len(heard("nests on pier nine")) == len(heard("nests on pier two")) == 1
    assert beyond.there("doctor")["ok"]
