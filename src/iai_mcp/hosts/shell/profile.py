"""A plain shell as a profile: for people, scripts and programs nobody here knows."""

from iai_mcp.domain.agent_profiles import AgentProfile, EnvVariable

PROFILE = AgentProfile(
    id="shell",
    name="Shell",
    command="bash",
    injection=EnvVariable("IAI_MCP_CONTEXT_FILE"),
    detect="bash --version",
    host="shell",
)
