"""Everything that the page serves: its files, the table of methods, changes, terminals."""

from urllib.parse import parse_qs, quote

from iai_mcp.domain.errors import IaiError
from iai_mcp.web import asgi, files, terminals
from iai_mcp.web.asgi import Answer, Receive, Scope, Send, json_answer
from iai_mcp.web.calls import Calls, read, status_of
from iai_mcp.web.changes import Changes
from iai_mcp.web.gate import SECRET_HEADER, cookie_name
from iai_mcp.web.logins import Login, Logins

_LARGEST_BODY = 1 << 20
_USED = "this address worked once, or its time is over: run iai-mcp page again"
_STATIC = "/static/"
_NOTHING = asgi.text(404, "there is nothing here")


class Application:
    """What is behind the gate."""

    def __init__(self, logins: Logins, changes: Changes, port: int) -> None:
        self._logins = logins
        self._changes = changes
        self._port = port
        self._calls = Calls()
        self._files = files.served()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._terminal(scope, asgi.WebSocket(receive, send))
        elif scope["type"] == "http" and (scope["method"], scope["path"]) == ("GET", "/events"):
            await asgi.stream(receive, send, self._changes.stream())
        elif scope["type"] == "http":
            await (await self._answer(scope, receive)).send(send)

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        path = scope["path"]
        if scope["method"] == "GET":
            if path == "/":
                return self._front(scope)
            return self._file(path.removeprefix(_STATIC)) if path.startswith(_STATIC) else _NOTHING
        if scope["method"] != "POST" or not (path == "/keyboard" or path.startswith("/api/")):
            return _NOTHING
        if asgi.header(scope, "content-type").partition(";")[0] != "application/json":
            return _failure(415, "INVALID_INPUT", "send the parameters as application/json")
        body = await asgi.read_body(receive, _LARGEST_BODY)
        if body is None:
            return _failure(413, "INVALID_INPUT", f"at most {_LARGEST_BODY} bytes can be sent")
        login: Login = scope["state"]["login"]
        try:
            if path == "/keyboard":
                return self._keyboard(login, body)
            return await self._call(login, path.removeprefix("/api/"), body)
        except IaiError as failed:
            return _failure(status_of(failed), failed.code, failed.message)

    def _front(self, scope: Scope) -> Answer:
        """The page itself; where the URL brings a token, first the login that it is good for."""
        tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if tokens is None:
            return self._file(files.FRONT)
        login = self._logins.exchange(tokens[0])
        if login is None:
            return asgi.text(401, _USED)
        # After the hash: that part of an address is never sent, and the page takes it out at once.
        cookie = f"{cookie_name(self._port)}={login.cookie}; Path=/; HttpOnly; SameSite=Strict"
        told = {
            "Location": f"/#k={quote(login.secret)}",
            "Set-Cookie": cookie,
            SECRET_HEADER: login.secret,
        }
        return Answer(303, b"", asgi.TEXT, told)

    def _file(self, name: str) -> Answer:
        file = self._files.get(name)
        return _NOTHING if file is None else Answer(200, file.content(), file.kind)

    async def _call(self, login: Login, method: str, body: bytes) -> Answer:
        def may_type(session: str) -> bool:
            return self._logins.may_type(login, session)

        return asgi.as_json(200, await self._calls(method, body, may_type))

    def _keyboard(self, login: Login, body: bytes) -> Answer:
        """Give this login the keyboard of a session, or take it back."""
        wanted = read(body)
        session, take = str(wanted.get("session")), wanted.get("take", True) is True
        if take:
            self._logins.give_keyboard(login, session)
        else:
            self._logins.take_keyboard(login, session)
        return json_answer(200, {"session": session, "keyboard": take})

    async def _terminal(self, scope: Scope, socket: asgi.WebSocket) -> None:
        login: Login = scope["state"]["login"]
        session = scope["path"].removeprefix("/terminal/")

        def may_type() -> bool:
            return self._logins.may_type(login, session)

        await terminals.show(socket, session, may_type)


def _failure(status: int, code: str, message: str) -> Answer:
    return json_answer(status, {"error": {"code": code, "message": message}})
