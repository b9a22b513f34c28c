"""Parts that every text answer shares: short ids, dates, speakers, and stored text made safe to quote."""

import re

from iai_mcp.domain.memories import Memory, Provenance
from iai_mcp.domain.quoting import in_line

ID_DIGITS = 8
_LONGEST_NAME = 120  # characters
_PERSON = "you"
# A stored line that looks like one of our own: a result's id, or a heading of an answer. Some readers
# take more characters than the line feed for the end of a line.
_OURS = re.compile(
    r"(?:^|(?<=[\r\v\f\x1c-\x1e\x85\u2028\u2029]))"
    r"(?=\[[0-9a-f]{6,36}\]|more \(memory_show|No good match;|next: |> asked: |\(continues: |\(older turns: )",
    re.MULTILINE | re.IGNORECASE,
)


def short_id(public_id: str) -> str:
    """The first digits of an id, as answers print it."""
    return public_id.replace("-", "")[:ID_DIGITS]


def short_ids(public_ids: "list[str]") -> dict[str, str]:
    """Short forms that tell these ids apart: eight digits, more where two would be alike."""
    digits = {one: one.replace("-", "") for one in dict.fromkeys(public_ids)}
    shortened: dict[str, str] = {}
    for one, own in digits.items():
        length = ID_DIGITS
        while length < len(own) and any(
            other[:length] == own[:length] for other in digits.values() if other != own
        ):
            length += 4
        shortened[one] = own[:length]
    return shortened


def quoted(text: str) -> str:
    """Stored text, verbatim, whose lines can not pass for lines of the answer: those begin with a space."""
    return _OURS.sub(" ", text)


def speaker(role: str, name: str, whence: Provenance) -> str:
    """Who spoke: a name where one is known, else the agent's program, else the role."""
    if role == "assistant":
        spoke = in_words(name or whence.agent_name or whence.host) or role
        return f"agent {spoke}" if spoke.casefold() == _PERSON else spoke
    return in_words(name or whence.member) or (_PERSON if role == "user" else role)


def in_words(name: str) -> str:
    """A name that others chose (of a person, an agent, a project, a file), as a part of one line."""
    return one_line(in_line(name), _LONGEST_NAME)


def speaker_of(memory: Memory) -> str:
    return speaker(memory.role, memory.speaker, memory.provenance)


def one_line(text: str, longest: int) -> str:
    """The beginning of a text as one line; an ellipsis where something is left out."""
    flat = " ".join(text[: 4 * longest].split())
    return (
        flat
        if len(flat) <= longest and len(text) <= 4 * longest
        else flat[: longest - 1].rstrip() + "…"
    )
