"""What is to be forgotten has to be named: nothing is ever forgotten by leaving something out."""

import pytest

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.memory.changing import Selection
from iai_mcp.memory.scoping import Caller, Filter


@pytest.mark.parametrize(
    "about", [Filter(), Filter(project="*"), Filter(role="user"), Filter(as_of=5, host="codex")]
)
def test_a_selection_that_names_nothing_is_refused(about: Filter) -> None:
    with pytest.raises(InvalidInput, match="say what to forget"):
        Selection(about=about, caller=Caller())


@pytest.mark.parametrize("words", ["", "  "])
def test_blank_words_are_no_words(words: str) -> None:
    with pytest.raises(InvalidInput):
        Selection(words=words, about=Filter(session_id="s"))


def test_each_way_to_name_something_is_enough() -> None:
    Selection(ids=())
    Selection(words="kafka")
    for about in (Filter(project="p"), Filter(session_id="s"), Filter(since=0), Filter(until=0)):
        Selection(about=about)
