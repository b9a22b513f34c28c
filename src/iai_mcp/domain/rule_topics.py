"""Which rules apply to what a prompt asks for: "write a class …" is subject to the rules for classes."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from iai_mcp.domain.rule_register import Rule
from iai_mcp.domain.ruling_words import about
from iai_mcp.domain.rulings import Ruling

_MAKES = re.compile(
    r"\b(?:writ(?:e|ing)|creat(?:e|ing)|implement\w*|add(?:ing)?|build(?:ing)?|mak(?:e|ing)|generat(?:e|ing)|draft\w*"
    r"|refactor\w*|rewrit\w+|develop\w*|design\w*|cod(?:e|ing)|schreib\w*|erstell\w*|écri\w+|crée\w*|escrib\w+"
    r"|cre(?:a|ar)\b|напиш\w+|созда\w+)|编写|创建|实现|作成|書いて",
    re.IGNORECASE,
)
# Parts of a program, in whichever of them they stand.
_OF_CLASSES = frozenset(("class", "method", "attribute"))
_OF_FUNCTIONS = frozenset(("function", "argument"))
_ANYWHERE_TEXT = """
variable constant comment docstring annotation hint decorator statement assert try exception import module
digit
"""
_ANYWHERE = frozenset(_ANYWHERE_TEXT.split())
_PROGRAM = _OF_CLASSES | _OF_FUNCTIONS | _ANYWHERE
_CODE_ASKED_FOR = _OF_CLASSES | _OF_FUNCTIONS | {"script", "program", "code", "module", "decorator"}
_SHARED = 2  # words that a rule about anything else has in common with the prompt


@dataclass(frozen=True, slots=True)
class Task:
    """What a prompt wants to have made."""

    subject: frozenset[str]

    @property
    def code(self) -> bool:
        return bool(self.subject & _CODE_ASKED_FOR)


def task(prompt: str) -> Task | None:
    """What a prompt asks to make; None where it asks for nothing of the kind."""
    return Task(about(prompt)) if _MAKES.search(prompt) else None


def applying(rules: Iterable[Rule], to: Task) -> list[Rule]:
    """The rules that what is asked for is subject to, those closest to it first."""
    found = [rule for rule in rules if rule.ruling.firm and _applies(rule.ruling, to)]
    return sorted(found, key=lambda rule: -len(rule.ruling.subject & to.subject))


def _applies(ruling: Ruling, to: Task) -> bool:
    if to.code and ruling.things & _PROGRAM:
        return _fits(ruling.things, to.subject)
    shared = ruling.subject & to.subject
    return len(shared) >= _SHARED and bool(shared & ruling.things)


def _fits(things: frozenset[str], asked: frozenset[str]) -> bool:
    """Whether a rule for classes meets one, a rule for functions one; others hold in both."""
    if not things & (_OF_CLASSES | _OF_FUNCTIONS):
        return True
    if asked & _OF_CLASSES:
        return bool(things & _OF_CLASSES)
    return bool(things & _OF_FUNCTIONS) or not asked & _OF_FUNCTIONS
