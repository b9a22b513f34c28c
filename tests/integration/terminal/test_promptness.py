"""Who carries keystrokes asks for short turns; what it starts has ordinary ones."""

import ctypes
import os
import struct
import sys

import pytest
from tests.terminal_kit import Desk, eventually

from iai_mcp.terminal.scheduling import TURN_NS, be_prompt

_GETATTR = 315


def turn_of(pid: int) -> int:
    """The turn that the kernel gives a process, in nanoseconds; 0 where it does not tell."""
    answer = ctypes.create_string_buffer(48)
    if ctypes.CDLL(None).syscall(_GETATTR, pid, answer, 48, 0):
        return 0
    return int(struct.unpack("=IIQiIQQQ", answer.raw)[5])


pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine != "x86_64" or turn_of(0) == 0,
    reason="only Linux since 6.12 gives turns that are asked for",
)


def test_an_attached_session_and_its_client_get_short_turns(desk: Desk) -> None:
    session = desk.start("cat")
    holder, child = desk.record(session).holder, desk.record(session).child
    assert holder is not None
    assert child is not None
    assert turn_of(holder) > TURN_NS

    with desk.attached(session) as terminal:
        terminal.is_raw()
        eventually(lambda: turn_of(holder) == TURN_NS, "the holder's turn")
        eventually(lambda: turn_of(terminal.process.pid) == TURN_NS, "the client's turn")

    assert turn_of(child) > TURN_NS


def test_who_is_prompt_does_not_hand_it_on() -> None:
    read, write = os.pipe()
    parent = os.fork()
    if parent == 0:
        agreed = be_prompt()
        child = os.fork()
        if child == 0:
            os.write(write, f"{agreed} {turn_of(0) > TURN_NS}".encode())
            os._exit(0)
        os.waitpid(child, 0)
        os._exit(0)
    os.waitpid(parent, 0)
    os.close(write)

    assert os.read(read, 100) == b"True True"
    os.close(read)


def test_a_process_that_has_gone_is_no_error() -> None:
    gone = os.fork()
    if gone == 0:
        os._exit(0)
    os.waitpid(gone, 0)

    assert be_prompt(gone) is False
