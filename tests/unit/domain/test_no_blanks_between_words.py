"""Chinese is read as it is written: without blanks, and twice as dense."""

from datetime import UTC, datetime

import pytest

from iai_mcp.domain.cue.analysis import read
from iai_mcp.domain.exchanges import CueWord, CueWords, TurnKind, kinds, turning
from iai_mcp.domain.narration import broken_off, on_the_way
from iai_mcp.domain.ruling_cues import asks_for_a_rule
from iai_mcp.domain.rulings import rulings
from iai_mcp.domain.words import count, width

_NOW = datetime(2026, 4, 8, tzinfo=UTC)


def test_words_are_counted_where_no_blanks_stand() -> None:
    assert count("run the tests") == 3
    assert count("用方案B") == 2
    assert count("这种事下次能提前知道吗，有没有告警") > 6


def test_a_character_is_as_wide_as_two_letters() -> None:
    assert width("abc") == 3
    assert width("中文 ok") == 7


def test_what_is_only_asked_with_is_not_looked_for() -> None:
    terms = read("当初为什么没走 Redis 扣减？", _NOW).terms
    assert "扣减" in terms
    assert "redis" in terms
    assert not {"为什", "什么", "当初"} & set(terms)


def test_a_cue_of_nothing_else_is_still_looked_for() -> None:
    assert read("什么", _NOW).terms


@pytest.mark.parametrize(
    "text", ["可以，做吧", "方案二", "同意，就这么干", "继续", "2", "B。Kafka 今年不上"]
)
def test_a_short_answer_is_one(text: str) -> None:
    assert turning(text, "user")


@pytest.mark.parametrize(
    "text",
    [
        "可以。另外说一下，unittest.mock 可以用，我说不要 unittest 是指不要写 TestCase 那种类",
        "不对吧，小周说那个按钮上周就加了 loading 了，而且 request_id 后面那个 -r1 是什么",
        "1.4.0 什么时候发合适？明天周五",
        "5 秒太短了，怎么设计",
        "A-7731 那 46 件先手动放了",
    ],
)
def test_whoever_says_more_says_it_himself(text: str) -> None:
    assert not turning(text, "user")


def test_a_long_finding_without_blanks_is_no_narration() -> None:
    said = "根因：释放任务被月报导出堵在同一个队列后面，所有任务都走默认队列，没有路由，所以一直排不上，积压到三千多条"
    told = kinds([True, False, False], [4, count(said) * 2, 60], [False, False, False])
    assert told == [TurnKind.PROMPT, TurnKind.FINDING, TurnKind.CONCLUSION]


@pytest.mark.parametrize(
    "text", ["让我先看一下配置", "现在运行测试", "我先跑一遍", "接下来更新文档"]
)
def test_what_is_to_be_done_next_is_on_the_way(text: str) -> None:
    assert on_the_way(text)
    assert broken_off(text)


def test_how_things_are_now_is_not_on_the_way() -> None:
    assert not on_the_way("现在的流程是先查、再等外部接口、最后扣")


@pytest.mark.parametrize(
    "cue",
    [
        "提交说明应该写哪种语言？",
        "可以让你直接在预发库上执行吗？",
        "数据库用内存的还是真的？",
        "字段命名有什么约定？",
    ],
)
def test_a_cue_for_a_rule(cue: str) -> None:
    assert asks_for_a_rule(cue)


@pytest.mark.parametrize(
    "said", ["以后周五下午一律不上线", "commit message 还是改回英文吧", "所有金额统一用整数分"]
)
def test_a_rule_without_blanks_holds(said: str) -> None:
    (found,) = rulings(said)
    assert found.firm


@pytest.mark.parametrize("said", ["先别改", "改吧", "继续", "把它改回去"])
def test_what_is_said_of_this_once_is_no_rule(said: str) -> None:
    assert not any(one.firm for one in rulings(said))


def test_of_pairs_of_characters_half_may_be_unknown() -> None:
    half = CueWords([CueWord("预占", 4.0, 2), CueWord("占释", 4.0, 0)])
    most = CueWords(
        [CueWord("预占", 4.0, 2), *(CueWord(pair, 4.0, 0) for pair in ("甲乙", "丙丁", "戊己"))]
    )
    assert half.unseen == 0.0
    assert most.unseen == 0.5
    assert CueWords([CueWord("redis", 4.0, 0), CueWord("lock", 4.0, 1)]).unseen == 0.5
