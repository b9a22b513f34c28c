"""Copilot CLI as a profile."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile

PROFILE = AgentProfile(
    id="copilot",
    name="Copilot CLI",
    command="copilot",
    injection=ConventionFile("AGENTS.md"),
    detect="copilot --version",
    host="copilot",
    install="npm install -g @github/copilot",
)
