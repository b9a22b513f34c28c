"""JSON-RPC error answers for exceptions of `dispatch`: the same on the socket and on stdio."""

import logging

from iai_mcp.api.table import UnknownMethodError
from iai_mcp.domain.errors import IaiError, InvalidInput
from iai_mcp.protocol import messages
from iai_mcp.protocol.codes import FAILED, INVALID_PARAMS, UNKNOWN_METHOD

_log = logging.getLogger(__name__)


def failure(request_id: object, method: str, error: Exception) -> messages.Message:
    """The answer to a call that raised. What people said is in no message and in no log."""
    match error:
        case UnknownMethodError():
            return messages.error(request_id, UNKNOWN_METHOD, f"unknown method '{method}'")
        case InvalidInput():
            return messages.error(request_id, INVALID_PARAMS, error.message, error.code)
        case IaiError():
            return messages.error(request_id, FAILED, error.message, error.code)
    _log.error("call_failed", exc_info=error, extra={"method": method})
    match error:
        case KeyError(args=(name, *_)):
            return messages.error(request_id, INVALID_PARAMS, f"missing required param: {name!r}")
        case KeyError() | TypeError():
            return messages.error(request_id, INVALID_PARAMS, str(error) or "bad params")
    said = f"{method} failed inside ({type(error).__name__})"
    return messages.error(request_id, FAILED, said, "INTERNAL")
