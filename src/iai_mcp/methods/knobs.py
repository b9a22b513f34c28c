"""Methods that read and turn the knobs; the word profile on the wire is theirs."""

from collections.abc import Mapping

from iai_mcp.methods.memory import Method

METHODS: Mapping[str, Method] = {
    "profile_get": lambda store, params: store.knobs.get(params),
    "profile_set": lambda store, params: store.knobs.set(params),
}
