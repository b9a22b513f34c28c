"""The mark that everything we inject into a session carries, so that it is never captured again.

Injection wraps its text with `wrap`; capture takes it out with `without_injected`.
"""

OPEN = "<iai-mcp-memory>"
CLOSE = "</iai-mcp-memory>"


def wrap(text: str) -> str:
    """`text` marked as ours. A closing mark inside it can not end the span early."""
    return f"{OPEN}\n{text.replace(CLOSE, '')}\n{CLOSE}"


# Gemini CLI and Qwen Code escape what hooks say before they put it into the user's message.
_SPELLINGS = ((OPEN, CLOSE), ("&lt;iai-mcp-memory&gt;", "&lt;/iai-mcp-memory&gt;"))
_HOOKS_OPEN = "<hook_context>"
_HOOKS_CLOSE = "</hook_context>"


def without_injected(text: str) -> str:
    """`text` without any span of ours; the very same text when there is none.

    Hosts cut long injections: a span without its end reaches to the end of the text. A mark in
    the middle of a line is somebody writing about it, and stays.
    """
    for opening, closing in _SPELLINGS:
        if opening in text:
            text = _without_spans(text, opening, closing)
    return text


def without_hook_context(text: str) -> str:
    """The person's own words: Gemini CLI puts what hooks said in front of them."""
    while text.startswith(_HOOKS_OPEN):
        end = text.find(_HOOKS_CLOSE)
        if end < 0:
            return ""
        text = text[end + len(_HOOKS_CLOSE) :].lstrip()
    return text


def _without_spans(text: str, opening: str, closing: str) -> str:
    kept: list[str] = []
    at = 0
    while (start := _next_open(text, opening, at)) >= 0:
        kept.append(text[at:start])
        end = text.find(closing, start)
        at = len(text) if end < 0 else end + len(closing)
    kept.append(text[at:])
    return "".join(kept).strip() if len(kept) > 1 else text


def _next_open(text: str, opening: str, at: int) -> int:
    while (start := text.find(opening, at)) >= 0:
        line = text[text.rfind("\n", 0, start) + 1 : start]
        # Other people's wrappers (`<hook_context>`) may stand directly before ours.
        if not line.strip() or line.rstrip().endswith(">"):
            return start
        at = start + 1
    return -1
