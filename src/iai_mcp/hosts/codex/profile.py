"""Codex as a profile."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile

PROFILE = AgentProfile(
    id="codex",
    name="Codex",
    command="codex",
    injection=ConventionFile("AGENTS.md"),
    detect="codex --version",
    host="codex",
    install="npm install -g @openai/codex",
)
