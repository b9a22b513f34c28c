"""Changes per file of a patch: counts of lines, names of functions and classes, never the text."""

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_NAMES = 12
_LONGEST_NAME = 80
_ACTIONS = {
    "*** Add File: ": "created",
    "*** Update File: ": "changed",
    "*** Delete File: ": "deleted",
}
_MOVED = "*** Move to: "
# fmt: off
_DEFINING = (
    "def ", "class ", "func ", "function ", "fn ", "struct ", "interface ", "trait ", "impl ", "enum ",
    "type ", "module ", "sub ", "defmodule ",
)
_BEFORE = (
    "export ", "default ", "async ", "public ", "private ", "protected ", "static ", "pub ", "pub(crate) ",
    "abstract ", "final ", "override ", "const ", "unsafe ", "extern ", "declare ",
)
# fmt: on


class Change:
    """What happened to one file."""

    __slots__ = ("action", "added", "names", "path", "removed")

    def __init__(
        self,
        path: str,
        action: str,
        added: int = 0,
        removed: int = 0,
        names: "list[str] | None" = None,
    ) -> None:
        self.path = path
        self.action = action
        self.added = added
        self.removed = removed
        self.names = names or []

    @classmethod
    def between(cls, path: str, action: str, old: str, new: str) -> "Change":
        """From what was replaced by what; lines that both sides share are not counted."""
        before, after = old.split("\n") if old else [], new.split("\n") if new else []
        start = 0
        while start < min(len(before), len(after)) and before[start] == after[start]:
            start += 1
        stop = 0
        while stop < min(len(before), len(after)) - start and before[-1 - stop] == after[-1 - stop]:
            stop += 1
        added, removed = len(after) - start - stop, len(before) - start - stop
        return cls(path, action, added, removed, names_in([*before, *after]))

    @classmethod
    def of_hunk(cls, path: str, action: str, lines: "Iterable[str]") -> "Change":
        """From lines that begin with `+`, `-` or a blank."""
        change = cls(path, action)
        change.take(lines)
        return change

    def take(self, lines: "Iterable[str]") -> None:
        """Add lines of a hunk."""
        spoken: list[str] = []
        for line in lines:
            self.added += line.startswith("+") and not line.startswith("+++")
            self.removed += line.startswith("-") and not line.startswith("---")
            spoken.append(line[1:] if line[:1] in ("+", "-", " ") else line)
        self.names = list(dict.fromkeys([*self.names, *names_in(spoken)]))[:_MOST_NAMES]


def changes_of(patch: str) -> list[Change]:
    """The files of a patch in the form that `apply_patch` takes."""
    changes: list[Change] = []
    for line in patch.split("\n"):
        opening = next((mark for mark in _ACTIONS if line.startswith(mark)), None)
        if opening is not None:
            changes.append(Change(line.removeprefix(opening).strip(), _ACTIONS[opening]))
        elif not changes or line.startswith("*** "):
            if changes and line.startswith(_MOVED):
                changes[-1].path = line.removeprefix(_MOVED).strip()
                changes[-1].action = "moved"
        elif line.startswith("@@"):
            changes[-1].take([" " + line.strip("@ ")])
        else:
            changes[-1].take([line])
    return changes


def names_in(lines: "Iterable[str]") -> list[str]:
    """The functions and classes that these lines define."""
    names: dict[str, None] = {}
    for line in lines:
        name = _defined(line.strip()[:400])
        if name:
            names[name[:_LONGEST_NAME]] = None
            if len(names) >= _MOST_NAMES:
                break
    return list(names)


def _defined(line: str) -> str:
    changed = True
    while changed:
        changed = False
        for word in _BEFORE:
            if line.startswith(word):
                line, changed = line[len(word) :], True
    keyword = next((word for word in _DEFINING if line.startswith(word)), None)
    if keyword is None:
        return ""
    rest = line[len(keyword) :].lstrip()
    if rest.startswith("("):  # Go names the receiver first
        rest = rest.partition(")")[2].lstrip()
    name = ""
    for char in rest:
        if not (char.isalnum() or char in "_$"):
            break
        name += char
    opened = rest[len(name) :].lstrip()[:1]
    is_definition = opened in ("(", "{", ":", "<", "[", "=", "") or keyword in (
        "class ",
        "impl ",
        "type ",
    )
    return name if name and not name[0].isdigit() and is_definition else ""
