"""How things are done here: wishes, corrections and commands that come up again and again."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iai_mcp.domain.digest import sentences
from iai_mcp.domain.nearness import terms
from iai_mcp.domain.rulings import ruling
from iai_mcp.domain.standing import standing_wish

LOOKED_AT = 4000
_LONGEST = 280
_EACH = 6  # observations of one memory
# Said twice it is a habit; commands are typed so often that it takes more.
TIMES = {"instruction": 2, "preference": 2, "correction": 2, "command": 3}
_ALIKE = 0.5
# What every wish is made of says nothing about what is wished for.
_WISHING_TEXT = """
always never prefer preference please want like rather make sure use using stick avoid instead remember
rule convention default future hate dislike usually generally normally everything
"""
_WISHING = frozenset(_WISHING_TEXT.split())
_AGAINST = re.compile(
    r"\b(?:never|not|no|don['’]t|stop|avoid|without|hate|dislike|nie|niemals|kein\w*|jamais|pas|nunca|никогда|не)\b|不要|别",
    re.IGNORECASE,
)
_CORRECTED = re.compile(
    r"^\W*(?:no[,:] (?!i(?:['’]m| think| am)|thanks|that['’]?s (?:fine|ok))|actually[, ]|correction\b|that['’]?s (?:wrong|not right)"
    r"|not \w+[,;] (?:but|use)|i (?:said|told you|meant)\b|again[,:] |nein, |non, )",
    re.IGNORECASE,
)
# Marks before terms: what is wanted, and what is given up for it. They are compared, not counted.
_WANTED, _GIVEN_UP = "=", "≠"
_QUOTED_COMMAND = re.compile(r"`([^`\n]{3,120})`|^\s*\$ ([^\n]{3,120})$", re.MULTILINE)
_PROGRAMS = """
make just npm npx pnpm yarn bun node deno pip pipx uv poetry python python3 pytest tox nox ruff mypy cargo
rustup go git gh docker docker-compose kubectl helm terraform ansible bash sh ./ mvn gradle ./gradlew
bundle rake rails mix dotnet swift xcodebuild cmake ctest ninja bazel aws gcloud az psql sqlite3 redis-cli
curl ssh rsync systemctl journalctl brew apt iai-mcp
"""
_PROGRAM = frozenset(_PROGRAMS.split())


@dataclass(frozen=True, slots=True)
class Observation:
    """One sentence or command that may be a habit, and what it is about."""

    kind: str
    sentence: str
    terms: tuple[str, ...]


def observations(role: str, text: str) -> list[Observation]:
    """What one memory shows: people state wishes and corrections, everybody runs commands."""
    found: list[Observation] = []
    if role == "user":
        found += _wishes(text)
    found += _commands(text)
    distinct = {(one.kind, one.terms): one for one in found}
    return list(distinct.values())[:_EACH]


def alike(kind: str, one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two observations of a kind are about the same thing."""
    if kind == "command":
        return tuple(one) == tuple(other)
    a, b = set(telling(one)), set(telling(other))
    if not a & b or len(a & b) < _ALIKE * len(a | b) or ("!" in one) != ("!" in other):
        return False
    return not (_differ(one, other) or _differ(other, one))


def telling(observed: Sequence[str]) -> list[str]:
    """The words of an observation, without the marks on some of them."""
    return [term for term in observed if not term.startswith((_WANTED, _GIVEN_UP))]


def _differ(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether one wants what the other does not speak of or gives up: "use ruff", "use black"."""
    wanted = _wants(one)
    given_up = {term[1:] for term in other if term.startswith(_GIVEN_UP)}
    return bool(wanted & given_up or (_wants(other) and wanted - {*telling(other), *_wants(other)}))


def _wants(observed: Sequence[str]) -> set[str]:
    return {term[1:] for term in observed if term.startswith(_WANTED)}


def habit_text(kind: str, sentences_said: Sequence[str], first: str, last: str) -> str:
    """The habit in the words it was last stated in, with how often and when."""
    times = len(sentences_said)
    when = f"on {last}" if first == last else f"from {first} to {last}"
    said = "run" if kind == "command" else "said"
    return f"{sentences_said[-1]}\n({kind}, {said} {times} times {when})"


def _wishes(text: str) -> Iterator[Observation]:
    for sentence in sentences(text[:LOOKED_AT]):
        if len(sentence) > _LONGEST or sentence.endswith(("?", "？")):
            continue
        wish = standing_wish(sentence)
        kind = str(wish.kind) if wish else "correction" if _CORRECTED.search(sentence) else ""
        about = _about(sentence)
        if kind and about:
            yield Observation(kind, sentence, about)


def _about(sentence: str) -> tuple[str, ...]:
    found = {term for term in terms(sentence) if term not in _WISHING}
    against = {"!"} if _AGAINST.search(sentence) else set()
    return tuple(sorted(found | against | _values(sentence))) if found else ()


def _values(sentence: str) -> set[str]:
    ruled = ruling(sentence)
    if ruled is None:
        return set()
    wanted = (ruled.used | {order.value for order in ruled.orders if order.value}) - ruled.denied
    return {f"{_WANTED}{one}" for one in wanted} | {f"{_GIVEN_UP}{one}" for one in ruled.denied}


def _commands(text: str) -> Iterator[Observation]:
    for match in _QUOTED_COMMAND.finditer(text[:LOOKED_AT]):
        command = " ".join((match[1] or match[2]).removeprefix("$ ").split())
        program = command.split(" ", 1)[0]
        if " " in command and (program in _PROGRAM or program.startswith("./")):
            yield Observation("command", command, (command,))
