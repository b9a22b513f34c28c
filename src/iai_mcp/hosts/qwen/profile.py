"""Qwen Code as a profile."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile

PROFILE = AgentProfile(
    id="qwen",
    name="Qwen Code",
    command="qwen",
    injection=ConventionFile("QWEN.md"),
    detect="qwen --version",
    host="qwen",
    install="npm install -g @qwen-code/qwen-code",
)
