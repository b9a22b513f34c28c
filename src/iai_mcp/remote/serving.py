"""The process over there that answers calls on stdin and stdout, until the connection ends."""

import errno
import json
import os
import sys
from threading import BoundedSemaphore, Lock, Thread

from iai_mcp.remote import environment, wire
from iai_mcp.remote.service import Service, hello

_AT_ONCE = 16


def serve(mark: str, home_id: str, machine: str) -> None:
    os.umask(0o077)
    # What a program or a module prints must not come between the messages.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    answers.write(f"\n{mark}{json.dumps(_greeting(home_id, machine))}\n".encode())
    answers.flush()
    service, turnstile = Service(), Lock()

    room = BoundedSemaphore(_AT_ONCE)

    def answer(message: wire.Json) -> None:
        answered = wire.pack(service.answer(message))
        with turnstile:
            answers.write(answered)
            answers.flush()
        room.release()

    Thread(target=environment.sweep, daemon=True).start()
    try:
        while (message := wire.receive(sys.stdin.buffer)) is not None:
            room.acquire()
            Thread(target=answer, args=(message,), daemon=True).start()
    finally:
        # Nobody hears the answers any more, and a wait may last for hours.
        os._exit(0)


def _greeting(home_id: str, machine: str) -> wire.Json:
    """What we say of ourselves, or why nothing can be done here."""
    try:
        environment.choose(home_id, machine)
        return hello()
    except OSError as refused:
        full = refused.errno in (errno.ENOSPC, errno.EDQUOT)
        return {"refused": refused.strerror or type(refused).__name__, "full": full}
