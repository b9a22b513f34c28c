"""Adds our entries to a TOML file, and removes them.

A table is written at the end of the text and cut out of it again, so nothing else moves. Where
the file keeps its tables another way (inline, dotted), `tomlkit` edits it in place. It is imported
only then: launching needs none of it, and on another machine there is none.
"""

import re
import tomllib
from collections.abc import Mapping

from iai_mcp.hosts.config_files.entries import Entry, TomlFile
from iai_mcp.hosts.config_files.jsonc import Json
from iai_mcp.hosts.config_files.ownership import is_our_entry, merged, without_ours

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_INK = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE)


class NotToml(ValueError):
    """The text is broken; `line` is where, when the parser says so."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        match = re.search(r"line (\d+)", reason)
        self.line = int(match.group(1)) if match else None
        self.what = re.sub(r"\s*\(at .*\)$", "", reason)


def data_of(text: str) -> dict[str, Json]:
    """What the file says.

    Raises:
        NotToml: it can not be read.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotToml(str(error)) from error


def installed(text: str, wanted: TomlFile) -> str:
    """`text` with our entries in it; the same text if they are all there already."""
    for entry in wanted.entries:
        existing = _value(data_of(text), entry.path)
        value = merged(existing, entry.value)
        if existing == value:
            continue
        appended = text if existing is not None else _appended(text, entry.path, value)
        text = appended if _says(appended, entry.path, value) else _set(text, entry.path, value)
    return text


def removed(text: str, wanted: TomlFile, before: Json) -> str:
    """`text` without our entries; one of the same name that was there before us comes back."""
    for entry in wanted.entries:
        if _value(data_of(text), entry.path) is None:
            continue
        cut = _cut(text, entry.path)
        fine = _readable(cut) and agree(cut, text, wanted) and not _has(cut, entry)
        text = cut if fine else _deleted(text, entry.path)
        theirs = _value(before, entry.path)
        if isinstance(theirs, dict) and not is_our_entry(theirs):
            text = _appended(text, entry.path, theirs)
    return text


def agree(before: str, after: str, wanted: TomlFile) -> bool:
    """Whether two versions of the file say the same apart from what is ours."""
    first, second = (without_ours(data_of(text), wanted.entries, None) for text in (before, after))
    return first == second


def _appended(text: str, path: tuple[str, ...], value: Mapping[str, Json]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(_key(step) for step in path)}]"]
    inner = {key: member for key, member in value.items() if isinstance(member, dict)}
    lines += [
        f"{_key(key)} = {_literal(member)}" for key, member in value.items() if key not in inner
    ]
    for key, member in inner.items():
        lines += ["", f"[{'.'.join(_key(step) for step in (*path, key))}]"]
        lines += [f"{_key(name)} = {_literal(item)}" for name, item in member.items()]
    lead = "" if not text or text.endswith("\n") else newline
    gap = newline if text.strip() else ""
    return text + lead + gap + newline.join(lines) + newline


def _cut(text: str, path: tuple[str, ...]) -> str:
    """Cut our tables out, each with the blank line before it; comments that follow them stay."""
    names = [rf"""(?:{re.escape(s)}|"{re.escape(s)}"|'{re.escape(s)}')""" for s in path]
    dotted = r"\s*\.\s*".join(names)
    ours = re.compile(rf"^[ \t]*\[\s*{dotted}\s*[.\]]", re.MULTILINE)
    while (match := ours.search(text)) is not None:
        following = _HEADER.search(text, match.end())
        limit = following.start() if following else len(text)
        last = max(ink.end() for ink in _INK.finditer(text, match.start(), limit))
        end = text.find("\n", last) + 1 or len(text)
        start = match.start()
        blank = re.search(r"\r?\n[ \t]*\r?\n\Z", text[:start])
        if blank is not None:
            start = text.find("\n", blank.start()) + 1
        elif not text[:start].strip():
            start = 0
        text = text[:start] + text[end:]
    return text


def _set(text: str, path: tuple[str, ...], value: Mapping[str, Json]) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        holder = document
        for step in path[:-1]:
            if step not in holder:
                holder[step] = tomlkit.table(is_super_table=True)
            holder = holder[step]
        existing = holder.get(path[-1])
        if isinstance(existing, dict):
            for key in [key for key in existing if key not in value]:
                del existing[key]
            for key, member in value.items():
                if existing.get(key) != member:
                    existing[key] = member
        else:
            holder[path[-1]] = dict(value)
        return tomlkit.dumps(document)
    except TOMLKitError as error:
        raise NotToml(str(error)) from error


def _deleted(text: str, path: tuple[str, ...]) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        holder = document
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
        return tomlkit.dumps(document)
    except TOMLKitError as error:
        raise NotToml(str(error)) from error


def _says(text: str, path: tuple[str, ...], value: Json) -> bool:
    return _readable(text) and _value(data_of(text), path) == value


def _readable(text: str) -> bool:
    try:
        data_of(text)
    except NotToml:
        return False
    return True


def _has(text: str, entry: Entry) -> bool:
    return _value(data_of(text), entry.path) is not None


def _value(data: Json, path: tuple[str, ...]) -> Json:
    for step in path:
        if not isinstance(data, dict) or step not in data:
            return None
        data = data[step]
    return data


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _literal(name)


def _literal(value: Json) -> str:
    import tomlkit

    return tomlkit.item(value).as_string()
