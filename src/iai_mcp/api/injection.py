"""Methods that bring memories into sessions, and the one that says what was brought."""

from iai_mcp.api.method import Method
from iai_mcp.store import MemoryStore

METHODS: tuple[Method[MemoryStore], ...] = (
    Method("session_start_payload", lambda store, params: store.session_start(params)),
    Method("prompt_injection", lambda store, params: store.prompt_injection(params)),
    Method("injections", lambda store, params: store.injections.show(params), page=True),
)
