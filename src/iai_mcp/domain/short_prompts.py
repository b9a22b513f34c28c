"""What a person says to an agent that tells nothing without what was said before or after it."""

import re

from iai_mcp.domain.exchanges import turning
from iai_mcp.domain.standing import may_state_a_wish, standing_wish
from iai_mcp.domain.words import count, width

_BARE = 4  # words of an answer that says nothing of its own: "yes, do it"
_SHORT = 120  # characters of a question, as wide as Latin letters
_ENDS = ("?", "？", "؟")
_SENTENCE = re.compile(r"(?<=[.!?。！？؟])\s+")
# Before a comma something may be told: "we moved to Postgres 16, why is it slow?"
_CLAUSE = re.compile(r"[,;:(—–、，；：]|\s-\s")
_QUESTION_WORD = re.compile(
    r"(?:and |so |ok(?:ay)?,? |but )?(?:what|why|how|which|where|when|who|whose|is|are|was|were|do|does|did|can"
    r"|could|should|would|will|may|has|have)\b",
    re.IGNORECASE,
)

_PICKED = re.compile(
    r"(?:^|\b(?:option|approach|variant|number|with|do|use|take)\s|方案|选|用|#)\s*\(?([A-D]|\d{1,2}|[甲乙丙丁一二三四])(?![\w.-])",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"[ \t>*_#-]{0,8}(?:(?:option|approach|variant|方案)\s?)?[(*_]{0,3}([A-D]|\d{1,2}|[甲乙丙丁一二三四])[)*_]{0,3}[ \t]*[.:)、：—–-]",
    re.IGNORECASE,
)


def answers_shortly(text: str) -> bool:
    """Whether it means what was proposed before it, and states no rule by that."""
    return turning(text, "user") and not _rules(text)


def says_only_yes(text: str) -> bool:
    """Whether it is an answer without a word of its own."""
    return len(text) <= _SHORT and count(text) <= _BARE and turning(text, "user")


def option_picked(answer: str, proposal: str) -> str:
    """The line of a proposal that says what an answer picks: "Option C", "2"; "" where there is none."""
    named = _PICKED.search(answer[:_SHORT])
    if named is None:
        return ""
    label = named[1].lower()
    lines = proposal.splitlines()
    described = (
        line
        for line in reversed(lines)
        if (found := _OPTION.match(line)) and found[1].lower() == label
    )
    return " ".join(next(described, "").split())


def only_asks(text: str) -> bool:
    """Whether it is a short question that tells nothing of its own: the reply does."""
    said = text.strip()
    if not said.endswith(_ENDS) or width(said) > _SHORT or _rules(said):
        return False
    return all(
        sentence.endswith(_ENDS)
        and (_QUESTION_WORD.match(sentence) or not _CLAUSE.search(sentence))
        for sentence in _SENTENCE.split(said)
    )


def _rules(text: str) -> bool:
    return may_state_a_wish(text) and any(map(standing_wish, _SENTENCE.split(text)))
