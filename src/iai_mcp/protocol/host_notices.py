"""What hosts tell the model in the person's place: that a task has ended, what another session sends.

It comes as the user's, as `<name …>…</name>`, and what a person typed meanwhile can stand behind it: only
that was said by them. People write about such tags, and tags of their own, too. To lose their words is
worse than to keep a notice: only what has a name, a beginning and an end as hosts write them is one.
"""

# With a newline or an element behind the opening tag.
_OF_LINES = frozenset(
    (
        "task-notification",
        "bash-notification",
        "agent-notification",
        "system-notification",
        "channel-message",
        "remote-review",
        "remote-review-progress",
        "ultraplan",
        "fork-boilerplate",
    )
)
# Those that also come with words behind it, in the same line.
_OF_WORDS = frozenset(
    (
        "teammate-message",
        "cross-session-message",
        "agent-message",
        "channel",
        "ci-monitor-event",
        "system-reminder",
        "user-prompt-submit-hook",
        "post-tool-use-hook",
        "session-start-hook",
        "new-diagnostics",
        "ide_diagnostics",
    )
)
_TICK = "tick"
_LONGEST_NAME = 64
_LONGEST_TAG = 4096
# A sentence goes on with them: its subject is the tag.
_PUNCTUATION = ",.;:!?)"
# The letters of a time of day, in whatever order its figures stand.
_OF_TIMES = frozenset(
    ("", "AM", "PM", "T", "Z", "TZ", "UTC", "GMT", "上午", "下午", "午前", "午後", "오전", "오후")
)
_LONGEST_TIME = 40
# What hosts write behind an envelope, in a line of its own: with a path, and whatever the line goes on with.
_TAILS_WITH_PATH = (
    "Read the output file to retrieve the result: ",
    "Full transcript available at: ",
)
_PEER_TAILS = (
    "This came from another Claude session — ",
    'That "other Claude session" is an agent',
)
_BEFORE_PEER_TAIL = "\n\nTh"
_PEER = "Another Claude session sent a message"
_PEER_HEADS = (f"{_PEER}:", f"{_PEER} while you were working:")


def without_notices(text: str) -> str:
    """A user's text without what the host told the model in front of it; "" where that is all of it."""
    begun = at = behind_blanks(text, 0)
    while behind := _behind_peer(text, at) or behind_notice(text, at):
        at = behind_blanks(text, behind)
    return text[at:] if at > begun else text


def behind_notice(text: str, at: int) -> int:
    """Where the notice that begins at `at` has ended, with what the host writes behind it; 0 where none does."""
    end = _behind_host_envelope(text, at)
    while end and (behind := _behind_tail(text, behind_blanks(text, end))):
        end = behind
    return end


def behind_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def behind_envelope(text: str, at: int, names: tuple[str, ...]) -> int:
    """Where the envelope that begins at `at` has ended; 0 where none does."""
    for name in names:
        if text.startswith((f"<{name}>", f"<{name} "), at):
            closing = f"</{name}>"
            end = text.find(closing, at)
            return 0 if end < 0 else end + len(closing)
    return 0


def _behind_peer(text: str, at: int) -> int:
    """Where a message of another session has ended, or its envelope begins; 0 where there is none."""
    if not text.startswith(_PEER, at):
        return 0
    line_end = _line_end(text, at)
    if text[at:line_end].rstrip() not in _PEER_HEADS:
        return 0
    first = behind_blanks(text, line_end)
    if behind_notice(text, first):
        return first
    # One search for both, no further than to the first: there may be many messages.
    tail = text.find(_BEFORE_PEER_TAIL, line_end)
    while tail >= 0 and not text.startswith(_PEER_TAILS, tail + 2):
        tail = text.find(_BEFORE_PEER_TAIL, tail + 2)
    return 0 if tail < 0 else _line_end(text, tail + 2)


def _behind_host_envelope(text: str, at: int) -> int:
    if not text.startswith("<", at):
        return 0
    name = text[at + 1 : at + 1 + _LONGEST_NAME].split(">")[0].split(" ")[0]
    if name != _TICK and name not in _OF_LINES and name not in _OF_WORDS:
        return 0
    opened = _behind_opening(text, at + 1 + len(name), name)
    closed = text.find(f"</{name}>", opened) if opened else -1
    end = closed + len(f"</{name}>")
    if closed <= opened or text[end : _line_end(text, end)].strip():
        return 0
    if name == _TICK:
        return end if _is_time(text[opened:closed]) else 0
    if text.startswith(("\n", "\r\n"), opened):
        return end
    if text[opened] == "<":
        return end if text[opened + 1].isalpha() else 0
    of_words = name in _OF_WORDS and not text[opened].isspace() and text[opened] not in _PUNCTUATION
    return end if of_words else 0


def _behind_opening(text: str, at: int, name: str) -> int:
    """Where an opening tag has ended whose name has ended at `at`: at once, or behind `key="value"`s."""
    if text.startswith(">", at):
        return 0 if name == "channel" else at + 1
    key, given, _ = text[at + 1 : at + 1 + _LONGEST_NAME].partition('="')
    if not given or not key.replace("-", "").replace("_", "").isalpha():
        return 0
    if name == "channel" and key != "source":
        return 0
    end = text.find('">', at, at + _LONGEST_TAG)
    return 0 if end < 0 or "\n" in text[at:end] else end + 2


def _behind_tail(text: str, at: int) -> int:
    """Where a line that hosts write behind an envelope has ended; 0 where none begins at `at`."""
    line_end = _line_end(text, at)
    if text.startswith(_PEER_TAILS, at):
        return line_end
    if not text.startswith(_TAILS_WITH_PATH, at):
        return 0
    path = text[at:line_end].partition(": ")[2].strip()
    on_a_drive = path[:1].isalpha() and path[1:3] in (":\\", ":/")
    is_path = on_a_drive or (path.startswith(("/", "~")) and len(path.split()) == 1)
    return line_end if is_path else 0


def _is_time(words: str) -> bool:
    """Whether it is `10:32:05 AM`, `2026-11-15T21:32:26.451Z` or the like, and nothing else."""
    hours, _, minutes = words.strip().partition(":")
    if len(words) > _LONGEST_TIME or not (hours[-1:].isdigit() and minutes[:1].isdigit()):
        return False
    return "".join(filter(str.isalpha, words)).upper() in _OF_TIMES


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
