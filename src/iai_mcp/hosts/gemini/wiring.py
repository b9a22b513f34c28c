"""How a launched Gemini CLI gets its memory: workspace settings in its run directory."""

from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.domain.launching import RunFile
from iai_mcp.hosts.gemini.config import CAPTURE, ID, STATUS
from iai_mcp.hosts.run_files import grouped_hooks, json_file, mcp_servers, one_of_a_list

TRAITS = HostTraits(
    session_start_hook=True,
    asks_trust=True,
    verified="0.61.0",
    untrusted="Gemini CLI ignores the settings of a directory it does not trust, memory included",
)

_TRUST = "gemini-trust.json"


def wire(launch: Invocation) -> LaunchWiring:
    settings = {
        **mcp_servers(launch.memory),
        "hooks": grouped_hooks(launch.memory, ID, CAPTURE | STATUS, name="iai-mcp"),
        "general": {"enableAutoUpdate": False},
    }
    files: tuple[RunFile, ...] = (json_file(".gemini/settings.json", settings),)
    env: dict[str, str] = {}
    if launch.trusted:
        # `--skip-trust` comes too late for settings and says nothing about included directories.
        files = (*files, json_file(_TRUST, {launch.project: "TRUST_FOLDER"}))
        env = {"GEMINI_CLI_TRUSTED_FOLDERS_PATH": launch.in_run_dir(_TRUST)}
    return LaunchWiring(
        args=(
            "--include-directories",
            one_of_a_list(launch.project),
            *_conversation(launch),
            *(() if launch.prompt is None else (f"--prompt-interactive={launch.prompt}",)),
        ),
        env=env,
        files=files,
    )


def _conversation(launch: Invocation) -> tuple[str, ...]:
    if launch.resume is None:
        return ()
    # Sessions are kept by working directory, and that is this agent's alone.
    return ("--resume", launch.resume.host_session_id or "latest")
