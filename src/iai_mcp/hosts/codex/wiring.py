"""How a launched Codex gets its memory: one-off configuration by `-c`, nothing on disk changes."""

import hashlib
import json
import re

from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.codex.config import CAPTURE, ID, STATUS
from iai_mcp.hosts.run_files import after_options, wiring_of
from iai_mcp.hosts.wiring import SERVER

TRAITS = HostTraits(
    session_start_hook=True,
    asks_trust=True,
    verified="0.166.0",
    untrusted="Codex asks about the directory and about our hooks, and runs neither before",
)

# Under this name Codex keeps the trust in hooks that came by `-c`.
_FLAGS = "/<session-flags>/config.toml"


def wire(launch: Invocation) -> LaunchWiring:
    command, *args = launch.memory.bridge
    server = f"mcp_servers.{SERVER}"
    timeouts = CAPTURE | STATUS
    lines = {event: wiring_of(launch.memory).hook_line(ID, event) for event in timeouts}
    settings = [
        "check_for_update_on_startup=false",
        f"{server}.command={toml_text(command)}",
        f"{server}.args={toml_list(args)}",
        # By name: Codex hands servers few variables, and values would show in the process list.
        f"{server}.env_vars={toml_list(list(launch.memory.env))}",
        *(f"hooks.{event}={_hook(lines[event], timeouts[event])}" for event in timeouts),
    ]
    if launch.trusted:
        vouched = (_vouched(event, lines[event], timeouts[event]) for event in timeouts)
        settings += [
            f'projects={{{toml_text(launch.project)}={{trust_level="trusted"}}}}',
            f"hooks.state={{{','.join(vouched)}}}",
        ]
    overrides = [word for setting in settings for word in ("-c", setting)]
    return LaunchWiring(args=(*overrides, "--add-dir", launch.project, *_conversation(launch)))


def _hook(line: str, timeout: int) -> str:
    return f'[{{hooks=[{{type="command",command={toml_text(line)},timeout={timeout}}}]}}]'


def _vouched(event: str, line: str, timeout: int) -> str:
    """Exactly this hook is trusted, by the fingerprint that Codex itself would keep."""
    name = re.sub("(?<!^)(?=[A-Z])", "_", event).lower()
    hook = {"async": False, "command": line, "timeout": timeout, "type": "command"}
    identity = {"event_name": name, "hooks": [hook]}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f'{toml_text(f"{_FLAGS}:{name}:0:0")}={{trusted_hash="sha256:{digest}"}}'


def _conversation(launch: Invocation) -> tuple[str, ...]:
    prompt = after_options(launch.prompt)
    if launch.resume is None:
        return prompt
    if launch.resume.host_session_id:
        return ("resume", launch.resume.host_session_id, *prompt)
    # Codex looks among the sessions of its working directory, which is this agent's alone.
    return ("resume", "--last", *prompt)


def toml_text(text: str) -> str:
    """A TOML string: JSON's escapes are a subset of TOML's."""
    return json.dumps(text, ensure_ascii=False)


def toml_list(texts: list[str]) -> str:
    return "[" + ",".join(toml_text(text) for text in texts) + "]"
