"""What comes from the other side, read field by field, and how it refuses. Used on both sides."""

import binascii
from collections.abc import Mapping, Sequence

from iai_mcp.domain import errors
from iai_mcp.domain.errors import IaiError, InvalidInput, RemoteFailed
from iai_mcp.remote.wire import Json

_LARGEST_NUMBER = 1 << 53  # as many languages have it
_END_OF_TIME = 253_402_214_400_000  # the last day of the year 9999, in any zone


class Fields:
    """A JSON object from the other side, asked for one field at a time."""

    def __init__(self, fields: Mapping[str, object]) -> None:
        self._fields = fields

    def text(self, name: str) -> str:
        value = self._fields.get(name)
        if not isinstance(value, str):
            raise InvalidInput(f"the other side sent no text as '{name}'")
        return value

    def optional(self, name: str) -> str | None:
        return None if self._fields.get(name) is None else self.text(name)

    def number(self, name: str) -> int:
        value = self._fields.get(name)
        if not isinstance(value, int) or abs(value) > _LARGEST_NUMBER:
            raise InvalidInput(f"the other side sent no number as '{name}'")
        return value

    def optional_number(self, name: str) -> int | None:
        return None if self._fields.get(name) is None else self.number(name)

    def moment(self, name: str) -> int:
        """Milliseconds since 1970, of a time that can be shown."""
        value = self.number(name)
        if not 0 <= value < _END_OF_TIME:
            raise InvalidInput(f"the other side sent no time as '{name}'")
        return value

    def optional_moment(self, name: str) -> int | None:
        return None if self._fields.get(name) is None else self.moment(name)

    def seconds(self, name: str) -> float | None:
        value = self._fields.get(name)
        return float(value) if isinstance(value, int | float) else None

    def flag(self, name: str) -> bool:
        return self._fields.get(name) is True

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(str(each) for each in self._list(name))

    def objects(self, name: str) -> "list[Fields]":
        return [Fields(each) for each in self._list(name) if isinstance(each, dict)]

    def below(self, name: str) -> "Fields":
        value = self._fields.get(name)
        if not isinstance(value, dict):
            raise InvalidInput(f"the other side sent no object as '{name}'")
        return Fields(value)

    def strings(self, name: str) -> dict[str, str]:
        return {str(key): str(value) for key, value in self.below(name).all().items()}

    def data(self, name: str) -> bytes:
        try:
            return binascii.a2b_base64(self.text(name), strict_mode=True)
        except binascii.Error as bad:
            raise InvalidInput(f"the other side sent no bytes as '{name}'") from bad

    def all(self) -> Mapping[str, object]:
        return self._fields

    def _list(self, name: str) -> Sequence[object]:
        value = self._fields.get(name)
        if not isinstance(value, list):
            raise InvalidInput(f"the other side sent no list as '{name}'")
        return value


def data_text(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()


_ERRORS: dict[str, type[IaiError]] = {
    kind.code: kind
    for kind in (
        errors.InvalidInput,
        errors.NotFound,
        errors.AlreadyExists,
        errors.NotInstalled,
        errors.Busy,
        errors.Conflict,
        errors.IoFailed,
        errors.DiskFull,
        errors.ReadOnly,
        errors.PtyFailed,
        errors.RemoteFailed,
        errors.TimedOut,
    )
}


def error_of(fields: Fields) -> IaiError:
    """What the other side refused, as the error that it would have been here."""
    return _ERRORS.get(fields.text("code"), RemoteFailed)(fields.text("message"))


def error_json(error: IaiError) -> Json:
    return {"code": error.code, "message": error.message}
