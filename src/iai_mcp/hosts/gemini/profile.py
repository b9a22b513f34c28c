"""Gemini CLI as a profile."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile

PROFILE = AgentProfile(
    id="gemini",
    name="Gemini CLI",
    command="gemini",
    injection=ConventionFile("GEMINI.md"),
    detect="gemini -v",
    host="gemini",
    install="npm install -g @google/gemini-cli",
)
