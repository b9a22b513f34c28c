"""Answers as text, as models and people read them: opened exchanges, timelines, previews of forgetting."""

from collections.abc import Iterable, Sequence

from iai_mcp.api.table import Json
from iai_mcp.domain.evidence_lines import in_words, one_line, quoted, short_id, speaker_of
from iai_mcp.domain.memories import Memory, Provenance
from iai_mcp.domain.projects.identity import from_key
from iai_mcp.domain.work import Command, Edit, Looked, Record, text_of
from iai_mcp.memory.show import ShownExchange

# Hosts cut answers of more than 25,000 tokens.
LONGEST_TEXT = 80_000  # characters
_BYTES_PER_TOKEN = 4
_LINE = 160  # characters of a turn in a timeline
_SAMPLES = 10
_COMMAND = 300


def exchanges_text(shown: Sequence[ShownExchange], offset: int = 0) -> str:
    """Exchanges whole and verbatim, within what a host accepts. `offset` continues a long one."""
    texts = ["\n\n".join(_part(part, one.wanted) for part in one.parts) for one in shown]
    whole = "\n\n---\n\n".join(text for text in texts if text)[offset:]
    if len(whole) <= LONGEST_TEXT:
        return whole
    end = whole.rfind("\n", LONGEST_TEXT // 2, LONGEST_TEXT) + 1 or LONGEST_TEXT
    wanted = short_id(shown[0].wanted)
    more = f'(continues: memory_show ids=["{wanted}"] offset={offset + end})'
    return f"{whole[:end].rstrip()}\n\n{more}"


def timeline_text(
    records: Sequence[Json], turns: Sequence[Memory], budget: int, more: object
) -> str:
    """One line per turn, oldest first: the newest that fit the budget."""
    room = budget * _BYTES_PER_TOKEN
    lines: list[str] = []
    left_out = bool(more)
    for record, turn in reversed(list(zip(records, turns, strict=True))):
        line = _turn_line(turn) + _work_counts(record.get("work"))
        room -= len(line.encode()) + 1
        if room < 0 and lines:
            left_out = True
            break
        lines.append(line)
    if not lines:
        return "Nothing is stored here for these filters."
    oldest = turns[len(turns) - len(lines)].at.text[:16]
    note = [f'(older turns: memory_timeline until="{oldest}")'] if left_out else []
    return "\n".join([*note, *reversed(lines)])


def forget_preview_text(would: Json, samples: Iterable[tuple[str, str, str]]) -> str:
    """What `dry_run` would delete: counts and the first ten."""
    matches = would.get("matches", 0)
    lines = [f"{matches} records match. Nothing is deleted yet: call again without dry_run."]
    lines += [
        f"[{short_id(one)}] {at[:10]} · {one_line(quoted(text), _LINE)}"
        for one, at, text in samples
    ]
    return "\n".join(lines)


def work_text(asked: str, found: Json, budget: int) -> str:
    """Commands, fixes or edits, one result per line, with ids that `memory_show` opens."""
    lines = [_WORK_LINES[asked](one) for one in _objects(found)]
    if not lines:
        return 'Nothing found in this project. project="*" searches all projects.'
    room = budget * _BYTES_PER_TOKEN
    kept: list[str] = []
    for line in lines:
        room -= len(line.encode()) + 1
        if room < 0 and kept:
            break
        kept.append(line)
    return "\n".join(kept)


def _objects(found: Json) -> list[Json]:
    (listed,) = found.values()
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _command_line(one: Json) -> str:
    uses = one.get("uses")
    times = f" · {uses}×" if isinstance(uses, int) and uses > 1 else ""
    head = f"[{short_id(str(one['id']))}] {str(one['last'])[:10]}{times}{_of_project(one)}"
    return f"{head} · $ {one_line(str(one['command']), _COMMAND)}{_requested(one)}"


def _fix_line(one: Json) -> str:
    ids = one["ids"]
    first = str(ids[0]) if isinstance(ids, list) and ids else ""
    head = f"[{short_id(first)}] {str(one['ts'])[:10]}{_of_project(one)}"
    steps = str(one["mended_by"]).split("\n")
    fixed = "\n".join(f"  fixed by: {one_line(step, _COMMAND)}" for step in steps)
    return f"{head} · $ {one_line(str(one['command']), _COMMAND)}\n  failed: {one_line(str(one['failure']), _COMMAND)}\n{fixed}"


def _edit_line(one: Json) -> str:
    who = in_words(str(one.get("agent") or one.get("host") or ""))
    head = f"[{short_id(str(one['id']))}] {str(one['ts'])[:10]}{_of_project(one)}"
    size = f"+{one['added']} −{one['removed']}"
    return f"{head} · {one['action']} {in_words(str(one['path']))} {size} · {who}{_requested(one)}"


_WORK_LINES = {"how": _command_line, "fix": _fix_line, "blame": _edit_line, "changed": _edit_line}


def _of_project(one: Json) -> str:
    key = one.get("project")
    return f" · {in_words(from_key(key).name)}" if isinstance(key, str) and key else ""


def _requested(one: Json) -> str:
    words = one_line(str(one.get("request") or ""), _LINE)
    return f"\n  asked: {words}" if words else ""


def _turn_line(turn: Memory) -> str:
    when = turn.at.text[:16].replace("T", " ")
    return f"[{short_id(turn.id)}] {when} · {speaker_of(turn)} · {one_line(turn.text, _LINE)}"


def _work_counts(work: object) -> str:
    if not isinstance(work, dict):
        return ""
    names = (("commands", "commands"), ("failed", "failed"), ("edits", "edits"))
    counts = [f"{work[name]} {word}" for name, word in names if work.get(name)]
    return f" ({', '.join(counts)})" if counts else ""


def _part(part: Memory | Record, wanted: str) -> str:
    if isinstance(part, Memory):
        where = _where(part.provenance)
        superseded = " · superseded" if part.valid_to is not None else ""
        head = (
            f"[{short_id(part.id)}] {_when(part.at.text)} · {speaker_of(part)}{where}{superseded}"
        )
        return f"{head}\n{quoted(part.text)}"
    printed = part.done.output if isinstance(part.done, Command) and part.id == wanted else ""
    return _work_line(part) + (f"\n{quoted(printed)}" if printed else "")


def _work_line(record: Record) -> str:
    head = f"[{short_id(record.id)}] {_when(record.at.text)}"
    done = record.done
    match done:
        case Command():
            ended = " (rejected)" if done.rejected else " (failed)" if done.failed else ""
            return f"{head} · $ {one_line(done.command, _COMMAND)}{ended}"
        case Edit():
            return f"{head} · {done.action} {in_words(done.path)} +{done.added} −{done.removed}"
        case Looked():
            return f"{head} · read {one_line(text_of(done), _COMMAND)}"


def _when(text: str) -> str:
    return text[:16].replace("T", " ")


def _where(whence: Provenance) -> str:
    project = in_words(from_key(whence.project).name) if whence.project else ""
    branch = f"branch {in_words(whence.branch)}" if whence.branch else ""
    return "".join(f" · {one}" for one in (project, branch) if one)
