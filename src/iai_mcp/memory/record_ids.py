"""Ids of memories and work, given whole or by their first digits."""

import re
from dataclasses import dataclass

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.memory.scoping import Access, Caller
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.works import Works

FEWEST_DIGITS = 6
_ALL_DIGITS = 32
_LISTED = 10  # candidates that an error names
_DIGITS = re.compile(r"[0-9a-f]+(?:-[0-9a-f]+)*-?")


@dataclass(frozen=True, slots=True)
class RecordIds:
    """Finds the one record whose id begins with given digits."""

    memories: Memories
    works: Works
    access: Access

    def whole(self, given: str, caller: Caller) -> str:
        """The whole id behind a prefix of at least six hexadecimal digits.

        Whatever is no such prefix, or matches nothing, is returned unchanged: the method that takes the
        id reports it as unknown.

        Raises:
            InvalidInput: several records that this caller may see begin with these digits.
        """
        prefix = given.strip().strip("[]").lower()
        digits = prefix.replace("-", "")
        if not _DIGITS.fullmatch(prefix) or not FEWEST_DIGITS <= len(digits) < _ALL_DIGITS:
            return given
        found = self._visible(digits, caller)
        if not found:
            return given
        if len(found) > 1:
            shown = ", ".join(found[:_LISTED]) + (", …" if len(found) > _LISTED else "")
            raise InvalidInput(f"several records begin with {digits}: {shown}. Give more digits.")
        return found[0]

    def _visible(self, digits: str, caller: Caller) -> list[str]:
        """Ids that begin so, each record once. A visitor learns nothing of private projects."""
        said = self.memories.find(self.memories.ids_beginning(digits, _LISTED + 1), longest=1)
        said = self.access.within(said, caller)
        done = self.works.find(self.works.ids_beginning(digits, _LISTED + 1))
        view = self.access.owners_view(caller)
        return [
            *(memory.id for memory in said),
            *(record.id for record in done if view.opens(record.provenance.project)),
        ]
