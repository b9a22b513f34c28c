"""Optional values among params, where absent is not the same as empty."""

from iai_mcp.memory.params import Params


def optional_text(params: Params, name: str) -> str | None:
    return params.text(name) if params.has(name) else None


def optional_flag(params: Params, name: str) -> bool | None:
    return params.flag(name) if params.has(name) else None


def optional_texts(params: Params, name: str) -> tuple[str, ...] | None:
    return tuple(params.texts(name)) if params.has(name) else None
