"""What is told with a prompt: work that names the same things, once per session."""

from dataclasses import replace

from tests.fakes.journal import FakeJournal
from tests.fakes.memories import FakeMemories, FakeWordIndex
from tests.unit.memory.bench import Noon

from iai_mcp.adapters.surroundings import LocalProjects
from iai_mcp.domain.prompt_match import Mode
from iai_mcp.memory.injections import Injections
from iai_mcp.memory.prompt_injection import NewPrompt, PromptInjection
from iai_mcp.memory.scoping import Access

PROMPT = NewPrompt(text="is parse_header kept in the cache of the compiler?", session_id="mine")
ASKED, ANSWERED = "what of parse_header?", "parse_header is kept in valkey"


class Kit:
    """An exchange about what the prompt names, and one about nothing of it."""

    def __init__(self, mode: Mode = "auto") -> None:
        self.memories = FakeMemories()
        self.memories.say(ASKED)
        self.memories.say(ANSWERED, role="assistant")
        self.memories.say("a cake?")
        self.memories.say("it was lemon", role="assistant")
        self.journal = FakeJournal()
        self.injections = Injections(self.memories, self.journal, Noon(), lambda now: now())
        self.inject = PromptInjection(
            memories=self.memories,
            access=Access(self.memories, LocalProjects()),
            index=FakeWordIndex(self.memories),
            exchanges=lambda key, _around: [[1, 2] if key < 3 else [3, 4]],
            mode=lambda: mode,
            count_tokens=lambda: lambda text: len(text) // 4,
            injections=self.injections,
            clock=Noon(),
        )


def test_what_names_the_same_goes_in_and_never_twice_into_one_session() -> None:
    kit = Kit()

    first = kit.inject(PROMPT)

    assert f'"{ASKED}" → {ANSWERED}' in first.text
    assert "cake" not in first.text
    assert kit.inject(PROMPT).text == ""
    assert kit.inject(NewPrompt(text=PROMPT.text, session_id="another")).text == first.text


def test_what_went_in_can_be_asked_for_with_its_reason() -> None:
    kit = Kit()
    kit.inject(PROMPT)

    (told,), more = kit.injections.latest(session_id="mi")

    assert (told.moment, told.session_id, more) == ("prompt", "mine", False)
    assert [(one.source.why, one.memory) for one in told.used] == [
        ("it names parse_header", kit.memories.stored[1]),
        ("it names parse_header", kit.memories.stored[2]),
    ]
    kit.memories.forget([1], 5)
    assert kit.injections.latest()[0][0].used[0].memory is None


def test_turned_off_or_asked_nothing_it_is_silent() -> None:
    assert Kit("off").inject(PROMPT).text == ""
    assert Kit().inject(NewPrompt(text="yes")).text == ""


def test_an_agents_note_is_no_conclusion_until_somebody_pins_it() -> None:
    kit = Kit()
    note = kit.memories.stored[2]
    by_agent = replace(note.provenance, captured_by="backend")
    kit.memories.stored[2] = replace(note, provenance=by_agent)
    assert kit.inject(PROMPT).text == ""
    kit.memories.stored[2] = replace(kit.memories.stored[2], pinned=True)
    assert ANSWERED in kit.inject(PROMPT).text
