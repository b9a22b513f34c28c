"""ChatGPT: nothing of it is on this machine but what a person exports."""

from iai_mcp.hosts.host import Host, Transcript, late

HOST = Host(
    "chatgpt",
    "ChatGPT",
    unwired="ChatGPT has no configuration here: import its export with 'iai-mcp import'",
    transcript=Transcript(
        late(f"{__name__}.transcript", "walk"),
        document_keys=("mapping",),
    ),
    is_service=True,
)
