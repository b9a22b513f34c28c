"""The built-in profiles, and the launch wiring that belongs to each."""

from collections.abc import Callable
from dataclasses import dataclass

from iai_mcp.domain.agent_profiles import AgentProfile
from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.aider import profile as aider
from iai_mcp.hosts.aider import wiring as aider_wiring
from iai_mcp.hosts.amp import profile as amp
from iai_mcp.hosts.amp import wiring as amp_wiring
from iai_mcp.hosts.claude_code import profile as claude_code
from iai_mcp.hosts.claude_code import trust as claude_code_trust
from iai_mcp.hosts.claude_code import wiring as claude_code_wiring
from iai_mcp.hosts.codex import profile as codex
from iai_mcp.hosts.codex import wiring as codex_wiring
from iai_mcp.hosts.copilot import profile as copilot
from iai_mcp.hosts.copilot import wiring as copilot_wiring
from iai_mcp.hosts.crush import profile as crush
from iai_mcp.hosts.crush import wiring as crush_wiring
from iai_mcp.hosts.cursor import profile as cursor
from iai_mcp.hosts.cursor import wiring as cursor_wiring
from iai_mcp.hosts.gemini import profile as gemini
from iai_mcp.hosts.gemini import wiring as gemini_wiring
from iai_mcp.hosts.goose import profile as goose
from iai_mcp.hosts.goose import wiring as goose_wiring
from iai_mcp.hosts.kimi import profile as kimi
from iai_mcp.hosts.kimi import wiring as kimi_wiring
from iai_mcp.hosts.opencode import profile as opencode
from iai_mcp.hosts.opencode import wiring as opencode_wiring
from iai_mcp.hosts.qwen import profile as qwen
from iai_mcp.hosts.qwen import wiring as qwen_wiring
from iai_mcp.hosts.shell import profile as shell
from iai_mcp.hosts.shell import wiring as shell_wiring


@dataclass(frozen=True, slots=True)
class Launchable:
    """One host as it can be launched."""

    profile: AgentProfile
    traits: HostTraits
    wire: Callable[[Invocation], LaunchWiring]
    record_trust: Callable[[str], None] | None = None


CATALOGUE: tuple[Launchable, ...] = (
    Launchable(
        claude_code.PROFILE,
        claude_code_wiring.TRAITS,
        claude_code_wiring.wire,
        claude_code_trust.accept,
    ),
    Launchable(codex.PROFILE, codex_wiring.TRAITS, codex_wiring.wire),
    Launchable(gemini.PROFILE, gemini_wiring.TRAITS, gemini_wiring.wire),
    Launchable(opencode.PROFILE, opencode_wiring.TRAITS, opencode_wiring.wire),
    Launchable(aider.PROFILE, aider_wiring.TRAITS, aider_wiring.wire),
    Launchable(cursor.PROFILE, cursor_wiring.TRAITS, cursor_wiring.wire),
    Launchable(copilot.PROFILE, copilot_wiring.TRAITS, copilot_wiring.wire),
    Launchable(goose.PROFILE, goose_wiring.TRAITS, goose_wiring.wire),
    Launchable(qwen.PROFILE, qwen_wiring.TRAITS, qwen_wiring.wire),
    Launchable(kimi.PROFILE, kimi_wiring.TRAITS, kimi_wiring.wire),
    Launchable(amp.PROFILE, amp_wiring.TRAITS, amp_wiring.wire),
    Launchable(crush.PROFILE, crush_wiring.TRAITS, crush_wiring.wire),
    Launchable(shell.PROFILE, shell_wiring.TRAITS, shell_wiring.wire),
)

PROFILES: tuple[AgentProfile, ...] = tuple(each.profile for each in CATALOGUE)

_BY_HOST = {each.profile.host: each for each in CATALOGUE}
_BY_PROGRAM = {each.profile.command: each for each in CATALOGUE}
ANY_PROGRAM = CATALOGUE[-1]


def launchable(profile: AgentProfile) -> Launchable:
    """The wiring for a profile: of the host it names, else of the program its command names."""
    program = profile.command.rpartition("/")[2]
    return _BY_HOST.get(profile.host) or _BY_PROGRAM.get(program) or ANY_PROGRAM


def takes_text(profile: AgentProfile, flag: str) -> bool:
    """Whether this program's flag wants the text itself, where everybody could read it."""
    known = launchable(profile).profile.id
    return (known, flag) in {("qwen", "--append-system-prompt"), ("qwen", "--system-prompt")}


def file_flag(profile: AgentProfile, flag: str) -> str:
    """The flag under which this program takes the document as a file."""
    if launchable(profile).profile.id == "claude-code":
        return claude_code_wiring.file_flag(flag)
    return flag
