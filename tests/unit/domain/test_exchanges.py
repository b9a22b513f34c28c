"""What a person says while the work on their prompt goes on."""

from iai_mcp.domain.exchanges import is_answer_to, noted, said_within


def test_an_answer_to_the_host_and_a_refusal_are_said_within_the_exchange() -> None:
    assert said_within("user", {"answers": "Which port?"})
    assert said_within("user", {"rejected": "rm -rf build"})
    assert not said_within("user", {"id": "7"})
    assert not said_within("assistant", {"answers": "Which port?"})


def test_the_question_and_the_refused_call_are_noted_in_words() -> None:
    assert noted({"answers": "Which port?", "rejected": "rm -rf build"}) == (
        "Which port?\nrm -rf build"
    )
    assert noted({"answers": 7}) == ""


def test_an_answer_belongs_to_just_its_question() -> None:
    meta = {"answers": "Which port? "}

    assert is_answer_to("Which port?\n1. 5432\n2. 5433", "user", meta)
    assert not is_answer_to("Which host?", "user", meta)
    assert not is_answer_to("Which port?", "assistant", meta)
