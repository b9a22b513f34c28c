"""Methods that read and turn the knobs; the word profile on the wire is theirs."""

from iai_mcp.api.method import Method
from iai_mcp.store import MemoryStore

METHODS: tuple[Method[MemoryStore], ...] = (
    Method(
        "profile_get",
        lambda store, params: store.knobs.get(params),
        tool="profile_get_set",
        page=True,
    ),
    Method("profile_set", lambda store, params: store.knobs.set(params), tool="profile_get_set"),
)
