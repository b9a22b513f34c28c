"""Claude.ai: nothing of it is on this machine but what a person exports."""

from iai_mcp.hosts.host import Host, Transcript, late

HOST = Host(
    "claude-ai",
    "Claude.ai",
    unwired="Claude.ai has no configuration here: import its export with 'iai-mcp import'",
    transcript=Transcript(
        late(f"{__name__}.transcript", "walk"),
        document_keys=("chat_messages",),
    ),
    is_service=True,
)
