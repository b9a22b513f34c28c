"""What was asked of an agent and what it replied, told together: neither says much alone."""

from collections.abc import Sequence

from iai_mcp.domain.memories import Memory
from iai_mcp.domain.narration import broken_off
from iai_mcp.domain.short_prompts import answers_shortly, only_asks, option_picked, says_only_yes
from iai_mcp.domain.shown_text import shortened
from iai_mcp.domain.units import units
from iai_mcp.ports.memories import Memories

_READ_OF_EACH = 100_000  # characters
REQUEST = 50  # characters of the prompt that a conclusion answers: each hit pays for them
_OFFER = 70  # characters of what "yes" means
_END = 1_500  # characters in which a proposal is looked for
_READ_FOR_OPTIONS = 8_000  # characters: options stand above the question which is wanted


def request(prompt: Memory, memories: Memories, *, answers: bool) -> str:
    """A prompt as what answers it names it; with the proposal that it means, if it is a short answer."""
    said = shortened(prompt.text, REQUEST)
    if not answers and not says_only_yes(prompt.text):
        return said
    before, _ = memories.neighbours(prompt, 1, _READ_OF_EACH)
    return _with_its_offer(said, prompt, before)


def reply(prompt: Memory, memories: Memories) -> tuple[Memory, str] | None:
    """What an agent replied to a prompt that says little by itself, and the prompt as its request.

    None for what stands by itself, for chats of people or without an agent's program, and where an agent
    said more than one thing: of that the ranking of exchanges knows more.
    """
    whence = prompt.provenance
    if prompt.role != "user" or prompt.speaker or not whence.host or not whence.session_id:
        return None
    answers = answers_shortly(prompt.text)
    if not answers and not only_asks(prompt.text):
        return None
    before, after = memories.neighbours(prompt, 2, _READ_OF_EACH)
    if [one.role for one in after][:2] not in (["assistant"], ["assistant", "user"]):
        return None
    if broken_off(after[0].text) and not answers:
        return None
    said = shortened(prompt.text, REQUEST)
    return after[0], _with_its_offer(said, prompt, before) if answers else said


def _with_its_offer(said: str, prompt: Memory, before: Sequence[Memory]) -> str:
    """One session can go through several projects, and some of them are private: then the offer is not told."""
    last = before[-1] if before else None
    if last is None or last.role != "assistant" or _project(last) != _project(prompt):
        return said
    picked = option_picked(prompt.text, last.text[-_READ_FOR_OPTIONS:])
    offered = shortened(picked, _OFFER) if picked else _offered(last.text)
    return f"{offered} … {said}" if offered else said


def _project(memory: Memory) -> str:
    return memory.provenance.project


def _offered(text: str) -> str:
    """What a proposal ends with."""
    end = text[-_END:]
    found = units(end)
    said = " ".join(end[found[-1].start : found[-1].end].split()) if found else ""
    if len(said) <= _OFFER:
        return said
    return f"…{said[said.find(' ', len(said) - _OFFER) + 1 :]}"
