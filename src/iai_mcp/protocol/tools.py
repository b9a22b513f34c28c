"""The MCP tools as hosts see them: plain dicts, so that the bridge can list them by itself.

Every host pays for these words in every session, so the schemas are written by hand and kept
short: a parameter whose name says it all has no description. Output schemas promise only what
callers build on, because clients refuse an answer that does not match. The search hint is for
Claude Code's search over tools that a model does not see yet; it costs the model nothing.
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
    name: str,
    title: str,
    description: str,
    search_hint: str,
    takes: Schema,
    gives: Schema | None,
    hints: Schema,
) -> Definition:
    shown: Definition = {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": takes,
    }
    return {
        **shown,
        **({} if gives is None else {"outputSchema": gives}),
        "annotations": hints,
        "_meta": {"anthropic/searchHint": search_hint},
    }


# These answer with one text block. Structured content comes only with `format: "json"`.
TEXT_TOOLS = frozenset(("memory_recall", "memory_show", "memory_timeline", "memory_work"))

_FORMAT: Schema = {"type": "string", "enum": ["text", "json"]}
_SINCE: Schema = {"type": "string", "description": "ISO date or 'yesterday', '3 days ago'"}

FOR_MODELS: tuple[Definition, ...] = (
    _tool(
        "memory_recall",
        "Search memory",
        "Search what was said and done in earlier sessions, and in this one before it was compacted. "
        "Returns verbatim excerpts with dates and ids, then one line per further result. "
        "Give 3–4 `wordings`: how the ANSWER may be worded, with likely identifiers, file names, flags "
        "or error text. Wrong guesses do no harm; they find twice as much as the question alone. "
        'Example: cue "why did we drop redis?", wordings ["moved the job queue to Postgres", '
        '"one service less, jobs survive a restart", "redis queue removed SKIP LOCKED"].',
        "remember, earlier session, previous conversation, past decision, history, what did we "
        "decide, why did we, last time",
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
        "open or read a memory by id, whole exchange, full text of an earlier session",
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
        "What agents ran and changed in this project: one result a line, with an id that memory_show opens. "
        "`ask` and its `query`: how (words) finds commands that worked; fix (the error text) what fixed it; "
        "blame (a path) its edits and the requests behind them; changed (no query) the latest edits.",
        "which command worked, how to run tests or build, fix for an error seen before, who "
        "changed this file, latest edits",
        _object(
            {
                "ask": {"type": "string", "enum": ["how", "fix", "blame", "changed"]},
                "query": {
                    "type": "string",
                    "description": "words, error text, or a path for blame",
                },
                "wordings": {
                    **_TEXTS,
                    "description": "for how: 3–4 possible wordings of the command (at most 6)",
                },
                "project": {"type": "string", "description": "name or path; '*' for all"},
                "since": _SINCE,
                "until": _TEXT,
                "session_id": _TEXT,
                "agent": _TEXT,
                "host": _TEXT,
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
        "this for a conclusion that was never said in plain words.",
        "remember this, save a note, keep a conclusion for later sessions",
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
        "Correct a memory of this project that is wrong or out of date. The old text is kept.",
        "correct a memory that is wrong or out of date, this has changed",
        _object({"id": _TEXT, "new_fact": _TEXT}, ("id", "new_fact")),
        _ANYTHING,
        _hints(),
    ),
    _tool(
        "memory_forget",
        "Forget",
        "Delete memories that the user wants gone, at most 50 a day. Give ids or filters; a memory must "
        "match all of them. Try dry_run first.",
        "forget, delete or remove memories, clean up what was remembered",
        _object(
            {
                "ids": _TEXTS,
                "query": {"type": "string", "description": "words that the text contains"},
                "session_id": _TEXT,
                "project": _TEXT,
                "after": _SINCE,
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
        "What was said last in this project, or at a time, or in a session: the newest turns, one line each, "
        "oldest first, with ids that memory_show opens.",
        "recent history, what happened yesterday or last week, latest messages by date, a "
        "session in order",
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
)

# Listed only when the setting `mcp_tools` is `all`; they can be called in any case.
OTHERS: tuple[Definition, ...] = (
    _tool(
        "memory_reinforce",
        "Reinforce",
        "Say which hits were useful together.",
        "mark memories that were useful together",
        _object({"ids": _TEXTS}, ("ids",)),
        _ANYTHING,
        _hints(),
    ),
    _tool(
        "memory_consolidate",
        "Consolidate",
        "Run upkeep (sleep) now.",
        "run the upkeep of memory now, sleep",
        _object({"wait": _FLAG}),
        _ANYTHING,
        _hints(repeats=True),
    ),
    _tool(
        "profile_get_set",
        "Settings",
        "Read settings.",
        "read the settings and knobs of memory",
        _object({"operation": {}, "knob": _TEXT, "value": {}}),
        _ANYTHING,
        _hints(reads=True),
    ),
    _tool(
        "events_query",
        "Events",
        "What memory did lately.",
        "log of what the memory did, events",
        _object({"kind": _TEXT, "since": _TEXT, "limit": _WHOLE}),
        _object({"events": _LIST}),
        _hints(reads=True),
    ),
    _tool(
        "topology",
        "Topology",
        "Counts, communities, pending vectors.",
        "memory statistics, how much is remembered, topics, counts",
        _object({}),
        _ANYTHING,
        _hints(reads=True),
    ),
)

DEFINITIONS = FOR_MODELS + OTHERS
NAMES: frozenset[str] = frozenset(str(definition["name"]) for definition in DEFINITIONS)


def listed(mcp_tools: str) -> tuple[Definition, ...]:
    """What `tools/list` answers with this value of the setting `mcp_tools`."""
    return DEFINITIONS if mcp_tools == "all" else FOR_MODELS
