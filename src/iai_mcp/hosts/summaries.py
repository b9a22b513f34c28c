"""What a model wrote as a summary: compaction summaries, titles, approved plans, memory files.

Events like turns, with `kind: "summary"` and their `source`. Nobody said them: they never pass for a
person's or an agent's words.
"""

from iai_mcp import regular_files
from iai_mcp.hosts.turns import Event, digest, turn

COMPACTION, TITLE, PLAN = "compaction", "title", "plan"

_LARGEST_FILE = 256 * 1024  # bytes
_LONGEST_SECTION = 16_000  # characters


def summary(
    host: str,
    source: str,
    text: str,
    *,
    identity: str = "",
    ts: object = None,
    session_id: object = None,
    cwd: object = None,
    branch: object = None,
) -> list[Event]:
    """The event of one summary; none of a blank one. `identity` is unique across sessions; without it the
    same words of one session are one summary."""
    event = turn(
        host,
        "summary",
        text,
        ts=ts,
        turn_id=identity or f"{source} {digest(text.encode('utf-8', 'replace'), 16)}",
        session_id=session_id,
        cwd=cwd,
        branch=branch,
    )
    if event is None:
        return []
    if identity:
        event["uid"] = identity
    return [event | {"kind": "summary", "source": source}]


def file_sections(path: str) -> list[str]:
    """A Markdown file of notes in sections, each with its heading.

    Raises:
        OSError: it can not be read, or is longer than any notes.
    """
    raw = regular_files.read(path, _LARGEST_FILE, links=regular_files.ANYWHERE)
    found: list[list[str]] = [[]]
    in_code = False
    for line in raw.decode("utf-8-sig", "replace").splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            in_code = not in_code
        if line.startswith("#") and not in_code:
            found.append([])
        found[-1].append(line)
    texts = ("\n".join(lines).strip()[:_LONGEST_SECTION] for lines in found)
    # A heading alone says nothing.
    return [text for text in texts if text.lstrip("#").strip() and "\n" in text]
