"""OpenCode as a profile."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile

PROFILE = AgentProfile(
    id="opencode",
    name="OpenCode",
    command="opencode",
    injection=ConventionFile("AGENTS.md"),
    detect="opencode -v",
    host="opencode",
    install="npm install -g opencode-ai",
)
