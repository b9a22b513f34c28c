"""Show one memory whole, with the turns around it.

iai-mcp show 2                       the second hit of the last recall in this terminal, in its conversation
iai-mcp show 3f1c2a9e-…              the id as recall and timeline show it with --json
iai-mcp show 3f1c2a9e-… --around 3   with three turns before and after it

The memory itself is marked and whole; of the turns around it the first lines are shown, so that it is on the
first page. What does not fit the terminal opens in your pager ($PAGER, else less).
"""

import argparse
import os

from iai_mcp.cli import last_recall, memory_access, output
from iai_mcp.cli.recall import hit_text

_OF_A_HIT = 3  # turns before and after it
_LINES, _FEWEST = 12, 2  # of a turn around it
_COLUMNS = 100  # where there is no terminal
_AROUND = 3  # lines of a turn besides its text: who said it, what is left out, and a blank one


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the number of a hit of the last recall, or the memory's id")
    parser.add_argument(
        "--around", type=int, help="so many turns before and after it (of a hit: 3, else none)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    wanted = last_recall.meant(arguments.id)
    around = arguments.around
    if around is None:
        around = _OF_A_HIT if wanted != arguments.id else 0
    params: dict[str, object] = {"id": wanted, "cwd": os.getcwd()}
    with memory_access.held(looks=True) as call:
        result = call("memory_show", {**params, "around": around})
        record = _object(result["record"])
        pieces = [str(record["text"])]
        while (offset := record.pop("next", None)) is not None:
            record = _object(call("memory_show", {**params, "offset": offset})["record"])
            pieces.append(str(record["text"]))
    result["record"] = {**record, "text": "".join(pieces)}
    if arguments.json:
        output.say_json(result)
    else:
        output.page(told(result))
    return 0


def told(result: dict[str, object]) -> str:
    """The memory, marked among the turns around it, of which the first lines are shown."""
    before, after = _turns(result["before"]), _turns(result["after"])
    lines = _lines_each(len(before))
    mark = f"{output.paint('▶', 'bold')} " if before or after else ""
    said = [
        *(_shortened(turn, lines) for turn in before),
        mark + hit_text(_object(result["record"])),
        *(_shortened(turn, _LINES) for turn in after),
    ]
    return "\n\n".join(said)


def _turns(found: object) -> list[dict[str, object]]:
    return found if isinstance(found, list) else []


def _lines_each(turns: int) -> int:
    """How many lines of each turn before it leave a third of the first page to the memory itself."""
    size = output.terminal_size()
    if size is None or not turns:
        return _LINES
    return min(_LINES, max(_FEWEST, size.lines * 2 // 3 // turns - _AROUND))


def _shortened(turn: dict[str, object], most: int) -> str:
    size = output.terminal_size()
    columns = size.columns if size is not None and size.columns else _COLUMNS
    text = str(turn["text"])
    lines = text.split("\n")
    shown: list[str] = []
    left = most
    for line in lines:
        if left <= 0:
            break
        shown.append(line[: left * columns])
        left -= max(1, -(-len(line) // columns))
    if sum(map(len, shown)) + len(shown) - 1 >= len(text):
        return hit_text(turn)
    said = hit_text({**turn, "text": "\n".join(shown)})
    if turn.get("excerpt"):  # it is told already where the whole is
        return said
    more = len(lines) - len(shown)
    rest = "1 more line" if more == 1 else f"{more} more lines" if more else "more of this line"
    left_out = f"… {rest} (iai-mcp show {turn['id']})"
    return f"{said}\n{output.paint(left_out, 'dim')}"


def _object(found: object) -> dict[str, object]:
    assert isinstance(found, dict)  # noqa: S101 - the method's own promise
    return found
