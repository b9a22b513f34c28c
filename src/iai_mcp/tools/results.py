"""What a tool answers: the object for programs, and the same object as text for models.

The text is the object's JSON, as the protocol recommends: hosts differ in which of the two they
show, and clients of older protocol versions are sent the text alone.
"""

import json
from dataclasses import dataclass

from iai_mcp.domain.errors import IaiError
from iai_mcp.protocol.codes import MAX_LINE

# Room for the envelope around the two: ids, `_meta`, the server's name.
_ENVELOPE = 64 * 1024


class AnswerTooLongError(IaiError):
    """The answer does not fit a line of the protocol."""

    code = "TOO_LONG"


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` and `structured` say the same; together they fit one line."""

    text: str
    structured: dict[str, object] | None


def answer(result: dict[str, object], *, text_only: bool = False) -> Answer:
    """Word a result for the wire; `text_only` for clients that know no structured content.

    Raises:
        AnswerTooLongError: it does not fit a line.
    """
    text = json.dumps(result, ensure_ascii=False, separators=(",", ":"), default=str)
    room = MAX_LINE - _ENVELOPE
    # A line's writer may put a space after each comma and colon.
    bare = _bytes(text) + text.count(",") + text.count(":")
    quoted = _bytes(json.dumps(text, ensure_ascii=False))
    if (quoted if text_only else bare) > room:
        raise AnswerTooLongError(
            f"the answer is longer than the {MAX_LINE // (1024 * 1024)} MiB that one message may "
            "have: ask for less (a smaller limit or budget, or a narrower time)"
        )
    if text_only:
        return Answer(text, None)
    if bare + quoted > room:
        text = "The answer is in the structured content only: it is too long to send twice."
    return Answer(text, result)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
