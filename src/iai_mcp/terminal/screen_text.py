"""Terminal output as plain text, for people and programs that read instead of watch."""

from iai_mcp.terminal.screen import Screen


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
