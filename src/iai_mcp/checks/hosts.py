"""Whether the agent programs on this machine are connected."""

from iai_mcp.checks.verdict import Check, passed, warned
from iai_mcp.hosts import registry


def hosts() -> list[Check]:
    """One check per agent program that is here. An absent one is nobody's fault."""
    found = registry.detected()
    if not found:
        return [passed("hosts", "no agent program was found")]
    return [_one(config.id, registry.status(config)) for config in found]


def _one(name: str, status: str) -> Check:
    label = f"host {name}"
    if status == "installed":
        return passed(label, "hooks and memory tools installed")
    if status == "broken":
        return warned(label, "its configuration can not be read", f"iai-mcp hosts status {name}")
    return warned(label, f"not connected ({status})", f"iai-mcp hosts install {name}")
