"""The MCP tools as hosts see them: plain dicts, so that the bridge can list them by itself.

Every host pays for these words in every session, so the schemas are written by hand and kept
short: a parameter whose name says it all has no description. Output schemas promise only what
callers build on, because clients refuse an answer that does not match.
"""

Schema = dict[str, object]
Definition = dict[str, object]

_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
_FLAG: Schema = {"type": "boolean"}
_LIST: Schema = {"type": "array"}
_ANYTHING: Schema = {"type": "object"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_ROLE: Schema = {"type": "string", "enum": ["user", "assistant"]}
_ANY_ROLE: Schema = {"type": "string", "enum": ["user", "assistant", "summary"]}


def _object(properties: dict[str, Schema], required: tuple[str, ...] = ()) -> Schema:
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return schema


def _hints(*, reads: bool = False, destroys: bool = False, repeats: bool = False) -> Schema:
    """What a host may assume. The protocol's defaults (writes, destroys) are left unsaid."""
    hints: Schema = {"openWorldHint": False}
    if reads:
        return {"readOnlyHint": True, **hints}
    if not destroys:
        hints["destructiveHint"] = False
    if repeats:
        hints["idempotentHint"] = True
    return hints


def _tool(
    name: str, title: str, description: str, takes: Schema, gives: Schema | None, hints: Schema
) -> Definition:
    shown: Definition = {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": takes,
    }
    return {**shown, **({} if gives is None else {"outputSchema": gives}), "annotations": hints}


# These answer with one text block. Structured content comes only with `format: "json"`.
TEXT_TOOLS = frozenset(("memory_recall", "memory_show", "memory_timeline", "memory_work"))

_FORMAT: Schema = {"type": "string", "enum": ["text", "json"]}
_SINCE: Schema = {"type": "string", "description": "ISO date or 'yesterday', '3 days ago'"}

DEFINITIONS: tuple[Definition, ...] = (
    _tool(
        "memory_recall",
        "Search memory",
        "Search what was said and done in earlier sessions, and in this one before it was compacted. "
        "Returns verbatim excerpts with dates and ids, then one line per further result. "
        "Give 3–4 `wordings`: how the ANSWER may be worded, with likely identifiers, file names, flags "
        "or error text. Wrong guesses do no harm; they find twice as much as the question alone. "
        'Example: cue "why did we drop redis?", wordings ["moved the job queue to Postgres", '
        '"one service less, jobs survive a restart", "redis queue removed SKIP LOCKED"].',
        _object(
            {
                "cue": {"type": "string", "description": "the question"},
                "wordings": {
                    "type": "array",
                    "items": _TEXT,
                    "description": "3–4 possible wordings of the answer (at most 6)",
                },
                "project": {
                    "type": "string",
                    "description": "name or path; default: this project first, then others",
                },
                "since": _SINCE,
                "until": _TEXT,
                "kind": {
                    "type": "string",
                    "enum": ["any", "said", "did"],
                    "description": "said: people and agents; did: commands and edits",
                },
                "budget_tokens": {"type": "integer", "default": 1500},
                "k": {"type": "integer", "maximum": 100},
                "session_id": _TEXT,
                "agent": _TEXT,
                "host": _TEXT,
                "role": _ANY_ROLE,
                "context": {"type": "integer", "description": "turns around"},
                "full": _FLAG,
                "group_by": {"type": "string", "enum": ["session"]},
                "as_of": _TEXT,
                "now": _TEXT,
                "language": _TEXT,
                "cue_embedding": {"type": "array", "items": {"type": "number"}},
                "format": _FORMAT,
            },
            ("cue",),
        ),
        None,
        _hints(reads=True),
    ),
    _tool(
        "memory_show",
        "Open results",
        "Open results of memory_recall: the whole exchange, verbatim, with the commands and edits in "
        "between.",
        _object(
            {
                "ids": {**_TEXTS, "description": "1–5 ids, as printed in [brackets]"},
                "id": _TEXT,
                "around": {"type": "integer", "description": "exchanges before and after"},
                "offset": {"type": "integer", "description": "continue a long exchange"},
                "format": _FORMAT,
            }
        ),
        None,
        _hints(reads=True),
    ),
    _tool(
        "memory_work",
        "Search commands and edits",
        "What agents ran and changed in this project. ask: how (commands that worked), fix (what fixed an "
        "error), blame (edits of a path, with the request), changed (latest edits).",
        _object(
            {
                "ask": {"type": "string", "enum": ["how", "fix", "blame", "changed"]},
                "query": {
                    "type": "string",
                    "description": "words, error text, or a path for blame",
                },
                "wordings": {"type": "array", "items": _TEXT},
                "project": {"type": "string", "description": "name or path; '*' for all"},
                "since": _SINCE,
                "until": _TEXT,
                "limit": _WHOLE,
                "budget_tokens": {"type": "integer", "default": 1500},
                "format": _FORMAT,
            },
            ("ask",),
        ),
        None,
        _hints(reads=True),
    ),
    _tool(
        "memory_capture",
        "Remember",
        "Keep a conclusion for later sessions of this project, as your note. Sessions are kept anyway; use "
        "this for what was never said in plain words.",
        _object(
            {
                "text": _TEXT,
                "role": _ROLE,
                "speaker": _TEXT,
                "tier": {
                    "type": "string",
                    "enum": ["working", "episodic", "semantic", "procedural", "parametric"],
                },
                "cue": _TEXT,
                "session_id": _TEXT,
                "project": _TEXT,
                "ts": _TEXT,
                "meta": _ANYTHING,
            },
            ("text",),
        ),
        _object({"status": _TEXT}),
        _hints(repeats=True),
    ),
    _tool(
        "memory_contradict",
        "Correct",
        "Correct a memory of this project; the old one stays.",
        _object({"id": _TEXT, "new_fact": _TEXT}, ("id", "new_fact")),
        _ANYTHING,
        _hints(),
    ),
    _tool(
        "memory_reinforce",
        "Reinforce",
        "Say which hits were useful together.",
        _object({"ids": _TEXTS}, ("ids",)),
        _ANYTHING,
        _hints(),
    ),
    _tool(
        "memory_forget",
        "Forget",
        "Delete up to 50 memories a day. Filters combine by AND; try dry_run first.",
        _object(
            {
                "ids": _TEXTS,
                "query": _TEXT,
                "session_id": _TEXT,
                "project": _TEXT,
                "after": _TEXT,
                "before": _TEXT,
                "dry_run": _FLAG,
            }
        ),
        _object({"forgotten": _WHOLE}),
        _hints(destroys=True, repeats=True),
    ),
    _tool(
        "memory_timeline",
        "Timeline",
        "The newest turns of this project, one line each, oldest first.",
        _object(
            {
                "project": {"type": "string", "description": "name or path; '*' for all"},
                "session_id": _TEXT,
                "since": _SINCE,
                "until": _TEXT,
                "limit": {"type": "integer", "default": 100},
                "cursor": _TEXT,
                "budget_tokens": {"type": "integer", "default": 1500},
                "format": _FORMAT,
            }
        ),
        None,
        _hints(reads=True),
    ),
    _tool(
        "memory_consolidate",
        "Consolidate",
        "Run upkeep (sleep) now.",
        _object({"wait": _FLAG}),
        _ANYTHING,
        _hints(repeats=True),
    ),
    _tool(
        "profile_get_set",
        "Settings",
        "Read settings.",
        _object({"operation": {}, "knob": _TEXT, "value": {}}),
        _ANYTHING,
        _hints(reads=True),
    ),
    _tool(
        "events_query",
        "Events",
        "What memory did lately.",
        _object({"kind": _TEXT, "since": _TEXT, "limit": _WHOLE}),
        _object({"events": _LIST}),
        _hints(reads=True),
    ),
    _tool(
        "topology",
        "Topology",
        "Counts, communities, pending vectors.",
        _object({}),
        _ANYTHING,
        _hints(reads=True),
    ),
)

NAMES: frozenset[str] = frozenset(str(definition["name"]) for definition in DEFINITIONS)
