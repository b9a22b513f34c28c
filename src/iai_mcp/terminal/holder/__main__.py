"""Starts one holder: `python -I -S <this file>`, its order on stdin, its answer on stdout."""

import os
import sys

_ROOT = os.path.abspath(__file__).rsplit("/", 4)[0]


def main() -> None:
    """Read the order, leave the launcher, start the program, answer, serve."""
    # Without site there is no path to our own package; this file knows where it is.
    sys.path.append(_ROOT)
    from iai_mcp.terminal.holder import startup

    order = startup.read_order()
    startup.leave_launcher()
    from iai_mcp.terminal.holder.loop import Holder
    from iai_mcp.terminal.holder.status import SessionJournal, now_ms

    journal = SessionJournal(order.directory, order.agent)
    try:
        journal.take_lock()
        listener = startup.listen(order.socket_path)
        terminal = startup.start_program(order)
    except startup.LaunchError as refused:
        _answer(f"refused {refused}")
        os.unlink(order.socket_path)
        return
    except OSError as failed:
        _answer(f"refused holder {failed.errno}")
        return
    holder = Holder(order, journal, terminal, listener)
    journal.note(holder=os.getpid(), child=holder.child)
    journal.save("running", "guess", now_ms())
    journal.event("SessionStatusChanged", "running", "guess")
    _answer(f"running {holder.child}")
    _let_go_of_launcher(tethered=order.tethered)
    holder.run()


def _answer(text: str) -> None:
    os.write(1, text.encode() + b"\n")


def _let_go_of_launcher(*, tethered: bool) -> None:
    """Close the launcher's pipes, so that it sees the end of them; keep the one it holds us by."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2) if tethered else (0, 1, 2):
        os.dup2(nothing, descriptor)
    if nothing > 2:
        os.close(nothing)


if __name__ == "__main__":
    main()
