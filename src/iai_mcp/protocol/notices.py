"""What hosts tell the model in the person's place: that a task has ended, what another session sends.

It comes as the user's, as `<name …>…</name>`, and what a person typed meanwhile can stand behind it: only
that was said by them. In the middle of a text such a tag is something that somebody writes about.
"""

_NOTICES = (
    "task-notification",
    "bash-notification",
    "agent-notification",
    "system-notification",
    "teammate-message",
    "cross-session-message",
    "agent-message",
    "channel source=",
    "channel-message",
    "tick",
    "remote-review",
    "remote-review-progress",
    "ultraplan",
    "fork-boilerplate",
    "ci-monitor-event",
)
# Others that have come and gone by the end of their names; people write tags of their own, too.
_NOTICE_ENDINGS = ("-hook", "-diagnostics", "-reminder")
_LONGEST_NAME = 64
_BY_A_PEER = "This came from another Claude session"
# What hosts write behind an envelope, in a line of its own.
_TAILS = (
    "Read the output file to retrieve the result:",
    "Full transcript available at:",
    _BY_A_PEER,
    'That "other Claude session" is an agent',
)
_PEER = ("Another Claude session sent a message:", "Another Claude session sent a message while")
# Of one line, with a name that a person typed.
_UNKNOWN = ("Unknown slash command: ", "Unknown skill: ")


def without_notices(text: str) -> str:
    """A user's text without what the host told the model in front of it; "" where that is all of it."""
    at = behind_blanks(text, 0)
    if text.startswith(_UNKNOWN, at) and len(text.split(": ", 1)[1].split()) == 1:
        return ""
    if text.startswith(_PEER, at):
        line_end = text.find("\n", at)
        first = behind_blanks(text, len(text) if line_end < 0 else line_end)
        if behind_notice(text, first):
            at = first
        elif f"\n\n{_BY_A_PEER}" in text[first:]:
            return ""
    begun = at
    while behind := behind_notice(text, at):
        at = behind_blanks(text, behind)
    return text[at:] if at > begun else text


def behind_notice(text: str, at: int) -> int:
    """Where the notice that begins at `at` has ended, with what the host writes behind it; 0 where none does."""
    if not text.startswith("<", at):
        return 0
    names: tuple[str, ...] = _NOTICES
    name = text[at + 1 : at + _LONGEST_NAME].split(">")[0].split(" ")[0]
    if name.endswith(_NOTICE_ENDINGS) and name.replace("-", "").isalpha():
        names = (name,)
    end = behind_envelope(text, at, names)
    while end and text.startswith(_TAILS, tail := behind_blanks(text, end)):
        line_end = text.find("\n", tail)
        end = len(text) if line_end < 0 else line_end
    return end


def behind_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def behind_envelope(text: str, at: int, names: tuple[str, ...]) -> int:
    """Where the envelope that begins at `at` has ended; 0 where none does."""
    for name in names:
        if text.startswith((f"<{name}>", f"<{name} ") if "=" not in name else f"<{name}", at):
            closing = f"</{name.split(' ')[0]}>"
            end = text.find(closing, at)
            return 0 if end < 0 else end + len(closing)
    return 0
