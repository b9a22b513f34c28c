"""Whether a memory is worth interrupting for: few are, and a wrong one costs trust."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Literal

from iai_mcp.domain.cue.exact import exact_parts
from iai_mcp.domain.cue.stop_words import stop_words, tells_nothing
from iai_mcp.domain.ruling_words import stem
from iai_mcp.domain.words import count, index_terms, is_cjk, words

Mode = Literal["off", "on", "auto"]
MODES: tuple[Mode, ...] = ("off", "on", "auto")


@dataclass(frozen=True, slots=True)
class Bar:
    """What a memory must reach: meaning alone fires on any "can we add a test?", words alone on chance."""

    meaning: float  # cosine of MiniLM with its best passage: the same matter begins at about .5
    rarity: float  # in nats, of all words of the prompt that it holds: three rare ones
    coverage: float  # the share of the prompt's rarity


# A long prompt says more than any answer to it holds: what is shared has to be rare, and need not be most of it.
_BARS: dict[Mode, Bar] = {"auto": Bar(0.5, 10.0, 0.3), "on": Bar(0.42, 7.0, 0.3)}
# What names a thing letter by letter needs less beside it; by words alone, half of them.
_NAMED = Bar(0.42, 6.0, 0.25)
_NAMED_BY_WORDS = Bar(0.0, 10.0, 0.5)
# Words that stand only in the request which a memory answers: "all tests pass" tells nothing of them.
_IN_THE_REQUEST = 0.7
_UNRELATED = 0.25
_WORDS_ALONE = 0.6  # of the prompt's rarity, where there is no model
# A store that has heard little can not know which words are rare: it counts as many turns more.
_UNHEARD = 300
_LOOKED_AT = 6000
_FEWEST_TELLING, _FEWEST_WORDS = 2, 4
_SMALL_TALK_TEXT = """
yes yep yeah no nope ok okay sure thanks thank great good perfect nice continue ahead please again
retry stop wait done next right correct fine cool lgtm run tests test fix commit push try open pr
changes change lint build merge pull request branch it this that check review look
proceed keep going left off step plan implementation fail fails failed failing failure failures pass
passing red broken add write create unit simple coverage cover covers message work working stage linting
linter format formatting errors error issues issue problems problem clean bit code simplify refactor
function variable file think needed need explain pr readme docs documentation update comments comment
rename remove delete dead undo revert last also everything all some
继续 提交 推送 合并 运行 测试 修复 重试 看看 一下 可以 好的 不错 谢谢 完成 下一 一步 代码 修改 检查 文档 更新 改吧 没有 问题 试试
"""
_SMALL_TALK = frozenset(_SMALL_TALK_TEXT.split())


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a prompt asks about: its telling words, and the names it quotes letter by letter."""

    terms: frozenset[str]
    names: tuple[str, ...]
    telling: int = 0  # words that are not said with every prompt
    length: int = 0  # in words

    @property
    def worth_asking(self) -> bool:
        """Whether it says enough to look something up: "yes, go on" and "open a PR" do not."""
        if self.names or self.telling >= _FEWEST_TELLING:
            return bool(self.telling)
        return bool(self.telling) and self.length >= _FEWEST_WORDS


@dataclass(frozen=True, slots=True)
class Match:
    """How a memory relates to a prompt. `cosine` is None where there are no vectors."""

    cosine: float | None
    rarity: float
    coverage: float
    named: bool


def read_prompt(text: str) -> Prompt:
    sample = text[:_LOOKED_AT]
    said = words(sample)
    silent = stop_words(said)
    telling = [word for word in said if word not in silent]
    terms = {term for word in telling for term in index_terms(word)}
    pairs = {term for term in terms if is_cjk(term)}
    terms -= {pair for pair in pairs if tells_nothing(pair)}
    spelled = {word for word in telling if not is_cjk(word)}
    # Two pairs are about a word: every other one stands across two.
    told = len(spelled - _SMALL_TALK) + len((pairs & terms) - _SMALL_TALK) // 2
    return Prompt(frozenset(terms), exact_parts(sample)[:20], told, count(sample))


def rarity(turns: int, holding: int) -> float:
    """How much it tells that a turn holds a word which so many of all turns hold."""
    return max(0.0, log((turns + _UNHEARD - holding + 0.5) / (holding + 0.5)))


def match(
    prompt: Prompt, said: str, request: str, cosine: float | None, rarities: Mapping[str, float]
) -> Match:
    """Compare what was said, and the request that it answers, with a prompt."""
    sample = said[:_LOOKED_AT]
    held, asked = _stems(sample), _stems(request[:_LOOKED_AT])
    worth = {
        term: 1.0 if stem(term) in held else _IN_THE_REQUEST if stem(term) in asked else 0.0
        for term in sorted(prompt.terms)
    }
    shared = sum(rarities.get(term, 0.0) * share for term, share in worth.items())
    total = sum(rarities.get(term, 0.0) for term in worth)
    return Match(
        cosine,
        shared,
        shared / total if total else 0.0,
        any(name in sample for name in prompt.names),
    )


def _stems(text: str) -> set[str]:
    return {stem(term) for word in words(text) for term in index_terms(word)}


def may_be_about(cosine: float | None) -> bool:
    """Whether it is worth reading what stands around a memory: unrelated talk stays below."""
    return cosine is None or cosine >= _UNRELATED


def confident(found: Match, mode: Mode) -> str | None:
    """Why the memory clears the bar, or None. `on` asks for less than `auto`."""
    if mode == "off":
        return None
    if found.named and (_reaches(found, _NAMED) or _worded(found, _NAMED_BY_WORDS)):
        return "it names the same thing"
    return "it is about the same" if _reaches(found, _BARS[mode]) else None


def _reaches(found: Match, bar: Bar) -> bool:
    if found.cosine is None:
        return _worded(found, bar) and found.coverage >= _WORDS_ALONE
    return _worded(found, bar) and found.cosine >= bar.meaning


def _worded(found: Match, bar: Bar) -> bool:
    return found.rarity >= bar.rarity and found.coverage >= bar.coverage
