"""Patterns of paths, as in a `.gitignore`, matched in a time that no pattern can stretch.

`*` is any part of a name, `?` any letter, `[a-z]` and `[!a-z]` one of some letters, and `**` any
number of whole names. Each letter of a path is looked at once: which places of the pattern may
have been reached before it are the bits of one number, and a letter moves all of them together.
Hooks import this module, so it needs nothing.
"""

_DEEP = "**"


class PathPattern:
    """One pattern, given as the names between its slashes."""

    __slots__ = ("_any", "_deep", "_end", "_letters", "_loops", "_sets")

    def __init__(self, names: list[str]) -> None:
        self._letters: dict[str, int] = {}  # the places that a letter leads on from
        self._sets: list[tuple[int, _Letters]] = []
        self._any = 0  # the places that every letter leads on from: `?`
        self._loops = 0  # the places that a letter may leave us at: `*`
        self._deep = 0  # the places before which whole names may stand: `**`
        self._end = 1
        for name in names:
            if name == _DEEP:
                self._deep |= self._end
            else:
                self._add(name)
                self._letter("/")

    def covers(self, path: list[str]) -> bool:
        """Whether the pattern is that path (as its names), or a directory above it."""
        reached, passing = 1, 0
        known: dict[str, int] = {}
        for letter in "".join([f"{name}/" for name in path]):
            if letter == "/":
                reached = (reached & self._letters.get("/", 0)) << 1 | passing
                passing = 0
                if reached & self._end:
                    return True
            else:
                passing |= reached & self._deep
                if letter not in known:
                    known[letter] = self._leads_on(letter)
                reached = (reached & known[letter]) << 1 | reached & self._loops
            if not reached | passing:
                return False
        return False

    def _add(self, name: str) -> None:
        at = 0
        while at < len(name):
            letter = name[at]
            at += 1
            if letter == "*":
                self._loops |= self._end
            elif letter == "?":
                self._any |= self._end
                self._end <<= 1
            elif letter == "[" and (close := _end_of_set(name, at)):
                self._sets.append((self._end, _Letters(name[at:close])))
                self._end <<= 1
                at = close + 1
            else:
                self._letter(letter)

    def _letter(self, letter: str) -> None:
        self._letters[letter] = self._letters.get(letter, 0) | self._end
        self._end <<= 1

    def _leads_on(self, letter: str) -> int:
        places = self._letters.get(letter, 0) | self._any
        for place, letters in self._sets:
            if letter in letters:
                places |= place
        return places


class _Letters:
    """What stands between brackets."""

    __slots__ = ("_negated", "_ranges", "_single")

    def __init__(self, said: str) -> None:
        self._negated = said.startswith("!")
        rest = said.removeprefix("!")
        self._single: set[str] = set()
        self._ranges: list[tuple[str, str]] = []
        at = 0
        while at < len(rest):
            if rest[at + 1 : at + 2] == "-" and at + 2 < len(rest):
                self._ranges.append((rest[at], rest[at + 2]))
                at += 3
            else:
                self._single.add(rest[at])
                at += 1

    def __contains__(self, letter: str) -> bool:
        held = letter in self._single or any(a <= letter <= b for a, b in self._ranges)
        return held != self._negated


def _end_of_set(name: str, start: int) -> int:
    """Where the bracket closes that was opened before `start`; 0 if it does not."""
    first = start + (name[start : start + 1] == "!")
    return max(name.find("]", first + 1), 0)  # one that comes first is a letter
