"""What clients may ask of a holder, one function per frame type."""

import termios
import time

from iai_mcp.terminal import frames as wire
from iai_mcp.terminal.holder import output
from iai_mcp.terminal.holder.clients import Client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from iai_mcp.terminal.holder.loop import Holder

_LARGEST_TAIL = wire.MAX_PAYLOAD
_LONGEST_SAID = 1024  # one line of a list


def handle(holder: "Holder", client: Client, kind: int, payload: bytes) -> None:
    """Do what one frame asks; a frame that is none of ours is a `FrameError`."""
    if kind == wire.INPUT:
        (request,) = wire.unpack(payload, 4)
        holder.type(payload[4:], client, request)
    elif kind == wire.RESIZE:
        rows, cols = wire.unpack(payload, 2, 2)
        _claim_size(holder, client, rows, cols)
    elif kind == wire.ATTACH:
        _attach(holder, client, payload)
    elif kind == wire.STATE:
        _tell_state(holder, client, payload)
    elif kind == wire.KILL:
        holder.kill()
    elif kind == wire.WATCH:
        client.watching = True
        holder.status.read_hooks()
        client.say(wire.STATUS, describe(holder))
    elif kind == wire.SAID:
        holder.said = payload[:_LONGEST_SAID]
    elif kind == wire.SUBMITTED:
        holder.status.presume_running()
        holder.touch()
    else:
        raise wire.FrameError(f"there is no request of type {kind}")


def _claim_size(holder: "Holder", client: Client, rows: int, cols: int) -> None:
    """The newest word on the size wins."""
    if not rows or not cols:
        return
    client.size = (rows, cols)
    # The order of clients is the order of their claims: who spoke last comes last.
    del holder.clients[client.descriptor]
    holder.clients[client.descriptor] = client
    if holder.size != client.size:
        holder.resize(client.size)


def _attach(holder: "Holder", client: Client, payload: bytes) -> None:
    mode, rows, cols = wire.unpack(payload, 1, 2, 2)
    ring = holder.ring
    holder.modes.catch_up(ring)
    whole_screen = True
    if mode == wire.SCREEN:
        client.cursor, whole_screen = output.screen_start(ring, holder.modes)
    elif mode == wire.FROM:
        wanted = wire.unpack(payload[5:], 8)[0]
        client.cursor = min(max(wanted, ring.start), ring.head)
    else:
        client.cursor = ring.start if mode == wire.WHOLE else ring.head
    before = holder.size
    # Part of what it drew is out of reach: a program that draws screens can draw this one again.
    stale = not whole_screen and not line_mode(holder)
    client.say(wire.STATUS, describe(holder, client.cursor))
    _claim_size(holder, client, rows, cols)
    if stale and rows and before == holder.size:
        holder.ask_for_redraw()


def _tell_state(holder: "Holder", client: Client, payload: bytes) -> None:
    (size,) = wire.unpack(payload, 4)
    holder.status.read_hooks()
    holder.modes.catch_up(holder.ring)
    client.say(wire.STATUS, describe(holder))
    if size:
        ring = holder.ring
        begin = output.tail_start(ring, min(size, _LARGEST_TAIL))
        client.say(wire.TAIL, ring.copy(begin, ring.head))


def describe(holder: "Holder", position: int = 0) -> bytes:
    """The holder's state as one JSON object; all of it numbers and words of our own."""
    ring, status, modes = holder.ring, holder.status, holder.modes
    rows, cols = holder.size
    quiet = int((time.monotonic() - holder.last_output) * 1000) if ring.head else -1
    private = ", ".join(f'"{mode}": {int(on)}' for mode, on in modes.private.items())
    keyboard = modes.keyboard[-1] if modes.keyboard else 0
    attached = sum(other.cursor is not None for other in holder.clients.values())
    return (
        f'{{"version": {wire.VERSION}, "status": "{status.value}", "source": "{status.source}", '
        f'"since": {status.since_ms}, "child": {holder.child}, '
        f'"terminal": "{holder.terminal_name}", "rows": {rows}, "cols": {cols}, '
        f'"start": {ring.start}, "head": {ring.head}, "position": {position}, '
        f'"quiet_ms": {quiet}, "clients": {attached}, "typed": {len(holder.typed)}, '
        f'"trouble": {holder.journal.trouble}, "spoken": {int(status.spoken)}, '
        f'"said": "{holder.said.hex()}", '
        f'"line_mode": {line_mode(holder)}, "paste": {int(modes.paste())}, '
        f'"alternate": {int(modes.alternate_screen())}, "keypad": {int(modes.keypad)}, '
        f'"keyboard": {keyboard}, "modes": {{{private}}}}}'
    ).encode()


def line_mode(holder: "Holder") -> int:
    """1 when the kernel edits lines for the program, 0 when it takes every byte itself."""
    try:
        flags: int = termios.tcgetattr(holder.master)[3]
    except termios.error:
        return 0
    return int(bool(flags & termios.ICANON))
