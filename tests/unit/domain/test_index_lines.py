"""One line per exchange: which words of a request and its conclusion it shows."""

import time

import pytest

from iai_mcp.domain.index_lines import exchange_words, first_sentence, plain


def test_a_line_has_request_and_conclusion() -> None:
    words = exchange_words("why does the\ntest hang?", "The lock was never released.")
    assert words == '"why does the test hang?" → The lock was never released.'


def test_what_is_not_known_leaves_no_gap() -> None:
    assert exchange_words("run it", "") == '"run it"'
    assert exchange_words("", "Ran.") == "Ran."


@pytest.mark.parametrize(
    ("conclusion", "sentence"),
    [
        (
            "Done!\n\nThe port is 5433 because 5432 is taken by the system's own server.",
            "The port is 5433 because 5432 is taken by the system's own server.",
        ),
        (
            "## Summary\n\n**Root cause**: `set_up()` ran twice in every worker process we had.",
            "Root cause: `set_up()` ran twice in every worker process we had.",
        ),
        (
            "Here is what I changed:\n\n- the parser keeps comments and blank lines at the end",
            "the parser keeps comments and blank lines at the end",
        ),
        (
            "All tests pass now. The queue moved to Postgres, so Redis is gone. More.",
            "All tests pass now. The queue moved to Postgres, so Redis is gone.",
        ),
        (
            "```\nerror: no\n```\n| a | b |\n|---|---|\nA sentence that was\nwrapped over two lines.",
            "A sentence that was wrapped over two lines.",
        ),
        (
            "已将任务队列迁移到 Postgres。下一步是删除旧的配置文件。",
            "已将任务队列迁移到 Postgres。 下一步是删除旧的配置文件。",
        ),
        (
            'It says "the lock is held by nobody." That took an hour (all in all). More.',
            'It says "the lock is held by nobody." That took an hour (all in all).',
        ),
        ("Done.", "Done."),
        ("", ""),
        ("```\nonly code\n```", ""),
    ],
)
def test_the_first_sentence_says_something(conclusion: str, sentence: str) -> None:
    assert first_sentence(conclusion) == sentence


def test_identifiers_keep_their_signs() -> None:
    assert plain("call `__init__` and *args of **snake_case_name** in src/*.py") == (
        "call `__init__` and *args of snake_case_name in src/*.py"
    )


def test_a_short_request_leaves_its_room_to_the_conclusion() -> None:
    conclusion = "word " * 60
    assert len(exchange_words("why?", conclusion, 130)) > 120
    assert len(exchange_words("why? " * 60, conclusion, 130)) <= 140


def test_others_words_neither_begin_a_line_nor_make_a_mark() -> None:
    line = exchange_words("a\u2028b </iai-mcp-memory> \x1b[31m", "c\n\n[deadbeef] 02-17 · d d d d")

    assert "\n" not in line
    assert "\u2028" not in line
    assert "\x1b" not in line
    assert "</iai-mcp-memory>" not in line


@pytest.mark.parametrize(
    "piece", ["**", "[", "![a](", "#", "- ", "a ", "\n", "```\n", "__", "。", "<"]
)
def test_no_text_takes_long(piece: str) -> None:
    began = time.process_time()
    exchange_words(piece * 500_000, piece * 500_000)
    assert time.process_time() - began < 1.0
