"""A home in which everything that has a name or a text tries to act on the terminal that shows it."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
import unicodedata
from collections.abc import Sequence

from bench.scratch import Scratch

# Clipboard, title, clear, colours that are ours and colours that are not, 8-bit forms of the same,
# characters that overwrite, turn letters around, or are there without being seen.
WORDS = (
    "harmless\x1b]52;c;cHduZWQ=\x07\x1b]0;owned\x07\x1b[2J\x1b[31mFORGED\x1b[8mhidden\x1b[35m"
    "\x9b2J\x9d0;owned\x9c\x90q\x9c over\x08\x08\x08\x7fwritten\rover \u202eesrever\u202c "
    "\u2066isolated\u2069 zero\u200bwidth\ufeff \u2028line\u2029 tag\U000e0041 \x0b\x0c\x00 end"
)
# The same as far as the name of a file can be.
NAME = "odd\x1b]0;owned\x07\x1b[31mFORGED\x9b2J\u202e\r\n\x08"
_SECONDS = 60.0
# What we ourselves send: six styles and their end, and a line of progress that is drawn anew.
_OURS = re.compile("\x1b\\[(?:0|1|2|31|32|33|34)m|\r\x1b\\[K")
_UNSEEN = "\u200b\u2060\ufeff\u180e"


def acts(output: bytes) -> list[str]:
    """What in this output a terminal would obey, or would show in another order or not at all."""
    text = output.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    if "\x1b[31mFORGED" in text:
        return ["a colour that somebody else chose"]
    return sorted({repr(one) for one in _OURS.sub("", text) if _is_obeyed(one)})


def _is_obeyed(character: str) -> bool:
    if character in "\n\t":
        return False
    kind = unicodedata.category(character)
    bidi = unicodedata.bidirectional(character)
    return (
        kind in ("Cc", "Cs", "Zl", "Zp")
        or bidi in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        or character in _UNSEEN
        or 0xE0000 <= ord(character) <= 0xE007F
    )


class HostileHome:
    """Memories, projects, agents, sessions, hosts, files: all of them hostile. Has a daemon."""

    def __init__(self) -> None:
        self.scratch = Scratch()
        home = self.scratch.path
        self.project = home / "shop"
        self.odd_project = home / NAME
        self.unreadable_name = os.path.join(os.fsencode(home), b"raw\x9b2J\xff.jsonl")
        self.environment = {
            **self.scratch.environment,
            "IAI_MCP_STORE": str(home / f"store{NAME}"),
            "TERM": "xterm",
            "LC_ALL": "C.UTF-8",
            "PATH": f"{home}/bin:{os.environ['PATH']}",
        }
        for name in ("NO_COLOR", "IAI_MCP_EMBED_MODEL", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            self.environment.pop(name, None)
        self.scratch.environment = self.environment
        self.session = ""
        self.memory = ""

    def furnish(self) -> "HostileHome":
        """Fill it."""
        for project in (self.project, self.odd_project):
            (project / ".git").mkdir(parents=True)
        self.scratch.start()
        self._memories()
        found = self.scratch.call("memory_timeline", limit=1, cwd=str(self.project))["records"]
        assert isinstance(found, list)
        self.memory = str(found[0]["id"])
        self._workspace()
        self._hosts()
        self._files()
        return self

    def remove(self) -> None:
        self.piped("session", "kill", self.session or "-")
        self.piped("down")
        self.scratch.remove()

    def piped(self, *words: str) -> tuple[int, bytes]:
        """Run a command with pipes around it: its exit code, all that it said."""
        done = subprocess.run(
            self._command(words),
            env=self.environment,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout

    def at_terminal(self, *words: str, typed: bytes = b"n\n" * 6) -> bytes:
        """Run a command in a terminal where somebody answers no to everything; all that it showed."""
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (50, 200))
        modes = termios.tcgetattr(slave)
        modes[3] &= ~(termios.ECHO | termios.ECHOCTL)
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        os.write(master, typed)
        process = subprocess.Popen(
            self._command(words),
            env=self.environment,
            cwd=self.project,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        try:
            return _all_of(master, process)
        finally:
            os.close(master)
            os.close(slave)

    def _done(self, *words: str) -> bytes:
        """What a command says that must not fail."""
        code, said = self.piped(*words)
        if code:
            raise RuntimeError(f"{words} failed: {said!r}")
        return said

    def _command(self, words: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "iai_mcp.cli", *words]

    def _memories(self) -> None:
        common = {"speaker": WORDS, "branch": NAME, "agent_name": NAME, "agent_id": NAME}
        events = [
            {"text": f"We decided to use postgres on port 5433. {WORDS}", "role": "user", **common},
            {"text": f"{WORDS} Noted: postgres listens there.", "role": "assistant", **common},
        ]
        for project in (self.project, self.odd_project):
            place = str(project)
            about = {"project": place, "host": NAME, "session_id": f"{project.name}{NAME}"}
            self.scratch.call("capture_events", **about, events=events)
            self.scratch.call("session_start_payload", cwd=place, session_id=f"told{NAME}")
            self.scratch.call("project_privacy", project=place, private=True, cwd=place)
        self.scratch.call("memory_capture", text=f"Always {WORDS} answer")

    def _workspace(self) -> None:
        ideai = self.project / ".ideai"
        for kind in ("templates", "skills"):
            (ideai / kind).mkdir(parents=True, exist_ok=True)
            (ideai / kind / "plain.md").write_text(f"# Plain\n{WORDS}\n")
            (ideai / kind / f"{NAME}.md").write_text(f"{WORDS}\n")
        self._done("project", "add")
        self.piped("project", "add", "--name", NAME)
        self._done("project", "map", f"/old/{NAME}", str(self.project))
        profile = ("profile", "add", "--name", "Loud", "--injection", "env:C")
        self._done(*profile, "--command", f"cat {NAME}")
        for name in ("Ann", "Eve"):
            create = ("agent", "create", name, "--profile", "shell", "--template", "plain")
            self._done(*create, "--synchronized")
        (ideai / "templates" / "plain.md").write_text(f"# Plain, changed\n{WORDS}\n")
        said = f"import time; print({WORDS!r}, flush=True); time.sleep(600)"
        command = ("session", "start", "--detach", "--json", "--project", str(self.project))
        started = self._done(*command, "--", sys.executable, "-c", said)
        self.session = str(json.loads(started)["session"]["id"])
        # A clone whose manifest was written to be shown.
        manifest = (ideai / "agents.json").read_text()
        (self.odd_project / ".ideai").mkdir()
        odd = manifest.replace('"Ann"', json.dumps(NAME)).replace("shell", "odd\\u001b[2J")
        (self.odd_project / ".ideai" / "agents.json").write_text(odd)

    def _hosts(self) -> None:
        home = self.scratch.path
        for folder in (
            ".claude",
            ".codex",
            ".gemini",
            f".config/opencode{NAME}",
            ".config/opencode",
        ):
            (home / folder).mkdir(parents=True)
        own = json.dumps({"note": WORDS}, ensure_ascii=False)
        (home / ".claude/settings.json").write_text(own)
        (home / ".config/opencode/opencode.jsonc").write_text(f"// \x9b2J \u202e {NAME[:5]}\n{own}")
        (home / ".codex/config.toml").write_text("# \x9b2J \u202e\nmodel = 'odd\x9b2J'\n")
        (home / ".gemini/settings.json").write_text("{broken " + WORDS)

    def _files(self) -> None:
        home = self.scratch.path
        for path in (str(home / f"{NAME}.jsonl").encode(), self.unreadable_name):
            with open(path, "wb") as file:
                file.write(b'{"type":"user","message":{"role":"user","content":"hi"}}\n{broken')
        store = self.environment["IAI_MCP_STORE"]
        with open(os.path.join(store, "never-capture"), "w", encoding="utf-8") as file:
            file.write(f"/nowhere/{NAME}\n")
        (home / "export.jsonl").write_text('{"iai-mcp-export":1,"salt":"' + "\n")


def _all_of(master: int, process: "subprocess.Popen[bytes]") -> bytes:
    shown = b""
    ends_at = time.monotonic() + _SECONDS
    while True:
        ended = process.poll() is not None
        while select.select([master], [], [], 0.005)[0]:
            shown += os.read(master, 65_536)
        if ended:
            return shown
        if time.monotonic() > ends_at:
            process.kill()
            process.wait()
            return shown + b"\x1b the command did not end"
