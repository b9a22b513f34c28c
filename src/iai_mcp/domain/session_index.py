"""The lines of a session's index: notes, pieces of work, quotes, commands and files.

Each function takes what is stored and returns lines. All words are verbatim.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from iai_mcp.domain.evidence_lines import short_id
from iai_mcp.domain.index_lines import WIDTH, exchange_words, plain
from iai_mcp.domain.injected_text import IndexLine, Source
from iai_mcp.domain.memories import SUMMARY, Memory
from iai_mcp.domain.practice import Habit
from iai_mcp.domain.quoting import in_line
from iai_mcp.domain.shown_text import shortened
from iai_mcp.domain.standing_quotes import asks_to_remember, standing_quotes
from iai_mcp.domain.telling import is_looking
from iai_mcp.domain.work import Command, Edit, Record
from iai_mcp.domain.work_pieces import Piece, spoken_by_person

TITLE, PLAN = "title", "plan"  # sources of summaries

_NOTE_WIDTH = 240
_TITLE_WIDTH = 70
_NAME_WIDTH = 40
_COMMAND_WIDTH = 120
_PATH_WIDTH = 120


def day(memory: Memory | Record) -> str:
    return in_line(memory.at.text[:10])


def note_line(memory: Memory) -> IndexLine:
    """A note that somebody pinned or wrote by hand; who wrote it, unless it was the person."""
    whence = memory.provenance
    author = whence.member or memory.speaker or whence.captured_by
    who = f"{_name(author)}: " if author else ""
    words = in_line(shortened(memory.text, _NOTE_WIDTH))
    why = "pinned" if memory.pinned else "asked to remember"
    return IndexLine(
        f'[{short_id(memory.id)}] {day(memory)} {who}"{words}"', (Source(memory.id, why),)
    )


def is_note(memory: Memory) -> bool:
    """Whether a person stands behind it: an agent's own note counts once a person pinned it."""
    return memory.pinned or (not memory.provenance.captured_by and memory.role != SUMMARY)


def work_lines(
    found: Sequence[Piece], titles: Mapping[str, Memory], width: int = WIDTH
) -> list[IndexLine]:
    """One line per piece; a piece that another session repeats word for word is told once.

    A session's title, which a model wrote, is labelled and told once.
    """
    lines: dict[str, IndexLine] = {}
    titled: set[str] = set()
    for piece in found:
        words = _words(piece, width)
        if words in lines:
            continue
        session = piece.head.provenance.session_id
        title = None if session in titled else titles.get(session)
        titled.add(session)
        lines[words] = _work_line(piece, title, words)
    return list(lines.values())


def _words(piece: Piece, width: int) -> str:
    request = piece.request.text if piece.request is not None else ""
    conclusion = piece.conclusion.text if piece.conclusion is not None else ""
    return exchange_words(request, conclusion, width)


def _work_line(piece: Piece, title: Memory | None, words: str) -> IndexLine:
    whence = piece.head.provenance
    sources = [
        Source(one.id, why)
        for one, why in (
            (piece.request, "what was asked"),
            (piece.conclusion, "how it ended"),
            (title, "session title"),
        )
        if one is not None
    ]
    where = [day(piece.last)]
    where += [_name(one) for one in (whence.branch, whence.agent_name, whence.member) if one]
    if title is not None:
        where.append(f"titled “{in_line(shortened(plain(title.text), _TITLE_WIDTH))}”")
    line = f"[{short_id(piece.head.id)}] {' · '.join([*where, words])}"
    return IndexLine(line, tuple(sources))


def titles(memories: Iterable[Memory]) -> list[Memory]:
    """The titles of sessions among these."""
    return [one for one in memories if one.role == SUMMARY and one.meta.get("source") == TITLE]


def leaf_of(title: Memory) -> str:
    """The host's id of a turn of the session that a title is about; "" where that is its own session."""
    leaf = title.meta.get("leaf")
    return leaf if isinstance(leaf, str) else ""


def titles_by_session(
    found: Iterable[Memory], session_of_leaf: Mapping[str, str]
) -> dict[str, Memory]:
    """The latest title of each session, by its id. Titles come newest first."""
    known: dict[str, Memory] = {}
    for title in found:
        leaf = leaf_of(title)
        session = session_of_leaf.get(leaf, "") if leaf else title.provenance.session_id
        if session:
            known.setdefault(session, title)
    return known


def recent_pieces(found: Sequence[Piece], of_a_session: int, fewest: int) -> list[Piece]:
    """So many pieces of each session at most, so that several sessions are told; more of each where that
    leaves fewer than `fewest`. Pieces come and go newest first."""
    shown: Counter[str] = Counter()
    kept: list[Piece] = []
    others: list[Piece] = []
    for piece in found:
        session = piece.head.provenance.session_id
        shown[session] += 1
        (kept if shown[session] <= of_a_session else others).append(piece)
    kept += others[: max(0, fewest - len(kept))]
    return sorted(kept, key=lambda piece: (-piece.last.at.micros, -piece.last.key))


def quote_lines(prompts: Iterable[Memory], told: Collection[str]) -> list[IndexLine]:
    """Sentences of people that may still apply, each once; prompts come newest first."""
    lines: dict[str, IndexLine] = {}
    for memory in prompts:
        if memory.id in told or not spoken_by_person(memory):
            continue
        for sentence in standing_quotes(memory.text):
            author = memory.provenance.member or memory.speaker
            who = f"{_name(author)}: " if author else ""
            line = f'{day(memory)} {who}"{in_line(sentence)}"'
            source = Source(memory.id, "may still apply")
            lines.setdefault(" ".join(sentence.lower().split()), IndexLine(line, (source,)))
    return list(lines.values())


def asked_to_remember(prompts: Iterable[Memory]) -> list[Memory]:
    return [one for one in prompts if asks_to_remember(one.text) and spoken_by_person(one)]


def practice_line(habits: Sequence[Habit], requests: Sequence[Memory]) -> list[IndexLine]:
    """The commands a project is worked with, on one line; their sources are the requests they served."""
    told = [
        f"{one.purpose} `{in_line(shortened(one.command, _COMMAND_WIDTH))}`"
        f" ({one.uses}×, last {day(one.latest)})"
        for one in habits
    ]
    if not told or not requests:
        return []
    sources = tuple(Source(one.id, "commands that worked") for one in requests)
    return [IndexLine(f"Commands that worked: {' · '.join(told)}", sources)]


def plan_lines(memories: Iterable[Memory]) -> list[IndexLine]:
    """The plans that a person approved, by their titles."""
    return [
        IndexLine(
            f"[{short_id(one.id)}] {day(one)} · approved plan: "
            f"{in_line(shortened(plain(one.text), WIDTH))}",
            (Source(one.id, "approved plan"),),
        )
        for one in memories
        if one.role == SUMMARY and one.meta.get("source") == PLAN
    ]


def file_line(edits: Iterable[Record], most: int) -> list[IndexLine]:
    """The files that were edited, the latest first, with how often."""
    times: Counter[str] = Counter()
    for one in edits:
        if isinstance(one.done, Edit):
            times[one.done.path] += 1
    if not times:
        return []
    told = [
        f"{in_line(shortened(path, _PATH_WIDTH))}{f' ({n}×)' if n > 1 else ''}"
        for path, n in list(times.items())[:most]
    ]
    more = f" and {len(times) - most} more" if len(times) > most else ""
    return [IndexLine(f"Files edited: {', '.join(told)}{more}")]


def command_line(runs: Iterable[Record], most: int) -> list[IndexLine]:
    """The commands that worked, the latest first, each once; those that only read are left out."""
    found: dict[str, None] = {}
    for one in runs:
        done = one.done
        if (
            isinstance(done, Command)
            and not (done.failed or done.rejected or is_looking(done.command))
            and len(done.command) <= _COMMAND_WIDTH
        ):
            found.setdefault(in_line(done.command), None)
    told = [f"`{command}`" for command in list(found)[:most]]
    return [IndexLine(f"Commands that worked: {' · '.join(told)}")] if told else []


def _name(text: str) -> str:
    return in_line(shortened(text, _NAME_WIDTH))
