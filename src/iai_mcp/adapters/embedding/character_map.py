"""How a SentencePiece model normalises text: a map from characters to texts, stored as a trie.

The map is compiled: four bytes of length, the units of a double-array trie over UTF-8, then the
texts, each with a NUL at its end. Characters are replaced one by one; one with combining marks that
has at most five bytes is looked up as a whole. That is what the package `tokenizers` does.
"""

import re
import struct
import unicodedata
from array import array
from functools import cache

_IS_LEAF, _LABEL, _HAS_LEAF = 1 << 31, 0xFF, 1 << 8
_LONGEST_CLUSTER = 5  # bytes
_JOINERS = "\u200c\u200d"


class CharacterMap(dict[int, str | int]):
    """For `str.translate`, and `normalize` for whole texts."""

    def __init__(self, compiled: bytes) -> None:
        """
        Raises:
            ValueError: it is cut short.
        """
        super().__init__()
        try:
            (size,) = struct.unpack_from("<I", compiled)
        except struct.error as short:
            raise ValueError("the map of its characters is cut short") from short
        self._units = array("I", compiled[4 : 4 + size])
        self._texts = compiled[4 + size :]
        if not self._units or len(self._units) * 4 != size:
            raise ValueError("the map of its characters is cut short")

    def __missing__(self, code: int) -> str | int:
        text = self._shortest(chr(code).encode("utf-8"))
        replacement = code if text is None else text
        self[code] = replacement
        return replacement

    def normalize(self, text: str) -> str:
        if text.isascii() and "\r" not in text:
            return text.translate(self)
        parts: list[str] = []
        end = 0
        for cluster in _clusters().finditer(text):
            parts += (text[end : cluster.start()].translate(self), self._cluster(cluster[0]))
            end = cluster.end()
        return "".join([*parts, text[end:].translate(self)])

    def _cluster(self, cluster: str) -> str:
        data = cluster.encode("utf-8")
        whole = self._shortest(data) if len(data) <= _LONGEST_CLUSTER else None
        return cluster.translate(self) if whole is None else whole

    def _shortest(self, data: bytes) -> str | None:
        """What the shortest beginning of `data` that stands in the trie is replaced by."""
        units = self._units
        position = _offset(units[0])
        for byte in data:
            position ^= byte
            if byte == 0 or position >= len(units):
                return None
            unit = units[position]
            if unit & (_IS_LEAF | _LABEL) != byte:
                return None
            position ^= _offset(unit)
            if unit & _HAS_LEAF and position < len(units):
                start = units[position] & ~_IS_LEAF
                return self._texts[start : self._texts.index(b"\0", start)].decode("utf-8")
        return None


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & (1 << 9)) >> 6)


@cache
def _clusters() -> re.Pattern[str]:
    """A line break of two characters, or a character with combining marks."""
    plane = [chr(code) for code in range(0x300, 0xFFFF) if not 0xD800 <= code < 0xE000]
    kinds = {character: unicodedata.category(character) for character in plane}
    marks = "".join(c for c, kind in kinds.items() if kind in ("Mn", "Me") or c in _JOINERS)
    no_base = "".join(c for c, kind in kinds.items() if kind in ("Cf", "Zl", "Zp"))
    no_base = no_base.translate({ord(joiner): None for joiner in _JOINERS})
    return re.compile(f"\r\n|[^\x00-\x1f\x7f-\x9f\xad{re.escape(no_base)}][{re.escape(marks)}]+")
