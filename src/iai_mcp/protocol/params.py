"""Reading what came over the wire: every value is checked once, here, and typed from then on."""

import json
from collections.abc import Mapping

from iai_mcp.domain.errors import InvalidInput, MissingParam
from iai_mcp.domain.instants import Instant, instant
from iai_mcp.domain.memories import META_LIMIT, encodable


class Params:
    """The parameters of one call. Absent and null mean the same."""

    def __init__(self, raw: Mapping[str, object]) -> None:
        self._raw = raw

    def all(self) -> Mapping[str, object]:
        return self._raw

    def has(self, name: str) -> bool:
        return self._raw.get(name) is not None

    def raw(self, name: str) -> object:
        return self._raw.get(name)

    def need(self, name: str) -> object:
        value = self._raw.get(name)
        if value is None:
            raise MissingParam(name)
        return value

    def text(self, name: str, default: str | None = None) -> str:
        """A string; required when there is no default."""
        value = self._raw.get(name)
        if value is None:
            if default is None:
                raise MissingParam(name)
            return default
        if not isinstance(value, str):
            raise InvalidInput(f"{name} must be a string")
        return encodable(value)

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        value = self._raw.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidInput(f"{name} must be a whole number from {low} to {high}")
        if not low <= value <= high:
            raise InvalidInput(f"{name} must be from {low} to {high}, not {value}")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        value = self._raw.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise InvalidInput(f"{name} must be true or false")
        return value

    def instant(self, name: str) -> Instant | None:
        value = self._raw.get(name)
        return None if value is None else instant(value, name=name)

    def texts(self, name: str) -> list[str]:
        """A list of strings; a single string counts as a list of one."""
        value = self._raw.get(name)
        if value is None:
            return []
        if isinstance(value, str):
            return [encodable(value)]
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise InvalidInput(f"{name} must be a list of strings")
        return [encodable(one) for one in value]

    def optional_text(self, name: str) -> str | None:
        """Where absent is not the same as empty."""
        return self.text(name) if self.has(name) else None

    def optional_flag(self, name: str) -> bool | None:
        return self.flag(name) if self.has(name) else None

    def optional_texts(self, name: str) -> tuple[str, ...] | None:
        return tuple(self.texts(name)) if self.has(name) else None

    def objects(self, name: str) -> list[object]:
        value = self.need(name)
        if not isinstance(value, list):
            raise InvalidInput(f"{name} must be a list")
        return value

    def meta(self) -> str:
        """`meta` as canonical JSON, "" when there is none."""
        return meta_json(self._raw.get("meta"))


def meta_json(value: object) -> str:
    """An object of at most 4 KB as JSON; "" for none.

    Raises:
        InvalidInput: not an object, or too large.
    """
    if value is None:
        return ""
    if not isinstance(value, dict):
        raise InvalidInput("meta must be an object")
    text = encodable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    if len(text.encode("utf-8")) > META_LIMIT:
        raise InvalidInput(f"meta may have {META_LIMIT} bytes of JSON at most")
    return text
