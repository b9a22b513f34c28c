"""A scripted model on loopback, so that real agent programs can be driven without a network.

Speaks Anthropic's Messages (Claude Code), OpenAI's Responses (Codex) and Google's
generateContent (Gemini CLI), and OpenAI's Chat Completions (Qwen Code, Copilot CLI, OpenCode). Each request of a conversation gets the next reply of the script;
side requests (titles, quotas, token counts) get a filler. Every request body is kept.
"""

import json
import threading
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Say:
    """The model answers with a text."""

    text: str


@dataclass(frozen=True)
class Use:
    """The model calls a tool; `namespace` is Codex's way of naming servers."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    namespace: str | None = None


Reply = Say | Use
_FILLER = Say("ok")


class ScriptedModel:
    """A context manager: `script` is what it will say, `requests` what it was asked."""

    def __init__(self) -> None:
        self.script: list[Reply] = []
        self.requests: list[dict[str, Any]] = []
        self._taken = 0
        self._lock = threading.Lock()
        model = self

        class Handler(_Handler):
            owner = model

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "ScriptedModel":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def expect(self, *replies: Reply) -> None:
        """Forget what was asked so far, and answer the coming requests with these."""
        with self._lock:
            self.script, self.requests, self._taken = list(replies), [], 0

    def next_reply(self, body: dict[str, Any], *, conversation: bool) -> tuple[Reply, int]:
        """The reply to a request, and its number."""
        with self._lock:
            if not conversation:
                return _FILLER, 0
            self.requests.append(body)
            self._taken += 1
            position = self._taken - 1
            reply = self.script[position] if position < len(self.script) else _FILLER
            return reply, self._taken


def _call_id(kind: str) -> str:
    """As the real ones: no two calls share one, in whatever session."""
    return f"{kind}_{uuid.uuid4().hex[:24]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: ScriptedModel

    def log_message(self, *_: object) -> None:
        """Quiet: the tests say what went wrong."""

    def do_HEAD(self) -> None:
        self._send(b"", "text/plain")

    def do_GET(self) -> None:
        self._json({})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if "ount" in self.path and "oken" in self.path:
            self._json({"input_tokens": 10, "totalTokens": 10})
        elif "/chat/completions" in self.path:
            self._chat(body)
        elif "/responses" in self.path:
            self._openai(body)
        elif "enerateContent" in self.path:
            self._google(body)
        elif "/v1/messages" in self.path:
            self._anthropic(body)
        else:
            self._json({})

    def _anthropic(self, body: dict[str, Any]) -> None:
        reply, number = self.owner.next_reply(body, conversation=bool(body.get("tools")))
        block: dict[str, Any]
        if isinstance(reply, Use):
            name = _call_id("toolu")
            block = {"type": "tool_use", "id": name, "name": reply.tool, "input": reply.arguments}
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
            reason = "tool_use"
        else:
            block = {"type": "text", "text": reply.text}
            start = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": reply.text}
            reason = "end_turn"
        message = {
            "id": f"msg_{number:04d}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "stub"),
            "content": [block],
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 10},
        }
        if not body.get("stream"):
            self._json(message)
            return
        ended = {"stop_reason": reason, "stop_sequence": None}
        events: list[tuple[str, dict[str, Any]]] = [
            ("message_start", {"message": {**message, "content": [], "stop_reason": None}}),
            ("content_block_start", {"index": 0, "content_block": start}),
            ("content_block_delta", {"index": 0, "delta": delta}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": ended, "usage": {"output_tokens": 10}}),
            ("message_stop", {}),
        ]
        lines = [f"event: {n}\ndata: {json.dumps({'type': n, **data})}\n\n" for n, data in events]
        self._send("".join(lines).encode(), "text/event-stream")

    def _openai(self, body: dict[str, Any]) -> None:
        offered = body.get("tools") or [
            item for item in body.get("input", []) if item.get("type") == "additional_tools"
        ]
        reply, number = self.owner.next_reply(body, conversation=bool(offered))
        item: dict[str, Any]
        if isinstance(reply, Use):
            item = {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": _call_id("call"),
                "name": reply.tool,
                "arguments": json.dumps(reply.arguments),
            }
            if reply.namespace:
                item["namespace"] = reply.namespace
        else:
            content = [{"type": "output_text", "text": reply.text, "annotations": []}]
            item = {"type": "message", "id": f"m_{number}", "role": "assistant", "content": content}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        response = {"id": f"r_{number}"}
        self._events(
            {"type": "response.created", "response": response},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {**response, "usage": usage}},
        )

    def _chat(self, body: dict[str, Any]) -> None:
        reply, number = self.owner.next_reply(body, conversation=bool(body.get("tools")))
        message: dict[str, Any] = {"role": "assistant"}
        if isinstance(reply, Use):
            function = {"name": reply.tool, "arguments": json.dumps(reply.arguments)}
            call = {"index": 0, "id": _call_id("call"), "type": "function", "function": function}
            message |= {"content": None, "tool_calls": [call]}
            reason = "tool_calls"
        else:
            message["content"] = reply.text
            reason = "stop"
        answer = {
            "id": f"c_{number}",
            "created": 1,
            "model": body.get("model", "stub"),
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        choice: dict[str, Any] = {"index": 0, "finish_reason": reason}
        if not body.get("stream"):
            self._json(
                answer | {"object": "chat.completion", "choices": [choice | {"message": message}]}
            )
            return
        answer["object"] = "chat.completion.chunk"
        first = {"index": 0, "finish_reason": None, "delta": message}
        self._events(
            {**answer, "choices": [first], "usage": None},
            {**answer, "choices": [choice | {"delta": {}}]},
            end="data: [DONE]\n\n",
        )

    def _google(self, body: dict[str, Any]) -> None:
        reply, _ = self.owner.next_reply(body, conversation=bool(body.get("tools")))
        part: dict[str, Any] = (
            {"functionCall": {"name": reply.tool, "args": reply.arguments}}
            if isinstance(reply, Use)
            else {"text": reply.text}
        )
        content = {"role": "model", "parts": [part]}
        message = {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2},
        }
        if "stream" in self.path:
            self._events(message)
        else:
            self._json(message)

    def _events(self, *events: dict[str, Any], end: str = "") -> None:
        lines = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        self._send((lines + end).encode(), "text/event-stream")

    def _json(self, value: dict[str, Any]) -> None:
        self._send(json.dumps(value).encode(), "application/json")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
