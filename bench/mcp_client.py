"""A host's side of MCP over the real stdio bridge: what a model would read."""

import json
import subprocess
import sys
from typing import Any

from bench.scratch import Scratch


class McpClient:
    """One session through `python -m iai_mcp.bridge`, started in `cwd`."""

    def __init__(self, home: Scratch, cwd: str) -> None:
        self._number = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.bridge"],
            env=home.environment,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        client = {"name": "bench", "version": "1"}
        self._ask(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tool(self, name: str, **arguments: object) -> str:
        """The text of a tool's answer."""
        answer = self._ask("tools/call", {"name": name, "arguments": arguments})
        if "error" in answer:
            raise RuntimeError(str(answer["error"]))
        return "\n".join(part.get("text", "") for part in answer["result"]["content"])

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait(timeout=10)
        self._process.stdout.close()

    def _ask(self, method: str, params: dict[str, object]) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout
        while line := self._process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._number:
                return answer
        raise ConnectionError("the bridge ended")

    def _send(self, message: dict[str, object]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        self._process.stdin.flush()
