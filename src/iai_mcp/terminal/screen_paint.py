"""A screen as bytes that make a real terminal show it, in the state its program left it in; or as text."""

from collections.abc import Mapping

from iai_mcp.terminal.screen import Grid, Screen

ALTERNATE = (47, 1047, 1049)
# On in every terminal until a program turns them off.
_ON_BY_DEFAULT = frozenset((7, 25))
_ORIGIN = 6  # changes what a cursor position means: set last, or never


def paint(
    screen: Screen, rows: int, *, modes: Mapping[int, bool], keypad: bool, keyboard: int
) -> bytes:
    """What to write to a terminal of `rows` lines in its plain state.

    `modes` are those in force now, also from before the output that `screen` saw.
    """
    alternate = next((mode for mode in ALTERNATE if modes.get(mode)), 0)
    # What was there before moves into the scroll-back instead of being overwritten.
    parts = ["\x1b[m", "\r\n" * rows, "\x1b[H\x1b[2J"]
    if alternate:
        parts += [_contents(screen, screen.main, 0), f"\x1b[?{alternate}h\x1b[H\x1b[2J"]
        first = _first_row(screen, rows)
        parts.append(_contents(screen, screen.other, first))
    else:
        first = _first_row(screen, rows)
        parts.append(_contents(screen, screen.grid, first))
    parts.append(_state(screen, first, rows))
    parts += [_mode(mode, on=on) for mode, on in modes.items() if _differs(mode, on=on)]
    parts.append("\x1b=" if keypad else "")
    parts.append(f"\x1b[>{keyboard}u" if keyboard else "")
    return "".join(parts).encode("utf-8", "replace") + screen.pending


def unpaint(modes: Mapping[int, bool], rows: int, *, keypad: bool, keyboard: int) -> bytes:
    """What brings a terminal back to its plain state, the cursor on its last line."""
    parts = ["\x1b[<u\x1b[=0u" if keyboard else ""]
    parts += [
        _mode(mode, on=not on)
        for mode, on in modes.items()
        if _differs(mode, on=on) or (mode == _ORIGIN and on)
    ]
    parts.append("\x1b[r\x1b[4l")
    parts += [_mode(mode, on=False) for mode in ALTERNATE if modes.get(mode)]
    parts.append("\x1b>" if keypad else "")
    parts.append(f"\x1b(B\x1b[m\x1b[0 q\x1b[{rows};1H")
    return "".join(parts).encode()


def began_on_alternate(data: bytes, is_on: bool) -> bool:
    """Whether the alternate screen was on before `data`: by its first switch, else as it is now."""
    switches = [
        (at, letter)
        for mode in ALTERNATE
        for letter in (b"h", b"l")
        if (at := data.find(b"\x1b[?%d%s" % (mode, letter))) >= 0
    ]
    return min(switches)[1] == b"l" if switches else is_on


def _first_row(screen: Screen, rows: int) -> int:
    """A smaller terminal shows the part with the cursor."""
    return max(0, screen.row - rows + 1) if screen.rows > rows else 0


def _contents(screen: Screen, grid: Grid, first: int) -> str:
    lines = []
    pen = 0
    for row in range(first, grid.rows):
        chars, pens = grid.chars[row], grid.pens[row]
        end = len(chars)
        while end and chars[end - 1] == " " and pens[end - 1] == 0:
            end -= 1
        if not end:
            continue
        # Every line at its own place: long ones then never wrap into the next.
        parts = [f"\x1b[{row - first + 1};1H"]
        for column in range(end):
            if pens[column] != pen:
                pen = pens[column]
                parts.append(screen.looks.sequence(pen))
            parts.append(chars[column])
        lines.append("".join(parts))
    return "".join(lines) + "\x1b[m"


def _state(screen: Screen, first: int, rows: int) -> str:
    """Cursor, saved cursor, scrolling region, colours."""
    parts = []
    if (screen.top, screen.bottom) != (0, screen.rows - 1):
        parts.append(f"\x1b[{screen.top + 1};{min(screen.bottom + 1, rows)}r")
    saved_row, saved_col, saved_pen = screen.saved
    parts.append(_place(saved_row - first, saved_col) + screen.looks.sequence(saved_pen) + "\x1b7")
    if screen.wrap_next:
        # Only printing in the last column brings a cursor behind it.
        column = screen.cols - 1
        shown, pen = screen.grid.chars[screen.row][column], screen.grid.pens[screen.row][column]
        if not shown and column:
            column -= 1
            shown = screen.grid.chars[screen.row][column]
        parts.append(_place(screen.row - first, column) + screen.looks.sequence(pen) + shown)
    else:
        parts.append(_place(screen.row - first, screen.col))
    parts.append(screen.looks.sequence(screen.pen))
    parts.append("\x1b[4h" if screen.insert else "")
    parts.append("\x1b(0" if screen.drawing else "")
    return "".join(parts)


def _place(row: int, col: int) -> str:
    return f"\x1b[{max(0, row) + 1};{col + 1}H"


def _mode(mode: int, *, on: bool) -> str:
    return f"\x1b[?{mode}{'h' if on else 'l'}"


def _differs(mode: int, *, on: bool) -> bool:
    """Whether this mode is a change from a terminal's plain state that can be set at the end."""
    return mode not in ALTERNATE and mode != _ORIGIN and on != (mode in _ON_BY_DEFAULT)


def plain_text(data: bytes, rows: int, cols: int, *, alternate: bool = False) -> str:
    """What `data` reads like on a terminal of this size, scrolled-off lines included."""
    screen = Screen(rows, cols, keep_history=True)
    if alternate:
        screen.start_on_alternate()
    screen.feed(data)
    if screen.alternate:
        main = [screen.main.line(row) for row in range(screen.rows)]
        while main and not main[-1]:
            main.pop()
        lines = [*screen.history, *main, *screen.text()]
    else:
        lines = [*screen.history, *screen.text()]
    return "\n".join(lines) + "\n" if lines else ""
