"""Stands before everything the page serves, and lets in nobody but the page itself.

A page of a stranger shows in `Origin` and `Sec-Fetch-Site`, a name that was rebound to loopback in
`Host`. Origin equal to Host would not be enough: a rebound name passes that.
"""

import logging
import traceback

from iai_mcp.web import asgi
from iai_mcp.web.asgi import App, Message, Receive, Scope, Send
from iai_mcp.web.logins import Login, Logins

_log = logging.getLogger(__name__)

SECRET_HEADER = "x-iai-csrf"  # noqa: S105 - the name of a header
SUBPROTOCOL = "iai-terminal"

# Styles may be set by scripts: the terminal does, and nothing that others wrote becomes HTML.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; manifest-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]


class Gate:
    """Checks every request and every WebSocket; adds what browsers have to keep to."""

    def __init__(self, app: App, logins: Logins, port: int) -> None:
        self._app = app
        self._logins = logins
        self._hosts: set[str] = set()
        self._cookie = cookie_name(port)
        self.seen_at(port)

    def seen_at(self, port: int) -> None:
        """Browsers have the page at that port of theirs: its own, or where a tunnel of its owner ends.

        Only under names of loopback: a stranger's name that was rebound there stays outside.
        """
        self._hosts |= {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            try:
                await self._app(scope, receive, guarded)
            except Exception as broken:  # noqa: BLE001 - the page lives on; the log says where, never what was said
                place = traceback.extract_tb(broken.__traceback__)[-1]
                _log.error("%s in %s:%s", type(broken).__name__, place.filename, place.lineno)
                if scope["type"] == "http" and not begun:
                    told = asgi.text(500, f"it failed inside ({type(broken).__name__})")
                    await told.send(guarded)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await asgi.text(*refusal).send(guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and sentence for who is not let in; who is, is found as `login` in the state."""
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        host = headers.get("host", "")
        if host not in self._hosts:
            return 421, "the page is only at http://127.0.0.1 and its port"
        is_socket = scope["type"] == "websocket"
        origin = headers.get("origin")
        if origin != f"http://{host}" and (is_socket or origin is not None):
            return 403, "another page asks: it gets nothing"
        public = not is_socket and is_public(scope["path"])
        if not _is_from_here(headers, public):
            return 403, "another page asks: it gets nothing"
        if public:
            return None
        login = self._login(headers)
        if login is None:
            return 401, "the page was opened anew, or never: run iai-mcp page"
        if not login.knows(_shown_secret(headers, is_socket)):
            return 403, f"the header {SECRET_HEADER} is missing, or is not this login's"
        scope.setdefault("state", {})["login"] = login
        return None

    def _login(self, headers: dict[str, str]) -> Login | None:
        # By hand: the library's parser gives up at a cookie of somebody else that it finds odd.
        for one in headers.get("cookie", "").split(";"):
            name, _, value = one.strip().partition("=")
            if name == self._cookie:
                return self._logins.of_cookie(value)
        return None


def cookie_name(port: int) -> str:
    """One per port: browsers send the cookies of a machine to all of its ports."""
    return f"iai_page_{port}"


def is_public(path: str) -> bool:
    """Whether it holds nothing of anybody's: the page without anything on it."""
    return path == "/" or path.startswith("/static/")


def _is_from_here(headers: dict[str, str], public: bool) -> bool:
    """Whether a browser says that our own page asks; who is no browser says nothing."""
    site = headers.get("sec-fetch-site")
    if site is None or site == "same-origin":
        return True
    going_there = headers.get("sec-fetch-mode") == "navigate"
    at_top = headers.get("sec-fetch-dest") == "document"
    return public and (site == "none" or (going_there and at_top))


def _shown_secret(headers: dict[str, str], is_socket: bool) -> str:
    if not is_socket:
        return headers.get(SECRET_HEADER, "")
    # A WebSocket of a browser has no headers of its own; what it names as protocols is the way in.
    offered = [name.strip() for name in headers.get("sec-websocket-protocol", "").split(",")]
    return offered[1] if len(offered) == 2 and offered[0] == SUBPROTOCOL else ""
