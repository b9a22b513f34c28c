"""The same program in an older version, and callers that go on talking while it is swapped."""

import threading
from collections.abc import Callable
from pathlib import Path

from tests.support.daemon import until
from tests.support.home import SOURCE

OLD = "0.0.9"
Say = Callable[[str], None]


def older_source(place: Path, **changed: tuple[str, str]) -> Path:
    """The same program, but for its version and what is changed."""
    package = place / "iai_mcp"
    package.mkdir()
    for each in (SOURCE / "iai_mcp").iterdir():
        if each.name == "__pycache__":
            continue
        if each.stem in changed:
            text = each.read_text()
            assert changed[each.stem][0] in text
            (package / each.name).write_text(text.replace(*changed[each.stem]))
        elif each.name != "__init__.py":
            (package / each.name).symlink_to(each)
    (package / "__init__.py").write_text(f'__version__ = "{OLD}"\n')
    return place


class Caller:
    """Calls one time after the other on a thread of its own, and asks for nothing twice."""

    def __init__(self, name: str, say: Say) -> None:
        self.said: list[str] = []
        self.failed = ""
        self._name = name
        self._say = say
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._enough.is_set():
            number += 1
            words = f"{self._name} says sentence number {number}"
            try:
                self._say(words)
            except (OSError, AssertionError) as problem:
                self.failed = f"{words}: {problem!r}"
                return
            self.said.append(words)

    def says_more(self, count: int = 20) -> None:
        goal = len(self.said) + count
        until(lambda: len(self.said) >= goal or self.failed, "more was said")

    def finish(self) -> None:
        self._enough.set()
        self._thread.join(60)
