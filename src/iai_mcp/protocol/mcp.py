"""What the bridge and the daemon both say about themselves to an MCP host."""

from iai_mcp import __version__

SERVER_NAME = "iai-mcp"

# What the SDK negotiates by handshake, oldest first; a test holds the two lists together.
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

# Under this key of `params._meta` the first message of a connection may say who is calling.
CONTEXT_META = "iai-mcp/context"
CONTEXT_KEYS = ("cwd", "project", "session_id", "agent_id", "agent_name")

# A request that makes its connection an agent's: it then takes MCP and nothing else.
AGENTS_METHOD = "agent_connection"

INSTRUCTIONS = (
    "Memory of every earlier agent session on this machine, verbatim. When the user refers to earlier "
    "work, or before you ask about or repeat it, search with memory_recall and give 3–4 wordings of the "
    "likely answer. Open results with memory_show."
)


def negotiate(requested: str) -> str:
    """The version both sides speak: the one asked for, else the newest we know."""
    return requested if requested in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]


def initialize_result(requested: str) -> dict[str, object]:
    """The answer to `initialize`: the same words whoever gives it."""
    return {
        "protocolVersion": negotiate(requested),
        "capabilities": {"tools": {}},
        "serverInfo": {"name": SERVER_NAME, "version": __version__},
        "instructions": INSTRUCTIONS,
    }


def caller_context(message: object) -> dict[str, str]:
    """Who a connection's first message says is calling; empty when it does not say."""
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    claimed = meta.get(CONTEXT_META) if isinstance(meta, dict) else None
    if not isinstance(claimed, dict):
        return {}
    return {
        key: value for key in CONTEXT_KEYS if isinstance(value := claimed.get(key), str) and value
    }


def envelope_of_result() -> dict[str, object]:
    """What every result carries in the protocol without a handshake."""
    server = {"name": SERVER_NAME, "version": __version__}
    return {
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": server},
    }
