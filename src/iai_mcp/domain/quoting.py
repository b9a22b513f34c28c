"""Words of others inside a text of ours: visibly theirs, and unable to end it or to look like it.

A session reads the text as one. So every line of a quotation is indented, and a mark that could
mean something to us, to the host or to the model loses its bracket (`‹/iai-mcp-memory>`): visible,
readable, and no mark any more.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from iai_mcp.domain.shown_text import shown

# Four: behind them Markdown knows neither headings nor fences.
INDENT = "    "
_DEFUSED = "‹"

# `<` in all spellings that some reader takes for one.
_BRACKET_SPELLINGS = r"<|\uff1c|\ufe64|&(?:lt|#0{0,8}60|#x0{0,8}3c);?"
# Characters that look like it: its confusables in Unicode, other angle brackets, and signs and letters
# of its shape. Many have a use of their own, so a name behind one needs more Latin letters.
_LOOK_ALIKES = (
    "\u02c2\u1438\u1433\u16b2\u2039\u276e\u276c\u2770\U0001d236\u2329\u3008\u300a\u27e8\u27ea\u29fc"
    "\u2991\u00ab\u226a\u22d8\u227a\u22d6\u2a79\u2aa1\u2afb\u304f\u3111\u2b9c\u25c1\u25c0\u25c2\u25c3"
)
_BRACKET = re.compile(f"{_BRACKET_SPELLINGS}|[{_LOOK_ALIKES}]", re.IGNORECASE)
_SLASHES = "/\\!\u2044\u2215\u2571\u29f8\u27cb"
# Ours, and those with which hosts tell the model whose words follow. Compared by their letters.
_TAGS = (
    "iai-mcp-memory",
    "system-reminder",
    "additional-context",
    "hook-context",
    "user-prompt-submit-hook",
    "session-start-hook",
    "ide-opened-file",
    "ide-selection",
    "task-notification",
    "teammate-message",
    "session-context",
    "state-snapshot",
    "environment-context",
    "user-instructions",
    "user-query",
    "local-command",
    "permissions-instructions",
    "instructions",
    "function-calls",
    "function-results",
)
_NAMES = tuple(tag.replace("-", "") for tag in _TAGS)
# Of these any tag that begins so.
_FAMILIES = ("command-", "bash-")
_LONGEST_NAME = 2 * max(map(len, _TAGS))
_BARS = ("|", "\uff5c")  # `<|im_start|>` and its kin
_PASSED_OVER = ("Cf", "Cc", "Cs", "Mn", "Me", "Zs", "Zl", "Zp")
_ANY_LETTER = "?"


def quotation(text: str) -> str:
    """What somebody said, every line of it indented."""
    lines = defused(text).splitlines()
    return "\n".join(f"{INDENT}{shown(line)}" if line.strip() else "" for line in lines)


def in_line(text: str) -> str:
    """Words of others inside a line of ours; they can not begin another."""
    return shown(" ".join(defused(text).split()))


def defused(text: str) -> str:
    """`text` with no mark of ours or of a host left in it, however it was disguised."""

    def one(bracket: re.Match[str]) -> str:
        found = bracket.group()
        looks_alike = found in _LOOK_ALIKES
        return _DEFUSED if _is_mark(text, bracket.end(), looks_alike=looks_alike) else found

    return _BRACKET.sub(one, text)


def _is_mark(text: str, at: int, *, looks_alike: bool) -> bool:
    """Whether what follows a bracket, or what looks like one, is the name of a mark."""
    if not looks_alike and text[at : at + 1] in _BARS and text[at + 1 : at + 2].isalpha():
        return True
    name = "".join(islice(_letters(text, at), _LONGEST_NAME))
    letters = name.replace("-", "")
    if looks_alike and 2 * letters[: len(_NAMES[0])].count(_ANY_LETTER) > len(_NAMES[0]):
        return False
    return any(_is_like(letters, tag) for tag in _NAMES) or any(
        _is_like(name, family) for family in _FAMILIES
    )


def _letters(text: str, at: int) -> Iterator[str]:
    """The letters and dashes of a name: small, `?` for those of other scripts, which may look alike.

    What is invisible or merely parts them is passed over; anything else ends the name.
    """
    for place in range(at, len(text)):
        for plain in unicodedata.normalize("NFKC", text[place]).casefold():
            kind = unicodedata.category(plain)
            if plain.isascii() and plain.isalpha():
                yield plain
            elif kind in ("Pd", "Pc") or plain == "\u2212":
                yield "-"
            elif kind.startswith("L"):
                yield _ANY_LETTER
            elif kind not in _PASSED_OVER and plain not in _SLASHES:
                return


def _is_like(name: str, mark: str) -> bool:
    return len(name) >= len(mark) and all(
        letter in (wanted, _ANY_LETTER) for letter, wanted in zip(name, mark, strict=False)
    )
