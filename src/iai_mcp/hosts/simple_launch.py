"""How agents are launched on hosts that have no hooks: arguments and files that give them the memory."""

import shlex

from iai_mcp.domain.agents.host_wiring import HostTraits, Invocation, LaunchWiring
from iai_mcp.domain.agents.profile import AgentProfile, ConventionFile, EnvVariable, Flag
from iai_mcp.hosts.commands import SERVER
from iai_mcp.hosts.launch import (
    Launchable,
    json_file,
    mcp_servers,
    session_arguments,
    stdio_server,
)

_AIDER_CHAT = "aider.chat.history.md"
_AIDER_INPUT = "aider.input.history"
_CRUSH_DATA = ".crush"
_KIMI_SERVERS = "kimi-mcp.json"


def aider() -> Launchable:
    """Aider speaks no MCP and has no hooks: the memory is part of the file that it reads."""
    profile = AgentProfile(
        id="aider",
        name="Aider",
        command="aider",
        injection=Flag("--read"),
        detect="aider --version",
        host="aider",
        install="pip install aider-chat",
    )
    return Launchable(profile, HostTraits(verified="0.86.2"), _aider)


def _aider(launch: Invocation) -> LaunchWiring:
    return LaunchWiring(
        args=(
            # By default both lie at the git root, where agents would share them.
            "--chat-history-file",
            launch.in_run_dir(_AIDER_CHAT),
            "--input-history-file",
            launch.in_run_dir(_AIDER_INPUT),
            "--no-gitignore",
            "--no-check-update",
            *(() if launch.resume is None else ("--restore-chat-history",)),
        ),
        types_prompt=True,
        keeps=(_AIDER_CHAT, _AIDER_INPUT),
    )


def goose() -> Launchable:
    """Goose takes the bridge as an extension of the session."""
    profile = AgentProfile(
        id="goose",
        name="Goose",
        command="goose",
        injection=ConventionFile(".goosehints"),
        detect="goose version",
        host="goose",
        install="see https://block.github.io/goose/docs/getting-started/installation",
    )
    return Launchable(profile, HostTraits(), _goose)


def _goose(launch: Invocation) -> LaunchWiring:
    # Extensions inherit the session's environment, so nothing but the program is named here.
    extension = ("--with-extension", shlex.join(launch.memory.bridge))
    if launch.resume is not None:
        return LaunchWiring(args=("session", "-r", *extension), types_prompt=True)
    if launch.prompt is not None:
        return LaunchWiring(args=("run", "-s", *extension, f"--text={launch.prompt}"))
    return LaunchWiring(args=("session", *extension))


def kimi() -> Launchable:
    """Kimi CLI takes a file of servers by flag."""
    profile = AgentProfile(
        id="kimi",
        name="Kimi CLI",
        command="kimi",
        injection=ConventionFile("AGENTS.md"),
        detect="kimi -V",
        host="kimi",
        install="uv tool install kimi-cli",
    )
    return Launchable(profile, HostTraits(), _kimi)


def _kimi(launch: Invocation) -> LaunchWiring:
    return LaunchWiring(
        args=(
            "--mcp-config-file",
            launch.in_run_dir(_KIMI_SERVERS),
            "--add-dir",
            launch.place,
            *session_arguments(launch, by_id=("-S",), latest=("-C",)),
        ),
        files=(json_file(_KIMI_SERVERS, mcp_servers(launch.memory)),),
        types_prompt=True,
    )


def amp() -> Launchable:
    """Amp reads workspace settings in its run directory."""
    profile = AgentProfile(
        id="amp",
        name="Amp",
        command="amp",
        injection=ConventionFile("AGENTS.md"),
        detect="amp --version",
        host="amp",
        install="npm install -g @sourcegraph/amp",
    )
    return Launchable(profile, HostTraits(), _amp)


def _amp(launch: Invocation) -> LaunchWiring:
    settings = {"amp.mcpServers": {SERVER: stdio_server(launch.memory)}}
    resume = ("threads", "continue")
    return LaunchWiring(
        args=session_arguments(launch, by_id=resume, latest=resume),
        files=(json_file(".amp/settings.json", settings),),
        types_prompt=True,
    )


def crush() -> Launchable:
    """Crush gets a data directory that no other agent shares."""
    profile = AgentProfile(
        id="crush",
        name="Crush",
        command="crush",
        injection=ConventionFile("CRUSH.md"),
        detect="crush --version",
        host="crush",
        install="npm install -g @charmland/crush",
    )
    return Launchable(profile, HostTraits(), _crush)


def _crush(launch: Invocation) -> LaunchWiring:
    config = {"mcp": {SERVER: {"type": "stdio", **stdio_server(launch.memory)}}}
    sessions = session_arguments(launch, by_id=("-s",), latest=("-C",))
    return LaunchWiring(
        # Without -D Crush takes the nearest .crush upward: the project's, or a colleague's.
        args=("-D", launch.in_run_dir(_CRUSH_DATA), *sessions),
        files=(json_file(".crush.json", config),),
        types_prompt=True,
        keeps=(_CRUSH_DATA,),
    )


def shell() -> Launchable:
    """Any other program: `.mcp.json` is the name that most of them look for."""
    profile = AgentProfile(
        id="shell",
        name="Shell",
        command="bash",
        injection=EnvVariable("IAI_MCP_CONTEXT_FILE"),
        detect="bash --version",
        host="shell",
    )
    return Launchable(profile, HostTraits(), _shell)


def _shell(launch: Invocation) -> LaunchWiring:
    return LaunchWiring(
        files=(json_file(".mcp.json", mcp_servers(launch.memory)),), types_prompt=True
    )
