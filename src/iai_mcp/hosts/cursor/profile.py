"""Cursor CLI as a profile."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile

PROFILE = AgentProfile(
    id="cursor",
    name="Cursor CLI",
    command="cursor-agent",
    injection=ConventionFile("AGENTS.md"),
    detect="cursor-agent --version",
    host="cursor",
    install="curl https://cursor.com/install -fsS | bash",
)
