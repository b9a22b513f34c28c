"""Stage 5: which passages fit the budget, and the answer as one text.

The text is what models and people read: a few results with their telling passages, then one line for each
further one, each with an id that `memory_show` opens.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from iai_mcp.domain.evidence_lines import (
    in_words,
    one_line,
    quoted,
    short_id,
    short_ids,
    speaker_of,
)
from iai_mcp.domain.index_lines import exchange_words
from iai_mcp.domain.memories import Memory
from iai_mcp.domain.projects.identity import from_key
from iai_mcp.domain.words import count
from iai_mcp.domain.work import Command, Edit, Looked, Record, text_of
from iai_mcp.recall.passages import Span, Valued

BETWEEN = " … "
BYTES_PER_TOKEN = 4
_ASKED, _NEXT = 70, 100  # characters
_FEWEST_WORDS = 3  # a shorter next message ("yes", "continue") corrects nothing
_LINE = 76  # characters of the words of a one-line result
_CUE = 80
_COMMAND, _REQUEST = 300, 60
_MORE = "more (memory_show opens one):"
_NO_MATCH = "No good match; the nearest are:"
NOTHING = "Nothing is stored yet that could match."


@dataclass(frozen=True, slots=True)
class Listed:
    """A result as one line: its request and its conclusion, either of which may be missing."""

    main: Memory
    request: str
    conclusion: str
    replaced_by: str = ""  # the id of what superseded it


@dataclass(frozen=True, slots=True)
class Shown:
    """A result with passages: its turns with what is shown of each, in the order said."""

    listed: Listed
    turns: tuple[tuple[Memory, str], ...]
    next: str = ""
    also: tuple[str, ...] = ()  # days on which the same was said elsewhere
    disputed_by: tuple[str, ...] = ()  # ids of what contradicts it
    why: str = ""  # what its score is made of, where that was asked for


def choose(
    passages: Sequence[Valued],
    room: int,
    size: Callable[[int, Span], int],
    opening: Callable[[int, bool], int],
    entry_of: Callable[[int], int],
) -> dict[int, list[Span]]:
    """Which passages to show of which turn, best first while they fit `room` bytes.

    `size` is what a passage of a turn takes, `opening` what the first passage of a turn takes besides, and
    whether it is the first of its result. The best passage comes in any case.
    """
    chosen: dict[int, list[Span]] = {}
    entries: set[int] = set()
    for passage in passages:
        span = (passage.start, passage.end)
        cost = size(passage.turn, span)
        if passage.turn not in chosen:
            cost += opening(passage.turn, entry_of(passage.turn) not in entries)
        if cost > room and chosen:
            continue
        room -= cost
        entries.add(entry_of(passage.turn))
        chosen.setdefault(passage.turn, []).append(span)
    return {turn: sorted(own) for turn, own in chosen.items()}


def joined(text: str, spans: Sequence[Span], between: str = BETWEEN) -> str:
    """The stretches of `text`; only blanks between two of them stay as they are."""
    shown = ""
    last = 0
    for start, end in spans:
        gap = text[last:start]
        if shown:
            shown += gap if not gap.strip() else between
        shown += text[start:end]
        last = end
    return shown


def answer_text(
    cue: str,
    shown: Sequence[Shown],
    listed: Sequence[Listed],
    *,
    close: bool,
    rows: int,
    budget: int,
    notes: Sequence[str] = (),
    work: Sequence[str] = (),
) -> tuple[str, Sequence[Listed]]:
    """The whole answer in at most `budget` bytes beyond its first result, and the lines that fit it."""
    every = [one.main.id for one in listed] + [one.listed.main.id for one in shown]
    every += [one.listed.replaced_by or one.listed.main.id for one in shown]
    ids = short_ids(every)
    if not shown and not listed and not work:
        return "\n".join([*notes, NOTHING]), ()
    project = _common_project([one.listed.main for one in shown] or [one.main for one in listed])
    blocks: list[str] = list(notes)
    if close:
        name = f" in {project}" if project else ""
        blocks.append(
            f'{_counted(len(shown), "result")} for "{one_line(cue, _CUE)}"{name} (of {rows:,} messages)'
        )
        blocks += [block(one, ids, project) for one in shown]
    else:
        blocks.append(_NO_MATCH)
    text = "\n\n".join(blocks)
    if work:
        text += "\n\n" + "\n".join(work)
    return _with_lines(text, listed, ids, project, budget, heading=_MORE if close else "")


def _with_lines(
    text: str,
    listed: Sequence[Listed],
    ids: Mapping[str, str],
    project: str,
    budget: int,
    heading: str,
) -> tuple[str, Sequence[Listed]]:
    left = budget - len(text.encode()) - len(heading) - 4
    lines: list[str] = []
    kept: list[Listed] = []
    for one in listed:
        written = line(one, ids, project)
        left -= len(written.encode()) + 1
        if left < 0:
            break
        lines.append(written)
        kept.append(one)
    if not lines:
        return text, ()
    parts = [f"{heading}\n" if heading else "", "\n".join(lines)]
    return f"{text}\n{'' if not heading else chr(10)}{''.join(parts)}", kept


def line(one: Listed, ids: Mapping[str, str], project: str) -> str:
    """`[id] date · who · "request" → conclusion`."""
    words = exchange_words(one.request, one.conclusion, _LINE)
    replaced = f" · superseded by [{ids.get(one.replaced_by, one.replaced_by[:8])}]"
    where = _where(one.main, project, short=True)
    return f"[{ids[one.main.id]}] {where}{replaced if one.replaced_by else ''} · {words}"


def block(one: Shown, ids: Mapping[str, str], project: str) -> str:
    """A result with its passages, the request before them and the person's next message behind."""
    main = one.listed.main
    head = f"[{ids[main.id]}] {_where(main, project)}"
    if main.provenance.branch:
        head += f" · branch {one_line(main.provenance.branch, 60)}"
    if one.listed.replaced_by:
        head += f" · superseded by [{ids[one.listed.replaced_by]}]"
    if one.disputed_by:
        head += f" · disputed by {', '.join(f'[{other[:8]}]' for other in one.disputed_by)}"
    if one.also:
        head += f" · also {', '.join(one.also)}"
    asked = request_of(one)
    lines = [head, *([f"> asked: {asked}"] if asked else [])]
    lines += [f"({one.why})"] if one.why else []
    lines.append("\n… ".join(_told(turn, text, one) for turn, text in one.turns))
    if one.next:
        lines.append(f'next: "{one.next}"')
    return "\n".join(lines)


def _told(turn: Memory, text: str, one: Shown) -> str:
    """What is shown of a turn. Beside replies the person's words begin with a label."""
    replied = any(other.role == "assistant" for other, _ in one.turns)
    return f"> asked: {quoted(text)}" if turn.role == "user" and replied else quoted(text)


def request_of(one: Shown) -> str:
    """The request as one line, unless it is shown itself."""
    if any(turn.role == "user" for turn, _ in one.turns) or not one.listed.request:
        return ""
    return one_line(one.listed.request, _ASKED)


def next_message(text: str) -> str:
    """The person's next message as one line; nothing of one that is a word or two."""
    return one_line(text, _NEXT) if count(text[:_NEXT]) >= _FEWEST_WORDS else ""


def _where(memory: Memory, project: str, *, short: bool = False) -> str:
    """When, who and in which project; `short`: who only where it is not the person or a program."""
    whence = memory.provenance
    named = memory.speaker or whence.agent_name or whence.member
    parts = [memory.at.text[:10], named if short else speaker_of(memory)]
    own = from_key(memory.provenance.project).name if memory.provenance.project else ""
    if own and own != project:
        parts.append(own)
    if memory.pinned:
        parts.append("pinned")
    return " · ".join(one_line(part, 60) for part in parts if part)


def _common_project(memories: Sequence[Memory]) -> str:
    """The project's name, where all results share it."""
    keys = {memory.provenance.project for memory in memories}
    key = keys.pop() if len(keys) == 1 else ""
    return from_key(key).name if key else ""


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def work_line(record: Record, request: str = "") -> str:
    """`[id] time · $ command` or the edit of a file, with the request that it served."""
    head = f"[{short_id(record.id)}] {record.at.text[:16].replace('T', ' ')}"
    done = record.done
    asked = f' · for "{one_line(request, _REQUEST)}"' if request else ""
    match done:
        case Command():
            ended = " (rejected)" if done.rejected else " (failed)" if done.failed else ""
            return f"{head} · $ {one_line(done.command, _COMMAND)}{ended}{asked}"
        case Edit():
            return (
                f"{head} · {done.action} {in_words(done.path)} +{done.added} −{done.removed}{asked}"
            )
        case Looked():
            return f"{head} · read {one_line(text_of(done), _COMMAND)}{asked}"
