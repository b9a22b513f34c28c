"""Kimi CLI as a profile."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile

PROFILE = AgentProfile(
    id="kimi",
    name="Kimi CLI",
    command="kimi",
    injection=ConventionFile("AGENTS.md"),
    detect="kimi -V",
    host="kimi",
    install="uv tool install kimi-cli",
)
