"""Where it is worth while to look for secrets: one pass over a text finds the words that hint at one.

Most texts hold no such word, and most others hold words of one or two topics: the searches for all
the other topics are left out.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from iai_mcp.domain.pieces import matches

# By topic, in small letters. A word may be cut in front, so that few letters begin one: the more
# different first letters there are, the longer the pass takes.
_CLUES: dict[str, tuple[str, ...]] = {
    # The hearts of the names that announce a value; see `secret_names`.
    "name": (
        *("passw", "passphrase", "passcode", "passord", "passe", "pass", "pwd", "pw", "psk"),
        *("secret", "token", "key", "auth", "credential", "bearer", "_pat", "salt"),
        *("kennwort", "contrase", "clave", "senha", "mdp", "parola", "wachtwoord", "heslo"),
        *("salasana", "adgangskode", "chave", "chiave", "schlüssel", "schlussel", "schluessel"),
        "clé",
    ),
    "key": ("begin ", "putty-user-key", "trusted comment: ", "s0tls1crudjti", 'kty"', "kty\\"),
    "manifest": ("secret",),
    "address": ("://", "sig=", "sign=", "signature=", "amz-", "hmac="),
    "header": ("auth", "bearer"),
    "cookie": ("cookie", "sessid", "sessionid", "session=", "t.sid"),
    "login": (
        *("cred", "login", "log in", "/ ", "/`", "angsdaten", "passw", "pass", "pw", "auth"),
        *("connect(", "connection(", "mysqli", "pdo(", "jwt.", "hmac"),
    ),
    "command": (
        *("securestring", "cho ", "printf ", "<<<", "bbitmqctl", "t use", "sqlplus", "alias set"),
        *("login ", "seal ", "basic.", "auth", "tified ", "pass", "p read ", "-field=", "secret"),
        "/p:",
    ),
    "seed": ("phrase", "mnemonic", "seed"),
}
# Some names are parts of other words: these count only where their letters end.
_WHOLE = frozenset(["passe", "pw", "psk", "_pat", "salt", "mdp", "clé"])
_LETTER_NEXT = re.compile(r"[^\W\d_]")
# "pass" is mostly a verb: it counts as the end of a longer name, or where something is assigned.
_PASS = re.compile(
    r"pass(?:(?:(?<=[a-z0-9_]pass)|(?<=--pass))(?![a-z])|(?=[\"'`*\]]{0,3}[ \t]{0,4}[:=]))"
)


@dataclass(frozen=True, slots=True)
class Clues:
    """What to look for, and where the hearts of names are."""

    topics: frozenset[str]
    names: tuple[tuple[int, int], ...]


_NOTHING = Clues(frozenset(), ())


def look(lowered: str) -> Clues:
    """The clues in a text in lower case."""
    found = [(match[0], match.start()) for match in matches(_any_clue(), lowered)]
    if not found:
        return _NOTHING
    topics = frozenset().union(*(_topics()[word] for word in {word for word, _ in found}))
    if "name" not in topics:
        return Clues(topics, ())
    names = [
        (start, start + len(word))
        for word, start in found
        if "name" in _topics()[word] and _is_name(lowered, word, start)
    ]
    return Clues(topics, tuple(names))


def _is_name(lowered: str, word: str, start: int) -> bool:
    if word == "pass":
        return _PASS.match(lowered, start) is not None
    return word not in _WHOLE or _LETTER_NEXT.match(lowered, start + len(word)) is None


@cache
def _topics() -> dict[str, frozenset[str]]:
    """The topics of each clue, those of shorter ones within it included."""
    words = {word for some in _CLUES.values() for word in some}
    return {
        word: frozenset(t for t, some in _CLUES.items() if any(clue in word for clue in some))
        for word in words
    }


@cache
def _any_clue() -> re.Pattern[str]:
    return re.compile(tree(_topics()))


def tree(words: Iterable[str]) -> str:
    """An expression for any of `words`, the longest first, that looks at each letter once."""
    branches: dict[str, list[str]] = {}
    for word in words:
        branches.setdefault(word[:1], []).append(word[1:])
    ends_here = branches.pop("", None) is not None
    joined = "|".join(re.escape(head) + tree(tails) for head, tails in sorted(branches.items()))
    if not joined:
        return ""
    return f"(?:{joined}){'?' if ends_here else ''}"
