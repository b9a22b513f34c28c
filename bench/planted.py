"""Texts with secrets planted in them, and innocent ones: what redaction is judged by.

The files in `data/secrets` hold texts by kind, each below a line `%%% what it is`. `<<shape>>`
stands for a secret that is made when the text is read, `<<~shape>>` for a value that is none, and
`␛` for the escape character.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.shapes import Shapes

_DATA = Path(__file__).parent / "data" / "secrets"
_INNOCENT = "innocent"
_PLACE = re.compile(r"<<(~?)([a-z0-9_]+(?::[^<>]+)?)>>")
# So much of a secret that stays behind is the secret that stays behind.
_FRAGMENT = 8


@dataclass(frozen=True, slots=True)
class Planted:
    """A text, and the values in it that nobody may see."""

    kind: str
    text: str
    secrets: tuple[str, ...]

    def survivors(self, redacted: str) -> list[str]:
        """The secrets of which something can still be read."""
        return [secret for secret in self.secrets if _is_readable(secret, redacted)]


def planted(seed: int = 0, subject: str = "*") -> list[Planted]:
    """All texts with secrets, or those of one subject."""
    return [
        _filled(f"{path.stem}: {kind}", text, seed)
        for path in sorted(_DATA.glob(f"{subject}.txt"))
        if path.stem != _INNOCENT
        for kind, text in _read(path)
    ]


def innocent(seed: int = 0) -> list[Planted]:
    """Texts in which nothing is to be removed, however much some of it looks like a secret."""
    return [_filled(kind, text, seed) for kind, text in _read(_DATA / f"{_INNOCENT}.txt")]


def _read(path: Path) -> Iterator[tuple[str, str]]:
    for block in path.read_text("utf-8").split("%%% ")[1:]:
        kind, _, text = block.partition("\n")
        yield kind, text.removesuffix("\n").replace("␛", "\x1b")


def _filled(kind: str, text: str, seed: int) -> Planted:
    shapes = Shapes(f"{kind} {seed}")
    secrets: list[str] = []

    def fill(place: re.Match[str]) -> str:
        value = shapes.make(place[2])
        if not place[1]:
            secrets.append(value)
        return value

    return Planted(kind, _PLACE.sub(fill, text), tuple(secrets))


def _is_readable(secret: str, redacted: str) -> bool:
    lines = [line.strip() for line in re.split(r"\n|\\n", secret) if not _is_edge(line.strip())]
    return any(
        line[at : at + _FRAGMENT] in redacted
        for line in lines
        if line
        for at in range(max(1, len(line) - _FRAGMENT + 1))
    )


def _is_edge(line: str) -> bool:
    """Lines around a key that say what it is: no secret."""
    return line.startswith(("-----", "PuTTY-", "Encryption:", "Comment:", "Public-", "Private-L"))
