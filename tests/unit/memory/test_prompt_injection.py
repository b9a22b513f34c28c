"""What is put before a prompt: what recall is sure of, once per session."""

from tests.fakes.journal import FakeJournal
from tests.fakes.memories import FakeMemories
from tests.unit.memory.bench import Noon

from iai_mcp.adapters.surroundings import LocalProjects
from iai_mcp.domain.relevance import Mode
from iai_mcp.memory.injections import Injections
from iai_mcp.memory.prompt_injection import NewPrompt, PromptInjection
from iai_mcp.memory.question import Answer, Hit, Question
from iai_mcp.memory.room import Shown
from iai_mcp.memory.rules import Rules
from iai_mcp.memory.scoping import Access

PROMPT = NewPrompt(text="where do we keep the cache of the compiler?", session_id="mine")


class Kit:
    """Two memories that recall finds for any question; it is sure of the first."""

    def __init__(self, mode: Mode = "auto") -> None:
        self.memories = FakeMemories(
            "the cache of the compiler is kept in valkey", "the cake was lemon"
        )
        self.journal = FakeJournal()
        self.injections = Injections(self.memories, self.journal, Noon(), lambda now: now())
        self.asked: list[Question] = []
        self.inject = PromptInjection(
            memories=self.memories,
            access=Access(self.memories, LocalProjects()),
            recall=self.recall,
            rules=Rules(self.memories, lambda _scope, _latest: ()),
            holding=lambda terms: dict.fromkeys(terms, 1),
            mode=lambda: mode,
            count_tokens=lambda: lambda text: len(text) // 4,
            injections=self.injections,
            clock=Noon(),
        )

    def recall(self, question: Question) -> Answer:
        self.asked.append(question)
        found = zip(self.memories.get([1, 2]), (0.8, 0.1), strict=True)
        return Answer(
            hits=tuple(Hit(shown=Shown(m), score=1, reason="", cosine=c) for m, c in found)
        )


def test_only_what_recall_is_sure_of_goes_in_and_never_twice_into_one_session() -> None:
    kit = Kit()

    first, again = kit.inject(PROMPT), kit.inject(PROMPT)

    assert "valkey" in first.text
    assert "lemon" not in first.text
    assert again.text == ""


def test_what_went_in_can_be_asked_for_with_its_reason() -> None:
    kit = Kit()
    kit.inject(PROMPT)

    (told,), more = kit.injections.latest(session_id="mi")

    assert (told.moment, told.session_id, more) == ("prompt", "mine", False)
    assert [(one.source.why, one.memory) for one in told.used] == [
        ("it is about the same", kit.memories.stored[1])
    ]
    kit.memories.forget([1], 5)
    assert kit.injections.latest()[0][0].used[0].memory is None


def test_turned_off_or_asked_nothing_it_does_not_even_look() -> None:
    off, on = Kit("off"), Kit()

    assert off.inject(PROMPT).text == ""
    assert on.inject(NewPrompt(text="yes")).text == ""
    assert (off.asked, on.asked) == ([], [])
