"""One JSON file of a person's own, read at once and changed under a lock."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from iai_mcp.adapters.files import json_text
from iai_mcp.domain.errors import IaiError, NotFound
from iai_mcp.ports.file_system import FilesBelow

Value = TypeVar("Value")


class UserDocument:
    """`<directory>/<name>`: an object whose keys, also those nobody here knows, are kept.

    The directory is asked for at every use, because the environment may name another one.
    """

    def __init__(self, files: FilesBelow, directory: Callable[[], str], name: str) -> None:
        self._files = files
        self._directory = directory
        self._name = name

    @property
    def path(self) -> str:
        return f"{self._directory()}/{self._name}"

    def read(self) -> dict[str, object]:
        return json_text.parse_object(self._bytes(), self.path)

    def _bytes(self) -> bytes:
        try:
            return self._files(self._directory()).read(self._name)
        except NotFound:
            return b"{}"

    def change(self, edit: Callable[[dict[str, object]], Mapping[str, object]]) -> None:
        """Replace the document by what `edit` makes of it, with nobody else in between."""
        files = self._files(self._directory())
        files.create_dir_all("")
        with files.locked(f".{self._name}.lock"):
            files.write(self._name, json_text.dump({"version": 1, **edit(self.read())}))

    def entries(self, key: str, parse: Callable[[Mapping[str, object]], Value]) -> list[Value]:
        """The list under `key`, each element understood or complained about with its line."""
        data = self._bytes()
        raw = json_text.objects_field(json_text.parse_object(data, self.path), key, self.path)
        values: list[Value] = []
        for value in raw:
            try:
                values.append(parse(json_text.as_object(value)))
            except IaiError as error:
                line = json_text.line_of(data, key, len(values))
                raise json_text.at_line(error, self.path, line) from error
        return values


def put(entries: list[object], entry: Mapping[str, object]) -> list[object]:
    """`entries` with `entry` in the place of the one with its id, or at the end.

    Keys that the old entry had and nobody here knows are kept.
    """
    result: list[object] = []
    found = False
    for old in entries:
        if isinstance(old, dict) and old.get("id") == entry["id"]:
            result.append({**old, **entry})
            found = True
        else:
            result.append(old)
    return result if found else [*result, dict(entry)]


def without(entries: list[object], entry_id: str) -> list[object] | None:
    """`entries` without the one of that id; None if there is none."""
    left = [e for e in entries if not (isinstance(e, dict) and e.get("id") == entry_id)]
    return left if len(left) < len(entries) else None
