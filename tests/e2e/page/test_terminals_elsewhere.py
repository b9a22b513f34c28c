"""Terminals of another machine in the page: seen and typed into as those here, also after a cut."""

import json
from collections.abc import Iterator

import pytest
from tests.e2e.page.test_terminals import dial, printed
from tests.support.outpost import Outpost, outpost
from tests.support.page import Visitor
from tests.support.sshd import Sshd
from websockets.exceptions import ConnectionClosed


@pytest.fixture
def there(far_machine: Sshd) -> Iterator[Outpost]:
    with outpost(far_machine) as made:
        yield made
        made.run("page", "--close")
        made.close()
        made.there("agent", "delete", "sam", "--force")


def test_a_terminal_over_there_is_shown_and_typed_into(there: Outpost) -> None:
    there.iai("profile", "add", "--name", "Sh", "--command", "sh", "--injection", "env:X")
    there.hire("Sam", "x", "sh")
    session = there.launch("sam")
    owner = Visitor.of(there.iai("page", "--no-open")["url"])

    (listed,) = owner.call("sessions_list").json["sessions"]
    with dial(owner, session) as terminal:
        body = json.dumps({"session": session, "take": True}).encode()
        owner.ask("POST", "/keyboard", body, Content_Type="application/json")
        terminal.send(b"echo be''fore\r")
        assert b"before" in printed(terminal, b"before")
        there.far.stop()
        with pytest.raises(ConnectionClosed) as cut:
            printed(terminal, b"never")
    # While it is away the page goes on trying: only what will never be there is refused for good.
    with dial(owner, session) as terminal, pytest.raises(ConnectionClosed) as away:
        printed(terminal, b"never")
    there.far.start()
    with dial(owner, session) as terminal:
        printed(terminal, b"before")
    with dial(owner, "nosuchsession") as terminal, pytest.raises(ConnectionClosed) as refused:
        printed(terminal, b"never")

    assert (listed["id"], listed["machine"]) == (session, "ssh://far")
    assert [one.value.rcvd and one.value.rcvd.code for one in (cut, away, refused)] == [
        1000,
        1000,
        4404,
    ]
