"""Text that others wrote, as it may stand before people: to be seen, never to be obeyed."""

import re
from collections.abc import Mapping

# What a terminal obeys (C0, DEL, C1, lone bytes of file names that are not UTF-8), what turns the
# order of letters around, what breaks lines without being a line break, and what is there without
# being seen. Joiners and marks that scripts and emoji need stay.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u180e\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e007f\ud800-\udfff]"
)

_WORK = {
    "command": ("command", "commands"),
    "edit": ("edit", "edits"),
    "looked": ("look", "looks"),
}


def shown(text: str) -> str:
    """`text` with everything that acts spelt out (`\\x1b`); line breaks and tabs stay."""
    return _OBEYED.sub(_spelt, text.replace("\r\n", "\n"))


def shown_line(text: str) -> str:
    """The same on one line: for names and other values that stand in a line of ours."""
    return shown(text).replace("\n", "\\n").replace("\t", "\\t")


def memories(count: object) -> str:
    """So many of them, in words: "1 memory"."""
    return "1 memory" if count == 1 else f"{count} memories"


def memories_and_work(count: int, kinds: Mapping[str, int]) -> str:
    """The same beside what was done, by its kinds: "2 memories, 1 command and 3 edits"."""
    parts = [memories(count)] if count or not kinds else []
    for kind, (one, several) in _WORK.items():
        if number := kinds.get(kind, 0):
            parts.append(f"{number} {one if number == 1 else several}")
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def shortened(text: str, longest: int) -> str:
    """`text` on one line, cut at a word where it is long."""
    line = " ".join(text.lstrip()[: longest * 4].split())
    if len(line) <= longest:
        return line
    cut = line.rfind(" ", longest // 2, longest)
    return f"{line[: cut if cut > 0 else longest]}…"


def _spelt(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")
