"""How a launched Goose gets its memory: the bridge as an extension of this session."""

import shlex

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile
from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.host import Host
from iai_mcp.hosts.launching import Launchable


def _wire(launch: Invocation) -> LaunchWiring:
    # Extensions inherit the session's environment, so nothing but the program is named here.
    extension = ("--with-extension", shlex.join(launch.memory.bridge))
    if launch.resume is not None:
        return LaunchWiring(args=("session", "-r", *extension), types_prompt=True)
    if launch.prompt is not None:
        return LaunchWiring(args=("run", "-s", *extension, f"--text={launch.prompt}"))
    return LaunchWiring(args=("session", *extension))


_PROFILE = AgentProfile(
    id="goose",
    name="Goose",
    command="goose",
    injection=ConventionFile(".goosehints"),
    detect="goose version",
    host="goose",
    install="see https://block.github.io/goose/docs/getting-started/installation",
)

HOST = Host(
    "goose",
    "Goose",
    unwired="Goose keeps its extensions in YAML that only it writes: use 'goose configure'",
    launch=lambda: Launchable(_PROFILE, HostTraits(), _wire),
)
