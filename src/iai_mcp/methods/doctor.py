"""The doctor, as a method: the daemon examines itself, its store and its machine."""

from collections.abc import Mapping
from dataclasses import asdict

from iai_mcp.checks import examination
from iai_mcp.memory.params import Params
from iai_mcp.methods.memory import Method
from iai_mcp.store import MemoryStore


def _doctor(store: MemoryStore, params: Params) -> dict[str, object]:
    checks = [*examination.of_store(store)]
    if not params.flag("store_only"):
        checks = [*examination.of_machine(), *checks]
    return {"checks": [asdict(check) for check in checks]}


METHODS: Mapping[str, Method] = {"doctor": _doctor}
