"""Crush as a profile."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile

PROFILE = AgentProfile(
    id="crush",
    name="Crush",
    command="crush",
    injection=ConventionFile("CRUSH.md"),
    detect="crush --version",
    host="crush",
    install="npm install -g @charmland/crush",
)
