"""Builds work events (commands, edits, reads) from the tool calls in a transcript.

Hosts write a call and, later, its result; each has its own tool names. A host's parser passes both
in and gets events like turns, with `kind`, `work` and the turn they belong to. File contents are
never kept: an edit has only its path, its size and the names of functions and classes.
"""

import os

from iai_mcp import paths, regular_files
from iai_mcp.hosts.patches import Change, changes_of
from iai_mcp.hosts.turns import Event, Record, encodable, moment_of, turn
from iai_mcp.protocol.compact_json import loads

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from iai_mcp.hosts.reader import Reading

# fmt: off
_COMMANDS = frozenset((
    "bash", "shell", "shell_command", "exec_command", "local_shell", "container.exec", "exec",
    "run_shell_command", "run_terminal_cmd", "run_terminal_command", "run_terminal_command_v2",
    "execute_command", "powershell",
))
_EDITS = frozenset((
    "edit", "multiedit", "write", "notebookedit", "replace", "write_file", "writefile", "strreplace",
    "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "create", "create_file",
    "edit_file", "edit_file_v2", "search_replace", "apply_patch", "patch", "delete", "delete_file",
    "insert",
))
_LOOKS = frozenset((
    "read", "view", "read_file", "read_file_v2", "read_many_files", "open_file", "grep", "glob", "ls",
    "list", "list_directory", "list_dir", "search_file_content", "grep_search", "ripgrep", "file_search",
    "codebase_search", "semsearch", "websearch", "web_search", "webfetch", "web_fetch",
    "google_web_search", "glob_file_search",
))
_QUESTIONS = frozenset(("askuserquestion", "ask_user_question", "question", "ask_user", "request_user_input"))
_PATHS = (
    "file_path", "filePath", "path", "notebook_path", "absolute_path", "relative_workspace_path",
    "target_file", "targetFile", "dir_path", "target_directory",
)
_QUERIES = ("pattern", "query", "url", "search_term", "glob_pattern", "regex")
_OLD = ("old_string", "oldString", "old_str")
_NEW = ("new_string", "newString", "new_str", "content", "file_text", "contents", "new_source", "code_edit")
# fmt: on
_LONGEST_PATH = 1024
_EXPANDED = frozenset("$`*?[]{}\\\0")  # a shell puts something else in their place
_LONGEST_QUERY = 300
_LONGEST_NOTE = 300
_MOST_PENDING = 200  # calls that wait for their results; a session has a handful


class Call:
    """A tool call as it stands in a transcript."""

    __slots__ = ("cwd", "id", "input", "name", "printed", "ts")

    def __init__(
        self, mark: str, name: object, given: object, ts: object = None, cwd: object = None
    ) -> None:
        self.id = mark
        self.name = str(name).lower()
        self.input: Record = given if isinstance(given, dict) else {}
        self.ts = ts
        self.cwd = cwd
        self.printed: list[str] = []  # by a command that still runs

    @property
    def is_work(self) -> bool:
        """Whether it is a command, an edit or a read."""
        return self.name in _COMMANDS or self.name in _EDITS or self.name in _LOOKS

    @property
    def is_question(self) -> bool:
        """Whether it asks the person something."""
        return self.name in _QUESTIONS


class Result:
    """The result of a call.

    `exit` is None if the host does not record it. `not_run`: it was refused, or never started.
    `rejection` is what the person wrote when they refused it.
    `running` is the host's id of a process that still runs.
    """

    __slots__ = (
        "changes",
        "exit",
        "failed",
        "not_run",
        "output",
        "rejection",
        "running",
        "seconds",
        "ts",
    )

    def __init__(
        self,
        output: str = "",
        *,
        exit: int | None = None,  # noqa: A002 - what everybody calls it
        failed: bool = False,
        not_run: bool = False,
        rejection: str = "",
        changes: "list[Change] | None" = None,
        seconds: float | None = None,
        ts: object = None,
        running: str = "",
    ) -> None:
        self.output = output
        self.exit = exit
        self.failed = failed or exit not in (None, 0)
        self.not_run = not_run
        self.rejection = rejection
        self.changes = changes
        self.seconds = seconds
        self.ts = ts
        self.running = running


class Setting:
    """Session, directory, agent and request that work events share with the turns around them."""

    __slots__ = (
        "agent_id",
        "agent_name",
        "branch",
        "cwd",
        "host",
        "meta",
        "root",
        "session_id",
        "turn",
    )

    def __init__(
        self,
        host: str,
        *,
        cwd: object = None,
        branch: object = None,
        agent_id: object = None,
        agent_name: object = None,
        session_id: object = None,
        turn: object = None,
        meta: "Record | None" = None,
        root: object = None,
    ) -> None:
        """`root`: where the session began; files are named as seen from there."""
        self.root = root if isinstance(root, str) and root else cwd
        self.host = host
        self.cwd = cwd
        self.branch = branch
        self.agent_id = agent_id
        self.agent_name = agent_name
        self.session_id = session_id
        self.turn = turn
        self.meta = meta


def begin(reading: "Reading", call: Call) -> None:
    """Remember a call until its result comes, possibly in a later reading.

    Only the position of its line outlives this reading: a command may contain secrets, and `carry`
    is written to a file.
    """
    if len(reading.calls) < _MOST_PENDING:
        reading.calls[call.id] = call
        places = reading.carry.setdefault("calls", {})
        if isinstance(places, dict):
            places[call.id] = reading.line


def end(
    reading: "Reading", call_id: object, calls_in: "Callable[[Record], Iterable[Call]]"
) -> Call | None:
    """The call that this result belongs to; None if it is unknown."""
    if not isinstance(call_id, str):
        return None
    places = reading.carry.get("calls")
    place = places.pop(call_id, None) if isinstance(places, dict) else None
    if isinstance(places, dict) and not places:
        reading.carry.pop("calls", None)
    call = reading.calls.pop(call_id, None)
    if call is None and isinstance(place, int):
        call = read_again(reading.path, place, call_id, calls_in)
    return call


def place_of(reading: "Reading", call_id: object) -> int | None:
    """Where the line of a remembered call begins."""
    places = reading.carry.get("calls")
    if not isinstance(places, dict) or not isinstance(call_id, str):
        return None
    place = places.get(call_id)
    return place if isinstance(place, int) else None


def read_again(
    path: str, place: int, call_id: str, calls_in: "Callable[[Record], Iterable[Call]]"
) -> Call | None:
    record = record_at(path, place)
    calls = calls_in(record) if record is not None else ()
    return next((call for call in calls if call.id == call_id), None)


def record_at(path: str, place: int) -> Record | None:
    """The object in the line of a file that begins at this byte."""
    from iai_mcp.hosts.reader import LONGEST_LINE

    try:
        with regular_files.opened(path, links=regular_files.ANYWHERE) as file:
            file.seek(place)
            record = loads(file.readline(LONGEST_LINE).decode("utf-8", "replace"))
    except (OSError, ValueError, OverflowError):
        return None
    return record if isinstance(record, dict) else None


def events_of(call: Call, result: Result, setting: Setting) -> list[Event]:
    """The events of a call that has ended."""
    if call.name in _COMMANDS:
        done = _command(call, result, setting)
    elif result.failed or result.not_run:
        done = []
    elif call.name in _EDITS:
        done = _edits(call, result, setting)
    else:
        done = _looked(call, setting)
    return done


def rejected(call: Call | None) -> Record:
    """Metadata for a refusal: the command or path that the person refused, if known."""
    about = "" if call is None else command_of(call.input) or _path(call.input)
    return {"rejected": encodable(about[:_LONGEST_NOTE])}


def exchange(
    call: Call, answers: "list[tuple[str, str]]", setting: Setting, ts: object
) -> list[Event]:
    """The host's questions to the person and the answers, as turns.

    Every question but the first has the time of the answers, so each stands before its answer.
    """
    events: list[Event] = []
    for number, (question, answer) in enumerate(answers):
        mark = f"{call.id}/{number}" if number else call.id
        for role, words, moment in (
            ("assistant", question, ts if number else call.ts),
            ("user", answer, ts),
        ):
            event = turn(
                setting.host,
                role,
                words,
                ts=moment,
                turn_id=f"{mark}/{role}",
                session_id=setting.session_id,
                cwd=setting.cwd,
                branch=setting.branch,
                agent_id=setting.agent_id,
                agent_name=setting.agent_name,
            )
            if event is None:
                continue
            if role == "user":
                event["meta"] = {"answers": encodable(question[:_LONGEST_NOTE])}
            events.append(event)
    return events


def command_of(given: Record) -> str:
    """The command line among a call's arguments; hosts also write it as a list of words."""
    value = given.get("command", given.get("cmd"))
    if isinstance(value, list):
        words = [word for word in value if isinstance(word, str)]
        if len(words) >= 3 and words[1] in ("-c", "-lc"):
            return words[2]
        return " ".join(words)
    return value if isinstance(value, str) else ""


def is_patch(command: str) -> bool:
    """Whether a command line is an edit in disguise."""
    return "*** Begin Patch" in command and "apply_patch" in command.split("*** Begin Patch", 1)[0]


def _command(call: Call, result: Result, setting: Setting) -> list[Event]:
    from iai_mcp.domain.telling import cut_command, rough  # late: only commands need it

    command = command_of(call.input)
    if is_patch(command):
        if result.failed or result.not_run:
            return []
        return _edits(Call(call.id, "apply_patch", {"input": command}, call.ts), result, setting)
    command = encodable(cut_command(command))
    if not command or (result.not_run and not result.rejection):
        return []
    note = call.input.get("description")
    summary = encodable(" ".join(note.split())[:_LONGEST_NOTE]) if isinstance(note, str) else ""
    work: Record = {"command": command, "exit": result.exit}
    where = call.input.get("workdir") or call.input.get("directory") or call.cwd or setting.cwd
    where = directory_of(command, where if isinstance(where, str) else "")
    if where:
        work["cwd"] = encodable(where[:_LONGEST_PATH])
    if result.seconds is not None:
        work["seconds"] = round(result.seconds, 1)
    if result.failed and result.exit is None:
        work["failed"] = True
    if result.not_run:
        work["rejected"] = True
    else:
        output = encodable(rough(result.output, command, failed=result.failed))
        if output:
            work["output"] = output
    text = f"{summary}\n{command}" if summary else command
    return [_event("command", call.id, text, work, call.ts, setting)]


def directory_of(command: str, where: str) -> str:
    """Where a command runs that was started in `where`: it may begin with `cd DIRECTORY &&`."""
    rest = command.lstrip()
    if not rest.startswith("cd "):
        return where
    rest = rest[3:].lstrip()
    quote = rest[:1] if rest[:1] in ("'", '"') else ""
    end = rest.find(quote, 1) if quote else len(rest)
    if not quote:
        end = min((at for at in map(rest.find, (" ", ";", "&", "\n")) if at >= 0), default=end)
    place, after = (rest[1:end], rest[end + 1 :]) if quote else (rest[:end], rest[end:])
    if end < 0 or not after.lstrip(" ").startswith(("&&", ";", "\n")) or set(place) & _EXPANDED:
        return where
    if place.startswith("~"):
        known = place == "~" or place.startswith("~/")
        return os.path.normpath(paths.home() + place[1:]) if known else where
    if place.startswith("-") or not (where.startswith("/") or place.startswith("/")):
        return where
    return os.path.normpath(os.path.join(where, place))


def _edits(call: Call, result: Result, setting: Setting) -> list[Event]:
    changes = result.changes or _changes(call)
    events: list[Event] = []
    for number, change in enumerate(changes):
        path = encodable(relative(change.path, setting.root)[:_LONGEST_PATH])
        if not path:
            continue
        names = [encodable(name) for name in change.names]
        work: Record = {
            "path": path,
            "action": change.action,
            "added": change.added,
            "removed": change.removed,
            "names": names,
        }
        if isinstance(setting.root, str) and setting.root != setting.cwd:
            work["root"] = encodable(setting.root[:_LONGEST_PATH])
        text = " ".join((change.action, path, *names))
        mark = f"{call.id}/{number}" if number else call.id
        events.append(_event("edit", mark, text, work, call.ts, setting))
    return events


def _changes(call: Call) -> list[Change]:
    """What an edit did, as far as its own arguments say it."""
    given = call.input
    patch = next(
        (given[k] for k in ("input", "patch", "patchText", "patch_text") if k in given), None
    )
    if isinstance(patch, str) and "*** " in patch:
        return changes_of(patch)
    path = _path(given)
    if not path:
        return []
    if call.name in ("delete", "delete_file"):
        return [Change(path, "deleted")]
    edits = given.get("edits")
    pairs = edits if isinstance(edits, list) else [given]
    old = "\n".join(_first(pair, _OLD) for pair in pairs)
    new = "\n".join(_first(pair, _NEW) for pair in pairs)
    action = "created" if call.name in ("create", "create_file") else "changed"
    return [Change.between(path, action, old, new)]


def _looked(call: Call, setting: Setting) -> list[Event]:
    given = call.input
    listed = given.get("paths")
    paths = [relative(_path(given), setting.root)]
    paths += (
        [relative(path, setting.root) for path in listed if isinstance(path, str)]
        if isinstance(listed, list)
        else []
    )
    queries = [given[key] for key in _QUERIES if isinstance(given.get(key), str)]
    work: Record = {
        "paths": [encodable(path[:_LONGEST_PATH]) for path in paths if path],
        "queries": [encodable(str(query)[:_LONGEST_QUERY]) for query in queries if query],
    }
    text = " ".join((*work["paths"], *work["queries"]))  # type: ignore[misc]  # lists of text
    return [_event("looked", call.id, text, work, call.ts, setting)] if text.strip() else []


def _event(kind: str, mark: str, text: str, work: Record, ts: object, setting: Setting) -> Event:
    event: Event = {
        "kind": kind,
        "role": "tool",
        "id": encodable(mark),
        "text": text,
        "work": work,
        "host": setting.host,
    }
    moment = moment_of(ts)
    if moment is not None:
        event["ts"] = moment
    for key in ("turn", "session_id", "cwd", "branch", "agent_id", "agent_name"):
        value = getattr(setting, key)
        if isinstance(value, str) and value:
            event[key] = encodable(value)
    if setting.meta:
        event["meta"] = setting.meta
    return event


def relative(path: str, cwd: object) -> str:
    """The path as seen from the directory, where it lies below it."""
    if isinstance(cwd, str) and cwd and path.startswith(cwd.rstrip("/") + "/"):
        return path[len(cwd.rstrip("/")) + 1 :]
    return path.removeprefix("./")


def between(earlier: object, later: object) -> float | None:
    """Seconds from one moment of a transcript to another of at most a day later."""
    begun, ended = _seconds(earlier), _seconds(later)
    return None if begun is None or ended is None else (ended - begun) % 86_400


def _seconds(ts: object) -> float | None:
    """Seconds of the day; `datetime` takes a hook longer to import than the rest of this."""
    moment = moment_of(ts)
    if moment is None or len(moment) < 19:
        return None
    try:
        clock = moment[11:].rstrip("Z").split("+")[0].split("-")[0].split(":")
        return int(clock[0]) * 3600 + int(clock[1]) * 60 + float(clock[2])
    except (ValueError, IndexError):
        return None


def _path(given: Record) -> str:
    return _first(given, _PATHS)


def _first(given: object, keys: tuple[str, ...]) -> str:
    if not isinstance(given, dict):
        return ""
    for key in keys:
        value = given.get(key)
        if isinstance(value, str) and value:
            return value
    return ""
