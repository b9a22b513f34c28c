"""Goose as a profile."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile

PROFILE = AgentProfile(
    id="goose",
    name="Goose",
    command="goose",
    injection=ConventionFile(".goosehints"),
    detect="goose version",
    host="goose",
    install="see https://block.github.io/goose/docs/getting-started/installation",
)
