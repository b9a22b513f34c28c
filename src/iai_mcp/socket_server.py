"""Names that other programs import; the socket server itself lives beside the daemon.

`_inherit_launchd_socket` gives the listening socket that a service manager passed on, or None.
`_validate_jsonrpc_envelope` says whether a value is a JSON-RPC 2.0 request, and if not, why.
"""

from iai_mcp.daemon.socket_server import SocketServer
from iai_mcp.daemon.socket_server import inherited_socket as _inherit_launchd_socket
from iai_mcp.protocol.codes import FAILED as ERR_DAEMON_INTERNAL
from iai_mcp.protocol.codes import INVALID_PARAMS as ERR_INVALID_PARAMS
from iai_mcp.protocol.codes import INVALID_REQUEST as ERR_INVALID_REQUEST
from iai_mcp.protocol.codes import PARSE_ERROR as ERR_PARSE_ERROR
from iai_mcp.protocol.codes import UNKNOWN_METHOD as ERR_METHOD_NOT_FOUND
from iai_mcp.protocol.messages import request_problem

IDLE_SECS_DEFAULT = 1800

__all__ = [
    "ERR_DAEMON_INTERNAL",
    "ERR_INVALID_PARAMS",
    "ERR_INVALID_REQUEST",
    "ERR_METHOD_NOT_FOUND",
    "ERR_PARSE_ERROR",
    "IDLE_SECS_DEFAULT",
    "SocketServer",
    "_inherit_launchd_socket",
    "_validate_jsonrpc_envelope",
]


def _validate_jsonrpc_envelope(req: object) -> tuple[bool, str | None]:
    problem = request_problem(req)
    return problem is None, problem
