"""Amp as a profile."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile

PROFILE = AgentProfile(
    id="amp",
    name="Amp",
    command="amp",
    injection=ConventionFile("AGENTS.md"),
    detect="amp --version",
    host="amp",
    install="npm install -g @sourcegraph/amp",
)
