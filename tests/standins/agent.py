"""An agent program without a model: `python agent.py HOST …` acts as Claude Code or Codex does.

It reads its convention file from its working directory, fires the hooks it was configured with,
starts the MCP server it was configured with and speaks to it with the official client, and writes
a transcript in its host's format. Its model is a rule: `recall: CUE` asks the memory and answers
with the first passage; anything else is noted. Every line typed into its terminal is a prompt.
What it saw is written to `$STANDIN_REPORTS/<agent id>.json` after every turn.
"""

import json
import os
import shlex
import subprocess
import sys
import time
import tomllib
import uuid
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

# What Codex hands to an MCP server besides the variables that were named for it.
CODEX_KEEPS = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER")


@dataclass
class Report:
    """What a test may want to know."""

    args: list[str]
    cwd: str
    convention: str
    injected: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    conversation: str = ""


@dataclass
class Setup:
    """What the command line configured: hooks by event, and the server with its environment."""

    hooks: dict[str, list[list[str]]]
    server: list[str]
    server_env: dict[str, str]
    conversation: str
    prompt: str | None


def claude(args: list[str]) -> Setup:
    settings = json.loads(Path(args[args.index("--settings") + 1]).read_text())
    servers = json.loads(Path(args[args.index("--mcp-config") + 1]).read_text())
    server = servers["mcpServers"]["iai-mcp"]
    hooks = {
        event: [
            [hook["command"], *hook["args"]] if "args" in hook else shlex.split(hook["command"])
            for group in groups
            for hook in group["hooks"]
        ]
        for event, groups in settings["hooks"].items()
    }
    given = args[args.index("--session-id") + 1] if "--session-id" in args else str(uuid.uuid4())
    return Setup(
        hooks,
        [server["command"], *server["args"]],
        {**os.environ, **server["env"]},
        given,
        _prompt(args),
    )


def codex(args: list[str]) -> Setup:
    config: dict[str, Any] = {}
    for flag, setting in pairwise(args):
        if flag == "-c":
            key, _, value = setting.partition("=")
            config[key] = tomllib.loads(f"value = {value}")["value"]
    hooks = {
        key.removeprefix("hooks."): [
            shlex.split(hook["command"]) for group in groups for hook in group["hooks"]
        ]
        for key, groups in config.items()
        if key.startswith("hooks.") and key != "hooks.state"
    }
    # A hook that the person did not trust does not run.
    hooks = hooks if "hooks.state" in config else {}
    named = (*CODEX_KEEPS, *config["mcp_servers.iai-mcp.env_vars"])
    return Setup(
        hooks,
        [config["mcp_servers.iai-mcp.command"], *config["mcp_servers.iai-mcp.args"]],
        {name: os.environ[name] for name in named if name in os.environ},
        str(uuid.uuid4()),
        _prompt(args),
    )


def _prompt(args: list[str]) -> str | None:
    return args[args.index("--") + 1] if "--" in args else None


class Transcript:
    """A conversation on disk, as the host itself would keep it."""

    def __init__(self, host: str, conversation: str) -> None:
        self._host = host
        self._conversation = conversation
        folder = Path.home() / (
            ".claude/projects/run" if host == "claude-code" else ".codex/sessions"
        )
        folder.mkdir(parents=True, exist_ok=True)
        name = conversation if host == "claude-code" else f"rollout-{conversation}"
        self.path = folder / f"{name}.jsonl"
        if host == "codex":
            meta = {"id": conversation, "cwd": str(Path.cwd())}
            self._line({"timestamp": _now(), "type": "session_meta", "payload": meta})

    def say(self, role: str, text: str) -> None:
        if self._host == "codex":
            kind = "input_text" if role == "user" else "output_text"
            payload = {
                "type": "message",
                "role": role,
                "content": [{"type": kind, "text": text}],
            }
            self._line({"timestamp": _now(), "type": "response_item", "payload": payload})
            return
        content = text if role == "user" else [{"type": "text", "text": text}]
        self._line(
            {
                "type": role,
                "uuid": str(uuid.uuid4()),
                "sessionId": self._conversation,
                "timestamp": _now(),
                "cwd": str(Path.cwd()),
                "message": {"role": role, "content": content},
            }
        )

    def _line(self, record: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{time.time_ns() % 10**9:09d}Z"


class Session:
    def __init__(self, host: str, setup: Setup) -> None:
        self.setup = setup
        self.transcript = Transcript(host, setup.conversation)
        convention = Path("CLAUDE.md" if host == "claude-code" else "AGENTS.md").read_text()
        self.report = Report(sys.argv[2:], str(Path.cwd()), convention)
        self.report.conversation = setup.conversation

    def fire(self, event: str, **more: str) -> None:
        given = {
            "session_id": self.setup.conversation,
            "transcript_path": str(self.transcript.path),
            "cwd": str(Path.cwd()),
            "hook_event_name": event,
            **more,
        }
        for words in self.setup.hooks.get(event, []):
            done = subprocess.run(
                words,
                input=json.dumps(given),
                capture_output=True,
                text=True,
                timeout=30,
                check=True,
            )
            if done.stdout.strip():
                said = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
                self.report.injected.append(said)

    def turn(self, prompt: str) -> None:
        self.fire("UserPromptSubmit", prompt=prompt)
        self.transcript.say("user", prompt)
        answer = self.answer(prompt)
        self.transcript.say("assistant", answer)
        self.fire("Stop", last_assistant_message=answer)
        self.report.answers.append(answer)
        self.publish()
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()

    def answer(self, prompt: str) -> str:
        if not prompt.startswith("recall: "):
            return "Noted."
        # The official client takes a second to import; agents that only listen need not wait.
        import anyio
        from mcp import ClientSession, StdioServerParameters, stdio_client

        command, *args = self.setup.server
        parameters = StdioServerParameters(command=command, args=args, env=self.setup.server_env)

        async def ask() -> str:
            async with (
                stdio_client(parameters) as (read, write),
                ClientSession(read, write) as client,
            ):
                await client.initialize()
                cue = prompt.removeprefix("recall: ")
                result = await client.call_tool("memory_recall", {"cue": cue, "format": "json"})
                hits = (result.structured_content or {}).get("hits", [])
                return str(hits[0]["text"]) if hits else "I do not know."

        return anyio.run(ask)

    def publish(self) -> None:
        path = Path(os.environ["STANDIN_REPORTS"], f"{os.environ['IAI_MCP_AGENT_ID']}.json")
        path.with_suffix(".tmp").write_text(json.dumps(asdict(self.report)))
        path.with_suffix(".tmp").replace(path)


def main() -> None:
    host, args = sys.argv[1], sys.argv[2:]
    session = Session(host, claude(args) if host == "claude-code" else codex(args))
    session.fire("SessionStart", source="startup")
    session.publish()
    if session.setup.prompt is not None:
        session.turn(session.setup.prompt)
    for line in sys.stdin:
        if line.strip() == "/quit":
            break
        session.turn(line.rstrip("\n"))
    session.fire("SessionEnd", reason="exit")


if __name__ == "__main__":
    main()
