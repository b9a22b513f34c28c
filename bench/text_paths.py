"""Every way that text from outside takes into the product, as one function each.

Texts are hostile: a repository, a transcript, a tool's output, a cue. No path may take more time than
its length allows.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from iai_mcp.api.table import dispatch
from iai_mcp.domain import (
    commands,
    foreign_text,
    moments,
    passages,
    quoting,
    shown_text,
    traits,
    whole_words,
    words,
)
from iai_mcp.domain.agents import lookup
from iai_mcp.domain.cue import analysis
from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.projects import git_output, identity, path_patterns, repository
from iai_mcp.domain.redaction import redactor, user_patterns
from iai_mcp.hosts import READABLE
from iai_mcp.hosts.config_files import jsonc, toml_file
from iai_mcp.hosts.transcripts import open_transcript
from iai_mcp.memory.question import LONGEST_CUE
from iai_mcp.protocol import compact_json, host_notices, markers
from iai_mcp.store import MemoryStore
from iai_mcp.terminal.screen import Screen
from iai_mcp.terminal.screen_paint import paint

NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)
_ROWS, _COLUMNS = 40, 120
_READ_BY_A_STORE = 6  # as prompt, answer, command, two outputs, conclusion


@dataclass(frozen=True, slots=True)
class TextPath:
    """One path. It may read `longest` characters; more never reaches it."""

    name: str
    read: Callable[[str], object]
    longest: int = 1 << 20
    times: int = 1  # how often it reads the text
    slow: bool = False  # it asks a store


def pure() -> list[TextPath]:
    """The paths that need no store."""
    return [
        TextPath("redaction", redactor.redact),
        TextPath("redaction of JSON", lambda text: redactor.redact_json(_json(text), _redacted)),
        TextPath("redaction rules", user_patterns.parse),
        TextPath("cue", lambda text: analysis.read(text, NOW), LONGEST_CUE),
        TextPath("time expression", lambda text: moments.moment(text, NOW, name="since")),
        TextPath("duration", lambda text: moments.seconds_in(text, name="pause")),
        TextPath("traits of a prompt", lambda text: traits.traits_of(text, "user")),
        TextPath("traits of an answer", lambda text: traits.traits_of(text, "assistant")),
        TextPath("words", lambda text: (words.words(text), words.indexed(text), words.count(text))),
        TextPath("passages", passages.passages),
        TextPath("quotation", lambda text: (quoting.quotation(text), quoting.in_line(text))),
        TextPath("shown text", lambda text: (shown_text.shown(text), shown_text.shown_line(text))),
        TextPath("phrase", lambda text: whole_words.Phrase(text[:1000]).is_in(text)),
        TextPath("names in texts of others", foreign_text.quoted),
        TextPath("command", _command),
        TextPath("output of a command", _output),
        TextPath("git's words", lambda text: list(git_output.repositories(text, text, "/shop"))),
        TextPath("remote of a repository", repository.of_remote),
        TextPath("path of a project", lambda text: identity.normal(f"/{text}")),
        TextPath("name of an agent", lookup.is_id_prefix),
        TextPath("path pattern", _path_pattern),
        TextPath("host's notices", host_notices.without_notices),
        TextPath("marks of injections", markers.without_injected),
        TextPath("context of hooks", markers.without_hook_context),
        TextPath("JSON", compact_json.loads),
        TextPath("JSON string", lambda text: compact_json.loads(json.dumps(text))),
        TextPath("settings of a host in JSON", jsonc.parse),
        TextPath("settings of a host in TOML", toml_file.data_of),
        TextPath("terminal screen", _screen),
        *(
            TextPath(f"transcript of {host}: {how}", _transcript(host, content))
            for host in READABLE
            for how, content in _TRANSCRIPTS.items()
        ),
    ]


@contextmanager
def stored() -> Iterator[list[TextPath]]:
    """The paths through a store of their own, asked as programs ask."""
    with tempfile.TemporaryDirectory(prefix="iai-text-") as directory:
        before = dict(os.environ)
        os.environ |= {"HOME": directory, "IAI_MCP_STORE": f"{directory}/store"}
        os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
        through = _Stored(directory)
        try:
            yield through.paths()
        finally:
            through.close()
            os.environ.clear()
            os.environ.update(before)


class _Stored:
    """Asks a store that holds the text and little else."""

    def __init__(self, directory: str) -> None:
        self._place = str(Path(directory, "shop"))
        os.mkdir(self._place)
        self._store = MemoryStore()
        self._asked = 0

    def paths(self) -> list[TextPath]:
        said, cue = self._with_text, {"project": self._place}

        def path(name: str, read: Callable[[str], object]) -> TextPath:
            return TextPath(name, read, times=_READ_BY_A_STORE, slow=True)

        return [
            path("capture", lambda text: said(text, "session_exit", session_id="s")),
            path("recall of it", lambda text: said(text, "memory_recall", cue="heron", k=20)),
            path("recall by it", lambda text: said("heron", "memory_recall", cue=text)),
            path("recall of it by it", lambda text: said(text, "memory_recall", cue=text)),
            path("start of a session", lambda text: said(text, "session_start_payload")),
            path("prompt", lambda text: said(text, "prompt_injection", prompt=text)),
            path(
                "failed command",
                lambda text: said(text, "after_failure", command=text, output=text),
            ),
            path("how", lambda text: said(text, "how", query=text, **cue)),
            path("fix", lambda text: said(text, "fix", error=text, **cue)),
            path("blame", lambda text: said(text, "blame", path=text, **cue)),
            path("timeline", lambda text: said(text, "memory_timeline", format="text", **cue)),
            path(
                "forgetting",
                lambda text: said(text, "memory_forget", query=text[:1000], dry_run=True, show=5),
            ),
        ]

    def close(self) -> None:
        self._store.close()

    def _with_text(self, text: str, method: str, **asked: object) -> object:
        """The answer of `method` while the text stands in a conversation, as prompt, answer, command
        and output."""
        store = self._store
        self._asked += 1
        session = f"s{self._asked}"
        events = [
            {"id": "1", "role": "user", "text": f"the heron {text}"},
            {"id": "2", "role": "assistant", "text": text},
            _work("3", command=text, exit=1, output=text),
            _work("4", command="make heron", exit=0, output=text),
            _work("5", path=f"{self._place}/{text[:4000]}", added=1),
            {"id": "6", "role": "assistant", "text": f"the heron is done\n{text}"},
        ]
        _ask(store, "capture_events", session_id=session, events=events, cwd=self._place)
        answer = _ask(store, method, **{"cwd": self._place, **asked})
        _ask(store, "memory_forget", session_id=session)
        return answer


def _ask(store: MemoryStore, method: str, **params: object) -> object:
    with suppress(IaiError):  # a sentence for whoever asks: fine, if it comes soon
        return dispatch(store, method, params)
    return None


def _work(number: str, **work: object) -> dict[str, object]:
    kind = "edit" if "path" in work else "command"
    text = str(work.get("command") or work.get("path"))
    return {"id": number, "role": "tool", "kind": kind, "text": text, "work": work}


def _json(text: str) -> str:
    return json.dumps({"note": text})


def _redacted(text: str) -> str:
    return redactor.redact(text).text


def _command(text: str) -> object:
    return (
        commands.same_command(text),
        commands.family(text),
        commands.has_failed(text, None, ""),
        commands.is_variant(text, "make heron"),
    )


def _output(text: str) -> object:
    return (
        commands.errors_in(text),
        commands.words_of_error(text),
        commands.has_failed("make", 1, text),
        commands.same_error(text),
    )


def _path_pattern(text: str) -> object:
    parts = text.split("/")
    return (
        path_patterns.PathPattern(parts).covers(parts[::-1]),
        path_patterns.PathPattern([text[:250]]).covers(["a" * 255]),
    )


def _screen(text: str) -> object:
    screen = Screen(_ROWS, _COLUMNS)
    screen.feed(text.encode("utf-8", "replace"))
    return paint(screen, _ROWS, modes={}, keypad=False, keyboard=0)


def _claude_code(text: str) -> str:
    use = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": text}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": True}
    return "\n".join(
        json.dumps({"type": role, "uuid": uid, "message": {"role": role, "content": content}})
        for uid, role, content in (
            ("1", "user", text),
            ("2", "assistant", [{"type": "text", "text": text}, use]),
            ("3", "user", [result]),
        )
    )


def _codex(text: str) -> str:
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    call = {"type": "function_call", "name": "shell", "call_id": "c"}
    lines = [
        said,
        {**said, "role": "assistant", "content": [{"type": "output_text", "text": text}]},
        {**call, "arguments": json.dumps({"command": ["bash", "-lc", text]})},
        {"type": "function_call_output", "call_id": "c", "output": text},
    ]
    return "\n".join(json.dumps({"type": "response_item", "payload": one}) for one in lines)


def _gemini(text: str) -> str:
    said = [{"type": role, "id": role, "content": text} for role in ("user", "gemini")]
    return json.dumps({"sessionId": "s", "messages": said})


_TRANSCRIPTS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "in lines of Claude Code": _claude_code,
    "in lines of Codex": _codex,
    "in a document of Gemini": _gemini,
}


def _transcript(host: str, content: Callable[[str], str]) -> Callable[[str], object]:
    def read(text: str) -> object:
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", errors="replace") as file:
            file.write(content(text))
            file.flush()
            return list(open_transcript(file.name, host))

    return read
