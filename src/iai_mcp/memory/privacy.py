"""Projects whose memories stay among themselves."""

from dataclasses import dataclass

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.surroundings import Projects
from iai_mcp.protocol.params import Params


@dataclass(frozen=True, slots=True)
class Privacy:
    """Marks a project private, or open again. Without `private` it only tells which are."""

    memories: Memories
    projects: Projects

    def __call__(self, params: Params) -> dict[str, object]:
        if params.has("private"):
            key = self.projects.key_of(params.text("project", ""), params.text("cwd", ""))
            if not key:
                raise InvalidInput("say which project: give its name or its path")
            private = params.flag("private")
            # A name stands for every project of that name, and a mapped one for what it was.
            for known in {key, *self.projects.closed([key], self.memories.projects(), "")}:
                self.memories.set_private(known, private)
        return {"private": self.memories.private_projects()}
