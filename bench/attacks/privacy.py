"""An agent in one project asks for what stands below a private directory."""

from collections.abc import Iterator
from pathlib import Path

from tests.support.git import git, repository

from bench.attacks.outcome import Outcome
from bench.attacks.projects import Bridge, running
from bench.scratch import Scratch

WORD = "nightjar"
BELOW = ("", "clients/acme", "repo1", "repo1/src", "made/later")


def attacks() -> Iterator[Outcome]:
    with running() as home:
        scene = _Scene(home)
        yield scene.from_below()
        yield scene.work()
        yield scene.known_already()
        yield scene.counted()


class _Scene:
    """A private directory with projects below it, another project, and a session through both."""

    def __init__(self, home: Scratch) -> None:
        self._home = home
        room = home.path.resolve()
        self.notes, self.other = room / "notes", repository(room / "other")
        self.inside = repository(self.notes / "repo1")
        git("worktree", "add", "-q", str(room / "feature"), cwd=self.inside)
        home.call("project_privacy", project=str(self.notes), private=True)
        self.places = [*(self.notes / below for below in BELOW), room / "feature"]
        for number, place in enumerate(self.places):
            home.call("memory_capture", text=f"{WORD} {number}", cwd=str(place), session_id="s")
        home.call("capture_events", session_id="both", host="h", events=self._events())
        with Bridge(home, self.notes) as inside:  # without this nothing is proved by silence
            assert WORD in inside.tool("memory_recall", cue=WORD)

    def _events(self) -> list[dict[str, object]]:
        steps: list[tuple[str, Path, str]] = [
            ("user", self.other, "build the heron"),
            ("tool", self.inside, f"make {WORD}"),
            ("user", self.inside, f"now ship the heron to {WORD}"),
            ("tool", self.other, "make heron"),
        ]
        return [
            {
                "role": role,
                "cwd": str(cwd),
                "text": text,
                "id": f"e-{number}",
                "ts": f"2026-01-01T10:0{number}:00Z",
                **({"kind": "command", "work": {"command": text}} if role == "tool" else {}),
            }
            for number, (role, cwd, text) in enumerate(steps)
        ]

    def from_below(self) -> Outcome:
        held = 0
        with Bridge(self._home, self.other) as caller:
            for place in self.places:
                asked = {"cue": WORD, "project": str(place), "context": 5}
                held += WORD not in caller.tool("memory_recall", **asked)
        name = "a subdirectory, nested repository or worktree of a private directory is told"
        return Outcome(name, held, len(self.places))

    def work(self) -> Outcome:
        questions: list[tuple[str, dict[str, object]]] = [
            ("memory_timeline", {}),
            ("memory_timeline", {"session_id": "both"}),
            ("memory_recall", {"cue": "make heron", "kind": "did"}),
            ("memory_recall", {"cue": "how to ship the heron", "kind": "did"}),
        ]
        with Bridge(self._home, self.other) as caller:
            caller.tool("memory_capture", text="planted", session_id="both")
            answers = [caller.tool(tool, **given) for tool, given in questions]
        held = sum(WORD not in answer for answer in answers)
        return Outcome("commands and requests of a private project are told", held, len(answers))

    def known_already(self) -> Outcome:
        with Bridge(self._home, self.other) as caller:
            told = caller.tool("memory_capture", text=f"{WORD} 0", session_id="s")
        name = "capturing a text tells whether a private project holds it"
        return Outcome(name, int("inserted" in told), 1)

    def counted(self) -> Outcome:
        with Bridge(self._home, self.other) as caller:
            before = caller.tool("topology")
            for number in range(5):
                more = {"text": f"{WORD} more {number}", "cwd": str(self.inside), "session_id": "t"}
                self._home.call("memory_capture", **more)
            after = caller.tool("topology")
        return Outcome("counts tell how much a private project holds", int(before == after), 1)
