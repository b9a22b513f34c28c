"""SpecStory: `.specstory/history/*.md`, one session of another agent program per file.

A turn begins with a line such as `_**User (2026-03-01 09:30:00Z)**_` or `_**Agent (model time)**_`,
and `---` ends it where the speaker changes. Tool calls and thoughts are blocks of HTML.
"""

import os

from iai_mcp.hosts import work
from iai_mcp.hosts.reader import Reading, contents, name_of
from iai_mcp.hosts.turns import Event, count_occurrence, digest, is_wrapper, turn
from iai_mcp.hosts.usage import attach, usage
from iai_mcp.hosts.work import Call, Result, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "specstory"

_ROLES = {"User": "user", "Agent": "assistant", "Assistant": "assistant"}
_BEGIN, _END = "_**", "**_"
_SIDECHAIN = "sidechain"
# Blocks of the agent's side that nobody said, with what ends each.
_BLOCKS = (("<tool-use", "</tool-use>"), ("<think>", "</think>"), ("<details>", "</details>"))
_SHELL = 'data-tool-type="shell"'
_SESSION = (" Session ", " (")


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of one file."""
    lines = contents(reading).decode("utf-8-sig", "replace").split("\n")
    carry = reading.carry
    name, started = _session(lines)
    carry["session_id"] = name or f"{_ID}-{digest(name_of(reading.path).encode(), 8)}"
    folder = os.path.dirname(os.path.abspath(reading.path))
    if folder.endswith("/.specstory/history"):
        carry["cwd"] = os.path.dirname(os.path.dirname(folder))
    for speaker, about, body in _parts(lines):
        time, model = _time_in(about), _model_in(about)
        is_sidechain = _SIDECHAIN in about or _SIDECHAIN in speaker
        role = "assistant" if is_sidechain else _ROLES[speaker.split(" ")[0]]
        text = body.strip().removesuffix("\n---").removesuffix("---").rstrip()
        words, blocks = (text, []) if role == "user" else _without_blocks(text)
        if role == "user" and is_wrapper(words):
            continue
        event = turn(_ID, role, words, ts=time or started, cwd=carry.get("cwd"))
        if event is not None:
            if role == "assistant":
                attach(event, usage(model, None, None))
            yield _counted(event, reading)
        for block in blocks:
            for done in _work(block, time or started, carry.get("cwd")):
                yield _counted(done, reading)


def _counted(event: Event, reading: Reading) -> Event:
    event["occurrence"] = count_occurrence(reading.seen(), event)
    return event


def _session(lines: list[str]) -> tuple[str, str]:
    """(id, time) of the session, from the comment or the title at the top."""
    for line in lines[:20]:
        if line.startswith("<!-- ") and _SESSION[0] in line:
            name, _, rest = line.partition(_SESSION[0])[2].partition(_SESSION[1])
            return name.removesuffix(" -->").strip(), _time_in(rest)
    title = next((line for line in lines[:20] if line.startswith("# ")), "")
    return "", _time_in(title)


def _parts(lines: list[str]) -> "Iterator[tuple[str, str, str]]":
    """(speaker, what is said about the turn, text) of each turn."""
    header: tuple[str, str] | None = None
    body: list[str] = []
    for number, line in enumerate(lines):
        opening = _header(line) if not number or not lines[number - 1].strip("- \r") else None
        if opening is None:
            body.append(line.rstrip("\r"))
            continue
        if header is not None:
            yield *header, "\n".join(body)
        header, body = opening, []
    if header is not None:
        yield *header, "\n".join(body)


def _header(line: str) -> tuple[str, str] | None:
    line = line.rstrip()
    if not line.startswith(_BEGIN) or not line.endswith(_END):
        return None
    speaker, _, about = line[len(_BEGIN) : -len(_END)].partition(" (")
    return (speaker, about) if speaker.split(" ")[0] in _ROLES else None


def _time_in(text: str) -> str:
    """The time `2026-03-01 09:30:00Z` in a text, as ISO-8601; it is UTC also without the Z."""
    words = text.replace("(", " ").replace(")", " ").split()
    for number, date in enumerate(words[:-1]):
        clock = words[number + 1]
        if len(date) == 10 and date[4:5] == date[7:8] == "-" and date[:4].isdigit():
            plain = clock.rstrip("Z")
            return f"{date}T{plain}Z" if plain[:1].isdigit() and ":" in plain else ""
    return ""


def _model_in(about: str) -> str:
    first = about.removeprefix("model ").replace(",", " ").replace(")", " ").split()
    return first[0] if first and not first[0][:4].isdigit() and first[0] != "default" else ""


def _without_blocks(text: str) -> tuple[str, list[str]]:
    """What the agent said, and the blocks between."""
    spoken: list[str] = []
    blocks: list[str] = []
    while text:
        starts = [(at, end) for begin, end in _BLOCKS if (at := text.find(begin)) >= 0]
        if not starts:
            spoken.append(text)
            break
        at, end = min(starts)
        close = text.find(end, at)
        after = len(text) if close < 0 else close + len(end)
        spoken.append(text[:at])
        blocks.append(text[at:after])
        text = text[after:]
    return "\n".join(part.strip("\n") for part in spoken if part.strip()), blocks


def _work(block: str, ts: object, cwd: object) -> list[Event]:
    """The command of a shell's block; how it ended is not written there."""
    if _SHELL not in block.partition(">")[0]:
        return []
    for line in block.split("\n"):
        command = line.strip()
        if len(command) > 2 and command[0] == command[-1] == "`" and command[1] != "`":
            call = Call("", "bash", {"command": command[1:-1]}, ts)
            events = work.events_of(call, Result(), Setting(_ID, cwd=cwd))
            for event in events:
                del event["id"]
            return events
    return []
