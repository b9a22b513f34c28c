"""What an assistant says on the way: what it is about to do, and nothing that anybody asks for later."""

import re

from iai_mcp.domain.derived import Derived
from iai_mcp.domain.units import units

# "现在" alone also tells how things are.
_ABOUT_TO = (
    "让我|好的|我(?:先|来|再|去)|先(?:看|查|跑|确认|检查)|接下来|下面"
    "|现在(?:来|开始|我|让|先|再|去|就|把|运行|跑|看|查|检查|更新|修改|改|添加|加|写|创建|实现|测试|提交|编译|构建)"
)
_ON_THE_WAY = re.compile(
    rf"(?:ok(?:ay)?[.,!]?\s|now |let me|let['’]s|i['’]ll|i will|i need to|need to|next,"
    rf"|(?:good|great|perfect)[.,!]|done[.,!]?$|{_ABOUT_TO})",
    re.IGNORECASE,
)
_INTENDS = re.compile(
    r"(?:(?:ok(?:ay)?|now|next|so|then|and)[,.]? )*"
    rf"(?:let me|let['’]s|i['’]ll|i will|i need to|i['’]m going to|{_ABOUT_TO})",
    re.IGNORECASE,
)
# Whoever thinks aloud has not found anything yet; what comes of it is said later.
_SECOND_THOUGHT = re.compile(r"(?:no,? )?(?:wait|hmm+|hang on|actually)\b[ ,.:…–—-]", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?:。！？])\s+")
_SHORT = 300  # characters: whoever says more has said something
_KEPT = 4_096  # short turns of which is known whether they broke off
_NOD = 60  # characters of "All tests pass." beside what is intended

_known = Derived[bool](_KEPT)


def on_the_way(said: str) -> bool:
    """Whether a sentence only leads to the next step."""
    return _ON_THE_WAY.match(said) is not None


def broken_off(text: str) -> bool:
    """Whether a turn says little but what was to be done next, or is a second thought: nothing came of it."""
    return len(text) < _SHORT and _known.of(text, _breaks_off)


def _breaks_off(text: str) -> bool:
    if _SECOND_THOUGHT.match(text.lstrip()):
        return True
    said = [
        sentence
        for unit in units(text)
        for sentence in _SENTENCE.split(text[unit.start : unit.end])
        if sentence
    ]
    told = [sentence for sentence in said if not _INTENDS.match(sentence)]
    return len(told) < len(said) and len(" ".join(told)) < _NOD
