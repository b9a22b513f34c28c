"""Which rules apply to what a prompt asks for: "write a class …" is subject to the rules for classes,
"commit it to main" to the one that forbids it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from iai_mcp.domain.rule_register import Rule
from iai_mcp.domain.ruling_words import FORBIDS, about, stem
from iai_mcp.domain.rulings import Ruling, clauses
from iai_mcp.domain.words import count

_MAKES = re.compile(
    r"\b(?:writ(?:e|ing)|creat(?:e|ing)|implement\w*|add(?:ing)?|build(?:ing)?|mak(?:e|ing)|generat(?:e|ing)|draft\w*"
    r"|refactor\w*|rewrit\w+|develop\w*|design\w*|cod(?:e|ing)|schreib\w*|erstell\w*|écri\w+|crée\w*|escrib\w+"
    r"|cre(?:a|ar)\b|напиш\w+|созда\w+)|编写|创建|实现|作成|書いて",
    re.IGNORECASE,
)
# What is asked to be done, where that is all that is asked: a question about it does nothing.
_ACTS = re.compile(
    r"(?:^\W*|[.,;!:]\s*|\b(?:and|then|please|you|now|ok|okay|so|to|let['’]?s|just)\s+)"
    r"(?:run|use|set up|configure|install|add|commit|push|merge|rebase|squash|deploy|release|publish|tag|ship|delete|drop"
    r"|remove|rename|format|lint(?= (?:the|it|this|all|every)\b)|indent|open|create|write|start|restart|reset|migrate|upgrade|bump|introduce|pull in|mock)\b",
    re.IGNORECASE,
)
_BRINGS_IN = re.compile(r"\b(?:install|add|introduce|pull in|use|bring in)\b", re.IGNORECASE)
_QUESTION = re.compile(r"[?？؟]\s*$")
_ASKED_TO = re.compile(
    r"^\W*(?:ok,? |and |please,? )*(?:can|could|would|will) (?:you|we)\b", re.IGNORECASE
)
_LONGEST_ACT = 15  # words
_MOSTLY = 0.7  # of what a clause is about
_UNLESS = re.compile(r"\b(?:without|unless|until|ohne)\b.*$", re.IGNORECASE)
# Said of any rule: how it is to be kept, and where.
_OF_ANY_RULE = frozenset(("repo", "repository", "work", "before", "directly"))
_SAME_THING = {
    "package": "dependency",
    "library": "dependency",
    "linter": "lint",
    "formatter": "format",
}
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
    """What a prompt wants to have made or done."""

    subject: frozenset[str]
    makes: bool = True
    acts: bool = False  # it says plainly what to do, and little else
    brings_in: bool = False  # something new

    @property
    def code(self) -> bool:
        return bool(self.subject & _CODE_ASKED_FOR)


def task(prompt: str, *, small_talk: bool = False) -> Task | None:
    """What a prompt asks to make or do; None where it asks for nothing of the kind.

    What people say with every prompt makes nothing that has rules, though a rule may be about it.
    """
    makes = not small_talk and _MAKES.search(prompt) is not None
    asks = _QUESTION.search(prompt) and not _ASKED_TO.match(prompt)
    acts = not asks and count(prompt) <= _LONGEST_ACT and _ACTS.search(prompt) is not None
    if not makes and not acts:
        return None
    return Task(about(prompt), makes, acts, _BRINGS_IN.search(prompt) is not None)


def applying(rules: Iterable[Rule], to: Task) -> list[Rule]:
    """The rules that what is asked for is subject to, those closest to it first."""
    found = [
        rule
        for rule in rules
        if rule.ruling.firm
        and ((to.makes and _applies(rule.ruling, to)) or (to.acts and _bears_on(rule.ruling, to)))
    ]
    return sorted(found, key=lambda rule: -len(rule.ruling.subject & to.subject))


def _applies(ruling: Ruling, to: Task) -> bool:
    if to.code and ruling.things & _PROGRAM:
        return _fits(ruling.things, to.subject)
    shared = ruling.subject & to.subject
    return len(shared) >= _SHARED and bool(shared & ruling.things)


def _bears_on(ruling: Ruling, to: Task) -> bool:
    """Whether a rule is about just what is to be done: its thing and its action are named, or its only
    thing, where it says with what that is done or that nothing new is wanted."""
    asked = _same(to.subject)
    # "never run the slow tests" says with what nothing is done.
    used = frozenset[str]() if FORBIDS.search(ruling.sentence) else ruling.used
    values = {stem(value) for value in used | ruling.denied}
    things = _same(ruling.things)
    for said in (ruling.sentence, *clauses(ruling.sentence)):
        topic = _same(about(_UNLESS.sub("", said))) - values - _OF_ANY_RULE
        shared = topic & asked
        if not shared & things:
            continue
        # Who is told to do what they ask for anyway learns nothing.
        tells = ruling.against or ruling.weight > 1 or used or topic - shared
        if len(shared) >= _SHARED and len(shared) >= _MOSTLY * len(topic) and tells:
            return True
        with_what = any(value in said.lower() for value in used)
        if shared == topic and (with_what or (ruling.against and to.brings_in)):
            return True
    return False


def _same(words: frozenset[str]) -> frozenset[str]:
    return frozenset(_SAME_THING.get(word, word) for word in words)


def _fits(things: frozenset[str], asked: frozenset[str]) -> bool:
    """Whether a rule for classes meets one, a rule for functions one; others hold in both."""
    if not things & (_OF_CLASSES | _OF_FUNCTIONS):
        return True
    if asked & _OF_CLASSES:
        return bool(things & _OF_CLASSES)
    return bool(things & _OF_FUNCTIONS) or not asked & _OF_FUNCTIONS
