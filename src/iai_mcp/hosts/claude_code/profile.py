"""Claude Code as a profile."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile

PROFILE = AgentProfile(
    id="claude-code",
    name="Claude Code",
    command="claude",
    injection=ConventionFile("CLAUDE.md"),
    detect="claude --version",
    host="claude-code",
    install="npm install -g @anthropic-ai/claude-code",
)
