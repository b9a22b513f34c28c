"""Everything that the page serves: its files, the table of methods, changes, terminals."""

from urllib.parse import parse_qs, quote

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from iai_mcp.domain.errors import IaiError
from iai_mcp.web import files, terminals
from iai_mcp.web.calls import Calls, read, status_of
from iai_mcp.web.changes import Changes
from iai_mcp.web.gate import SECRET_HEADER, cookie_name
from iai_mcp.web.logins import Login, Logins

_LARGEST_BODY = 1 << 20
_USED = "this address worked once, or its time is over: run iai-mcp page again\n"


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
            await self._terminal(WebSocket(scope, receive, send))
        elif scope["type"] == "http":
            request = Request(scope, receive)
            await (await self._answer(request))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        path, method = request.url.path, request.method
        if path == "/" and method == "GET":
            return self._front(request)
        if path.startswith("/static/") and method == "GET":
            return self._file(path.removeprefix("/static/"))
        if path == "/events" and method == "GET":
            return StreamingResponse(self._changes.stream(), media_type="text/event-stream")
        if path == "/keyboard" and method == "POST":
            return await self._keyboard(request)
        if path.startswith("/api/") and method == "POST":
            return await self._call(request, path.removeprefix("/api/"))
        return PlainTextResponse("there is nothing here\n", 404)

    def _front(self, request: Request) -> Response:
        """The page itself; where the URL brings a token, first the login that it is good for."""
        tokens = parse_qs(request.url.query).get("token")
        if tokens is None:
            return self._file(files.FRONT)
        login = self._logins.exchange(tokens[0])
        if login is None:
            return PlainTextResponse(_USED, 401)
        # After the hash: that part of an address is never sent, and the page takes it out at once.
        cookie = f"{cookie_name(self._port)}={login.cookie}; Path=/; HttpOnly; SameSite=Strict"
        return Response(
            None,
            303,
            {
                "Location": f"/#k={quote(login.secret)}",
                "Set-Cookie": cookie,
                SECRET_HEADER: login.secret,
            },
        )

    def _file(self, name: str) -> Response:
        file = self._files.get(name)
        if file is None:
            return PlainTextResponse("there is nothing here\n", 404)
        return Response(file.content(), headers={"content-type": file.kind})

    async def _call(self, request: Request, method: str) -> Response:
        body = await _body(request)
        if isinstance(body, Response):
            return body
        login: Login = request.scope["state"]["login"]

        def may_type(session: str) -> bool:
            return self._logins.may_type(login, session)

        try:
            return JSONResponse(await self._calls(method, body, may_type))
        except IaiError as failed:
            return _failure(status_of(failed), failed.code, failed.message)

    async def _keyboard(self, request: Request) -> Response:
        """Give this login the keyboard of a session, or take it back."""
        body = await _body(request)
        if isinstance(body, Response):
            return body
        try:
            wanted = read(body)
        except IaiError as failed:
            return _failure(400, failed.code, failed.message)
        session, take = str(wanted.get("session")), wanted.get("take", True) is True
        login: Login = request.scope["state"]["login"]
        if take:
            self._logins.give_keyboard(login, session)
        else:
            self._logins.take_keyboard(login, session)
        return JSONResponse({"session": session, "keyboard": take})

    async def _terminal(self, socket: WebSocket) -> None:
        login: Login = socket.scope["state"]["login"]
        session = socket.url.path.removeprefix("/terminal/")

        def may_type() -> bool:
            return self._logins.may_type(login, session)

        await terminals.show(socket, session, may_type)


async def _body(request: Request) -> bytes | Response:
    """What was sent; a refusal where it is no JSON, or too much."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        return _failure(415, "INVALID_INPUT", "send the parameters as application/json")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > _LARGEST_BODY:
            return _failure(413, "INVALID_INPUT", f"at most {_LARGEST_BODY} bytes can be sent")
        parts.append(part)
    return b"".join(parts)


def _failure(status: int, code: str, message: str) -> Response:
    return JSONResponse({"error": {"code": code, "message": message}}, status)
