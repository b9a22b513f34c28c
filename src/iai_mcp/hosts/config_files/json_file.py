"""Adds our hooks and entries to a JSON file, and removes them."""

from collections.abc import Sequence

from iai_mcp.hosts.config_files.entries import Hooks, JsonFile
from iai_mcp.hosts.config_files.json_text import append, look, put, take_out
from iai_mcp.hosts.config_files.jsonc import Json, parse
from iai_mcp.hosts.config_files.ownership import first_of_ours, is_our_entry, merged, without_ours


def data_of(text: str) -> Json:
    """What the file says; an empty file says nothing, which is an empty object."""
    return parse(text).data if text.strip() else {}


def installed(text: str, wanted: JsonFile) -> str:
    """`text` with everything of ours in it; the same text if it is all there already."""
    result = text if text.strip() else "{}\n"
    for key, value in wanted.frame.items():
        if look(parse(result), (key,)) is None:
            result = put(result, (key,), value)
    for entry in wanted.entries:
        existing = look(parse(result), entry.path)
        result = put(result, entry.path, merged(existing.data if existing else None, entry.value))
    if wanted.hooks is not None:
        result = _with_hooks(result, wanted.hooks)
    return text if data_of(result) == data_of(text) and text.strip() else result


def removed(text: str, wanted: JsonFile, before: Json) -> str:
    """`text` without anything of ours; `before` is what the file said before us (None: unknown).

    Containers that are empty now go too, unless they were there before. An entry of the same
    name that somebody had before us comes back.
    """
    result = text
    if wanted.hooks is not None:
        result = _without_events(result, wanted.hooks, _events(text, wanted.hooks), before)
    for entry in wanted.entries:
        if look(parse(result), entry.path) is None:
            continue
        result = take_out(result, entry.path)
        theirs = _value(before, entry.path)
        if theirs is not None and not is_our_entry(theirs):
            result = put(result, entry.path, theirs)
        result = _pruned(result, entry.path[:-1], before)
    return _without_frame(result, wanted, before)


def agree(before: str, after: str, wanted: JsonFile) -> bool:
    """Whether two versions of the file say the same apart from what is ours."""
    first, second = (
        without_ours(data_of(text), wanted.entries, wanted.hooks) for text in (before, after)
    )
    return _frameless(first, wanted) == _frameless(second, wanted)


def _with_hooks(text: str, hooks: Hooks) -> str:
    retired = [event for event in _events(text, hooks) if event not in hooks.items]
    text = _without_events(text, hooks, retired, None)
    for event, item in hooks.items.items():
        path = (*hooks.root, event)
        node = look(parse(text), path)
        present = node.data if node is not None else []
        if isinstance(present, list):
            ours = [value for value in present if first_of_ours(value) is not None]
            if ours == [item]:
                continue
            if ours:
                text = _without_hooks(text, path)
        text = append(text, path, item)
    return text


def _without_events(text: str, hooks: Hooks, events: Sequence[str], before: Json) -> str:
    """Take our hooks out of these events, and what is empty because of that."""
    for event in events:
        path = (*hooks.root, event)
        without = _without_hooks(text, path)
        text = _pruned(without, path, before) if without != text else text
    return text


def _without_hooks(text: str, path: tuple[str, ...]) -> str:
    """Take our hooks out of one event; its array stays."""
    while True:
        node = look(parse(text), path)
        place = first_of_ours(node.data) if node is not None else None
        if place is None or place == ():
            return text
        text = _take_out_group(text, path, place)


def _take_out_group(text: str, path: tuple[str, ...], place: tuple[int | str, ...]) -> str:
    """Take out one hook; the group around it goes too when this was its only hook."""
    if len(place) > 1:
        inner = look(parse(text), (*path, *place[:-1]))
        if inner is not None and len(inner.children) == 1:
            return take_out(text, (*path, place[0]))
    return take_out(text, (*path, *place))


def _pruned(text: str, path: Sequence[str], before: Json) -> str:
    """Take out the containers on `path` that are empty now and were not there before us."""
    while path:
        node = look(parse(text), path)
        if node is None or node.children or node.kind == "scalar":
            break
        if _value(before, path) is not None:
            break
        text, path = take_out(text, path), path[:-1]
    return text


def _events(text: str, hooks: Hooks) -> list[str]:
    node = look(parse(text), hooks.root) if text.strip() else None
    return list(node.data) if node is not None and isinstance(node.data, dict) else []


def _without_frame(text: str, wanted: JsonFile, before: Json) -> str:
    """A frame we made holds nothing once all else is gone."""
    data = data_of(text)
    if isinstance(data, dict) and set(data) == set(wanted.frame):
        for key in wanted.frame:
            if _value(before, (key,)) is None:
                text = take_out(text, (key,))
    return text


def _frameless(data: Json, wanted: JsonFile) -> Json:
    if not isinstance(data, dict):
        return data
    return {key: value for key, value in data.items() if key not in wanted.frame}


def _value(data: Json, path: Sequence[str]) -> Json:
    for step in path:
        if not isinstance(data, dict) or step not in data:
            return None
        data = data[step]
    return data
