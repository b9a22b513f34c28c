"""Aider as a profile."""

from iai_mcp.domain.agent_profiles import AgentProfile, Flag

PROFILE = AgentProfile(
    id="aider",
    name="Aider",
    command="aider",
    injection=Flag("--read"),
    detect="aider --version",
    host="aider",
    install="pip install aider-chat",
)
