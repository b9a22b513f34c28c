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


def answers_shortly(text: str) -> bool:
    """Whether it means what was proposed before it, and states no rule by that."""
    return turning(text, "user") and not _rules(text)


def says_only_yes(text: str) -> bool:
    """Whether it is an answer without a word of its own."""
    return len(text) <= _SHORT and count(text) <= _BARE and turning(text, "user")


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
