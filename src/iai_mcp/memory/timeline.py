"""What was said, in the order it was said."""

from dataclasses import dataclass, replace

from iai_mcp.memory.params import Params
from iai_mcp.memory.scoping import scope_of
from iai_mcp.memory.showing import record
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.surroundings import Projects


@dataclass(frozen=True, slots=True)
class Timeline:
    """The newest turns of a project, a session or a time, oldest first."""

    memories: Memories
    projects: Projects

    def __call__(self, params: Params) -> dict[str, object]:
        limit = params.integer("limit", 100, 1, 100_000)
        scope = replace(scope_of(params, self.memories, self.projects), said=True)
        return {"records": [record(memory) for memory in self.memories.timeline(scope, limit)]}
