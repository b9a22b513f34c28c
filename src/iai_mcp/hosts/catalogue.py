"""The built-in agent profiles and how to launch each."""

from iai_mcp import hosts
from iai_mcp.domain.agents.profile import AgentProfile
from iai_mcp.hosts.launch import Launchable

CATALOGUE: tuple[Launchable, ...] = tuple(
    host.launch() for host in hosts.every() if host.launch is not None
)

PROFILES: tuple[AgentProfile, ...] = tuple(each.profile for each in CATALOGUE)

_BY_HOST = {each.profile.host: each for each in CATALOGUE}
_BY_PROGRAM = {each.profile.command: each for each in CATALOGUE}
ANY_PROGRAM = _BY_HOST["shell"]


def launchable(profile: AgentProfile) -> Launchable:
    """How to launch a profile: by the host it names, else by the program in its command."""
    program = profile.command.rpartition("/")[2]
    return _BY_HOST.get(profile.host) or _BY_PROGRAM.get(program) or ANY_PROGRAM


def takes_text(profile: AgentProfile, flag: str) -> bool:
    """Whether this program's flag wants the text itself, where everybody could read it."""
    return flag in launchable(profile).text_flags


def file_flag(profile: AgentProfile, flag: str) -> str:
    """The flag under which this program takes the document as a file."""
    return launchable(profile).file_flags.get(flag, flag)
