"""How a launched Goose gets its memory: the bridge as an extension of this session."""

import shlex

from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring

TRAITS = HostTraits()


def wire(launch: Invocation) -> LaunchWiring:
    # Extensions inherit the session's environment, so nothing but the program is named here.
    extension = ("--with-extension", shlex.join(launch.memory.bridge))
    if launch.resume is not None:
        return LaunchWiring(args=("session", "-r", *extension), types_prompt=True)
    if launch.prompt is not None:
        return LaunchWiring(args=("run", "-s", *extension, f"--text={launch.prompt}"))
    return LaunchWiring(args=("session", *extension))
