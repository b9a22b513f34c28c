"""The few lines of a command's output that tell what happened, and a command cut to size.

Twice: a hook keeps what may tell, with what stands before it (`rough`), since a password is known by
what stands around it; when it was redacted, only the lines that tell stay (`telling`).
Hooks run this in a process that lives for milliseconds: plain loops, no regular expressions.
"""

MOST_BYTES = 2048  # of one command with all that is kept of its output
_MOST_COMMAND = 1400
_MOST_OUTPUT = 1200
_LONGEST_LINE = 300
_LOOKED_AT = 256 * 1024  # characters from either end: what tells stands there
_ROUGH_TAIL = 1600  # characters
_ROUGH_ERRORS = 1600
_LONGEST_ROUGH_LINE = 1000
_SHORT = 400  # bytes: so little tells as a whole
_FIRST_ERRORS = 9
_LAST_ERRORS = 5
_CUT = "…"
_KEY_BEGINS, _KEY_ENDS, _KEY = "-----BEGIN ", "-----END ", "PRIVATE KEY"
_WORDS_AFTER_A_CUT = 4

# fmt: off
_ERRORS = (
    "error", "fail", "panic", "exception", "traceback", "fatal", "undefined", "cannot", "can't",
    "could not", "not found", "no such", "denied", "refused", "unknown", "unexpected", "invalid",
    "missing", "mismatch", "unable", "conflict", "rejected", "timed out", "timeout", "abort",
    "killed", "segmentation", "did not", "not enough", "too many", "unused", "expected",
)
_SUMMARIES = (
    "passed", "failed", "tests", "test suites", "ok  ", "pass", "issues", "errors", "warnings",
    "examples", "assertions", "finished", "built", "compiled", " total", "real\t",
)
# These print what stands in files, where "error" is a word like any other.
_READERS = frozenset((
    "cat", "head", "tail", "less", "more", "bat", "sed", "awk", "grep", "egrep", "rg", "ag", "find",
    "fd", "ls", "tree", "jq", "nl", "diff", "xxd", "strings", "sort", "cut", "strace", "echo",
))
_GIT_READERS = frozenset(("diff", "show", "log", "blame", "grep", "cat-file", "ls-files", "ls-tree"))
# These print the state of something.
_GIT_STATE = frozenset(("status", "rev-parse", "describe", "reflog", "shortlog", "remote", "ls-remote"))
_GH_STATE = frozenset(("view", "list", "checks", "status", "diff"))
# What makes readers write: options, and actions of find.
_CHANGING = {"sed": ("-i", "--in-place"), "find": ("-delete", "-exec", "-ok", "-fprint"), "sort": ("-o",)}
_STATE = frozenset(("printenv", "pwd", "which", "whoami", "env", "ps", "wc", "stat", "file", "date", "true", "sleep", "type", "test"))
# fmt: on


def rough(output: str, command: str, *, failed: bool) -> str:
    """Of an output what may tell: errors, and the end as it stands there; at most some 3 KB.

    Of what a command only read from files, and of much of it, nothing.
    """
    lines = _lines(output)
    if not failed and sum(map(len, lines)) > _SHORT and is_reading(command):
        return ""
    tail: list[str] = []
    room = _ROUGH_TAIL
    for line in reversed(lines):
        room -= len(line)
        if room < 0 and tail:
            break
        tail.append(_short(line, _LONGEST_ROUGH_LINE))
    before = lines[: len(lines) - len(tail)]
    return "\n".join([*_errors(before, _ROUGH_ERRORS, _LONGEST_ROUGH_LINE), *reversed(tail)])


def _errors(lines: list[str], room: int, longest: int) -> list[str]:
    """Lines that speak of errors, from both ends, each with the one before it."""
    wanted: dict[int, None] = {}
    for n in _ends([n for n, line in enumerate(lines) if _has(line, _ERRORS)]):
        if n and n - 1 not in wanted:
            wanted[n - 1] = None
        wanted[n] = None
    kept: list[str] = []
    for n in sorted(wanted):
        line = _short(lines[n], longest)
        room -= len(line)
        if room >= 0:
            kept.append(line)
    return kept


def _ends(places: list[int]) -> list[int]:
    if len(places) <= _FIRST_ERRORS + _LAST_ERRORS:
        return places
    return places[:_FIRST_ERRORS] + places[-_LAST_ERRORS:]


def telling(output: str, command: str, *, failed: bool) -> str:
    """Of an output only errors, summaries and the end; all of it where it is short."""
    room = min(_MOST_OUTPUT, MOST_BYTES - len(command.encode("utf-8", "replace")))
    lines = _lines(output)
    whole = "\n".join(lines)
    if len(whole) <= _SHORT:
        return _within(whole, room)
    if not failed and is_reading(command):
        return ""
    return _within("\n".join(_chosen(lines, failed=failed)), room)


def cut_command(command: str) -> str:
    """The command verbatim, without what it writes into files; of a very long one both ends."""
    kept = _without_written(command.strip())
    if len(kept) <= _MOST_COMMAND and len(kept.encode("utf-8", "replace")) <= _MOST_COMMAND:
        return kept
    return _within(kept, _MOST_COMMAND)


def is_reading(command: str) -> bool:
    """Whether a command only shows what is in files: what it prints is theirs, not its own."""
    return all(_reads(pipeline[0].split()) for pipeline in _pipelines(command))


def is_looking(command: str) -> bool:
    """Whether a command only reads files or state: it changes nothing, so it fixes nothing."""
    for pipeline in _pipelines(command):
        words = pipeline[0].split()
        if not (_reads(words) or _asks_state(words)) or any(map(_writes, pipeline)):
            return False
    return True


def _asks_state(words: list[str]) -> bool:
    plain = [word for word in _arguments(words) if word[0] != "-"]
    program = plain[0].rsplit("/", 1)[-1] if plain else ""
    if program == "git":
        return len(plain) > 1 and plain[1] in _GIT_STATE
    if program == "gh":
        return not _GH_STATE.isdisjoint(plain[1:3])
    return program in _STATE or words[-1] == "--version" or words[:2] == ["command", "-v"]


def _reads(words: list[str]) -> bool:
    words = _arguments(words)
    if not words:
        return True
    program = words[0].rsplit("/", 1)[-1]
    if program == "git":
        return next((word for word in words[1:] if word[0] != "-"), "") in _GIT_READERS
    return program in _READERS or program == "cd"


def _arguments(words: list[str]) -> list[str]:
    """The words without variables before the program, and without the directory of `git -C`."""
    words = [word for word in words if "=" not in word or word.startswith("-")]
    if words[:1] == ["git"]:
        after = [at + 1 for at, word in enumerate(words) if word in ("-C", "-c")]
        words = [word for at, word in enumerate(words) if at not in after]
    return words


def _writes(step: str) -> bool:
    """Whether a reader changes files all the same."""
    words = step.split()
    program = words[0].rsplit("/", 1)[-1] if words else ""
    if program in ("tee", "xargs"):
        return True
    changing = _CHANGING.get(program, ())
    if any(word.startswith(flag) for word in words[1:] for flag in changing):
        return True
    before, _, target = step.replace(">>", ">").partition(">")
    return (
        bool(target) and not target.lstrip().startswith(("&", "/dev/null")) and before[-1:] != "-"
    )


def _pipelines(command: str) -> list[list[str]]:
    """The single commands of a line, each with what it is piped into."""
    plain = _without_quoted(command)
    steps = plain.replace("||", "&&").replace(";", "&&").replace("\n", "&&").split("&&")
    return [
        [part.strip().lstrip("(").strip() for part in step.split("|")]
        for step in steps
        if step.strip()
    ]


def _without_quoted(command: str) -> str:
    """The command with a letter in place of every quoted character: none of them is an operator."""
    if "'" not in command and '"' not in command and "\\" not in command:
        return command
    kept: list[str] = []
    quote, escaped = "", False
    for char in command:
        if escaped or (quote and char != quote and (char != "\\" or quote == "'")):
            kept.append("q")
            escaped = False
        elif char == "\\":
            kept.append("q")
            escaped = True
        else:
            quote = "" if quote else (char if char in "'\"" else "")
            kept.append("q" if char in "'\"" else char)
    return "".join(kept)


def _lines(output: str) -> list[str]:
    if len(output) > 2 * _LOOKED_AT:
        output = output[:_LOOKED_AT] + "\n" + output[-_LOOKED_AT:]
    found: list[str] = []
    hidden = False  # a key goes as a whole: of single lines nobody could tell what they are
    for raw in output.split("\n"):
        line = _plain(raw.rstrip("\r").rsplit("\r", 1)[-1]).rstrip()
        if _KEY_ENDS in line and _KEY in line:
            hidden = False
        elif _KEY_BEGINS in line and _KEY in line:
            hidden = True
        elif line.strip() and not hidden:
            found.append(line)
    return found


def _plain(line: str) -> str:
    """A line as it is read on a screen: without colours and other control characters."""
    if line.isprintable():
        return line
    if "\x1b" in line:
        first, *rest = line.split("\x1b")
        line = first + "".join(map(_after_escape, rest))
    return "".join(c for c in line if c == "\t" or c.isprintable())


def _after_escape(piece: str) -> str:
    if not piece.startswith("["):
        return piece[1:]
    for place, char in enumerate(piece[1:], start=2):
        if "@" <= char <= "~":
            return piece[place:]
    return ""


def _chosen(lines: list[str], *, failed: bool) -> list[str]:
    """The lines that tell, in their order, each once."""
    errors = _ends([n for n, line in enumerate(lines) if _has(line, _ERRORS)])
    last = len(lines) - 1
    tail = range(max(0, last - (12 if failed or errors else 3)), last + 1)
    summaries = [n for n in tail if _has(lines[n], _SUMMARIES)]
    wanted = sorted({*errors, *summaries, max(0, last - 1), last})
    seen: set[str] = set()
    kept: list[str] = []
    for n in wanted:
        line = _short(lines[n])
        if line not in seen:
            seen.add(line)
            kept.append(line)
    return kept


def _has(line: str, words: tuple[str, ...]) -> bool:
    small = line[:_LONGEST_LINE].lower()
    return any(word in small for word in words)


def _short(line: str, longest: int = _LONGEST_LINE) -> str:
    if len(line) <= longest:
        return line
    return _head(line[:longest].encode("utf-8", "replace"), longest - 4) + f" {_CUT}"


def _within(text: str, room: int) -> str:
    """The beginning and the end of what is longer than there is room for."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= room:
        return text
    half = (room - 8) // 2
    if half <= 0:
        return ""
    return "\n".join(filter(None, (_head(raw, half), _CUT, _tail(raw, half))))


def _head(raw: bytes, room: int) -> str:
    """No word is cut: half a password would not be known as one."""
    kept = raw[:room].decode("utf-8", "ignore")
    if raw[room : room + 1].isspace():
        return kept
    return kept[: max(kept.rfind(" "), kept.rfind("\n"), 0)]


def _tail(raw: bytes, room: int) -> str:
    """The end, from a few words after the cut: what a word is can stand before it."""
    words = raw[-room:].decode("utf-8", "ignore").split(" ")
    line = raw[-room:].decode("utf-8", "ignore").partition("\n")[2]
    return line or " ".join(words[_WORDS_AFTER_A_CUT:])


def _without_written(command: str) -> str:
    """Here-documents that become a file's contents are left out: a file is not what was done."""
    if "<<" not in command:
        return command
    kept: list[str] = []
    end: str | None = None
    for line in command.split("\n"):
        if end is not None:
            if line.strip() == end:
                kept += [_CUT, line]
                end = None
            continue
        kept.append(line)
        end = _here_document(line)
    return "\n".join(kept)


def _here_document(line: str) -> str | None:
    """The word that ends what this line writes into a file; None where it writes none."""
    before, found, after = line.partition("<<")
    if not found or after.startswith("<"):
        return None
    plain = (before + " " + after).replace("2>&1", "").replace("/dev/null", "")
    if ">" not in plain and not before.strip().startswith(("tee ", "apply_patch", "patch ")):
        return None
    words = after.lstrip("-").split()
    return words[0].strip("'\"\\;)") if words else None
