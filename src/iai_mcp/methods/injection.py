"""Methods that bring memories into sessions, and the one that says what was brought."""

from collections.abc import Mapping

from iai_mcp.methods.memory import Method

METHODS: Mapping[str, Method] = {
    "session_start_payload": lambda store, params: store.session_start(params),
    "prompt_injection": lambda store, params: store.prompt_injection(params),
    "injections": lambda store, params: store.injections.show(params),
}
