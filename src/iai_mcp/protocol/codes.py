"""The numbers of the socket protocol."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
INVALID_PARAMS = -32602
FAILED = -32001
UNREACHABLE = -32002  # only from the bridge

MAX_LINE = 16 * 1024 * 1024

CONTROL_TYPES = frozenset(
    {
        "status",
        "user_initiated_sleep",
        "force_wake",
        "force_rem",
        "pause",
        "resume",
        "session_open",
    }
)

MCP_VERSION_META = "io.modelcontextprotocol/protocolVersion"
