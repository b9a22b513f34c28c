"""The ten MCP tools as hosts see them: plain dicts, so that the bridge can show them alone.

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
    name: str, title: str, description: str, takes: Schema, gives: Schema, hints: Schema
) -> Definition:
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": takes,
        "outputSchema": gives,
        "annotations": hints,
    }


_HITS: Schema = {"type": "array", "items": _object({"id": _TEXT, "text": _TEXT}, ("id", "text"))}

DEFINITIONS: tuple[Definition, ...] = (
    _tool(
        "memory_recall",
        "Recall",
        "What earlier sessions of any agent said or did about a cue: exact passages, best first. "
        "Use it before asking the user.",
        _object(
            {
                "cue": {"type": "string", "description": "question or keywords"},
                "budget_tokens": {
                    "type": "integer",
                    "default": 1500,
                    "description": "5000 to list all",
                },
                "k": {"type": "integer", "maximum": 100},
                "project": {"type": "string", "description": "name or path"},
                "session_id": _TEXT,
                "agent": _TEXT,
                "host": _TEXT,
                "role": _ROLE,
                "kind": {"type": "string", "description": "said, did, any"},
                "since": _TEXT,
                "until": _TEXT,
                "context": {"type": "integer", "description": "turns around"},
                "full": _FLAG,
                "group_by": {"type": "string", "enum": ["session"]},
                "as_of": _TEXT,
                "now": _TEXT,
                "language": _TEXT,
                "cue_embedding": {"type": "array", "items": {"type": "number"}},
            },
            ("cue",),
        ),
        _object({"hits": _HITS, "anti_hits": _LIST}, ("hits",)),
        _hints(reads=True),
    ),
    _tool(
        "memory_capture",
        "Remember",
        "Keep a fact or decision for later sessions of this project, as your note.",
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
        "What was said, oldest first: the newest `limit` turns.",
        _object(
            {
                "project": _TEXT,
                "session_id": _TEXT,
                "since": _TEXT,
                "until": _TEXT,
                "limit": {"type": "integer", "default": 100},
                "cursor": _TEXT,
            }
        ),
        _object({"records": _LIST}),
        _hints(reads=True),
    ),
    _tool(
        "memory_consolidate",
        "Consolidate",
        "Run memory's upkeep (sleep) now.",
        _object({"wait": _FLAG}),
        _ANYTHING,
        _hints(repeats=True),
    ),
    _tool(
        "profile_get_set",
        "Settings",
        "Read memory's settings.",
        _object({"knob": _TEXT, "value": {}}),
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
