"""The mark that everything we inject into a session carries, so that it is never captured again.

Injection wraps its text with `wrap`; capture takes it out with `without_injected`.
"""

_NAME = "iai-mcp-memory"
OPEN = f"<{_NAME}>"
CLOSE = f"</{_NAME}>"

# A host may cut a block: then this is what tells it from somebody's words about the mark.
_BEGINS = "From earlier sessions (iai-mcp"
HEADING = (
    f"{_BEGINS}, the memory shared by all agents here; what is indented quotes what was said):"
)

# Gemini CLI and Qwen Code escape what hooks say before they put it into the user's message.
_BRACKETS = (("<", ">"), ("&lt;", "&gt;"))
_NEAR = 200  # letters; how far a wrapper or our heading may be from a mark
_HOOKS_OPEN = "<hook_context>"
_HOOKS_CLOSE = "</hook_context>"


def wrap(text: str) -> str:
    """`text` with our heading and marks around it. No mark inside it begins or ends a block.

    The daemon has quoted what people said; this holds whatever it answered.
    """
    for bracket, _ in _BRACKETS:
        for slash in ("", "/"):
            text = text.replace(f"{bracket}{slash}{_NAME}", f"‹{slash}{_NAME}")
    return f"{OPEN}\n{HEADING}\n{text}\n{CLOSE}"


def without_injected(text: str) -> str:
    """`text` without any block of ours; the very same text when there is none.

    Marks count where they begin a line; in the middle of one somebody writes about them. With our
    heading behind it a mark begins a block, which reaches to the end of the text where the host has
    cut it. Without the heading it needs an end before the next one begins.
    """
    for left, right in _BRACKETS:
        if f"{left}{_NAME}{right}" in text:
            text = _without_blocks(text, f"{left}{_NAME}{right}", f"{left}/{_NAME}{right}")
    return text


def without_hook_context(text: str) -> str:
    """The person's own words: Gemini CLI puts what hooks said in front of them."""
    at = 0
    while text.startswith(_HOOKS_OPEN, at):
        end = text.find(_HOOKS_CLOSE, at)
        if end < 0:
            return ""
        at = end + len(_HOOKS_CLOSE)
        while text[at : at + 1].isspace():
            at += 1
    return text[at:]


def _without_blocks(text: str, opening: str, closing: str) -> str:
    kept: list[str] = []
    at = end = 0
    start = _at_margin(text, opening, 0)
    while start >= 0:
        inside = start + len(opening)
        following = _at_margin(text, opening, inside)
        if 0 <= end < inside:
            end = _at_margin(text, closing, inside)
        if text[inside : inside + _NEAR].lstrip().startswith(_BEGINS):
            after = len(text) if end < 0 else end + len(closing)
        elif end >= 0 and not inside <= following < end:
            after = end + len(closing)
        else:  # somebody's words that begin with the mark
            start = following
            continue
        kept.append(text[at:start])
        at = after
        start = following if following >= after else _at_margin(text, opening, after)
    kept.append(text[at:])
    return "".join(kept).strip() if kept[1:] else text


def _at_margin(text: str, mark: str, at: int) -> int:
    """Where `mark` next begins a line, or -1."""
    start = text.find(mark, at)
    while start >= 0 and not _begins_line(text, start):
        start = text.find(mark, start + 1)
    return start


def _begins_line(text: str, at: int) -> bool:
    line = text.rfind("\n", max(0, at - _NEAR), at) + 1
    if not line and at > _NEAR:
        return False
    before = text[line:at].strip()
    # Other people's wrappers (`<hook_context>`) may stand directly before ours.
    return not before or (before.startswith("<") and before.endswith(">"))
