"""Checkouts that moved: which old project is which new one, as the user said.

Kept in `<user data>/project-aliases.json` as `{"version": 1, "aliases": {"/old": "/new"}}`.
A file that can not be read maps nothing, so that capture goes on; `problem` says what is wrong
with it, and no change is written over it.
"""

import os
from collections.abc import Mapping

from iai_mcp import paths, regular_files
from iai_mcp.domain.errors import InvalidInput, IoFailed, NotFound
from iai_mcp.domain.projects import identity

_LONGEST = 1024 * 1024


def file_path() -> str:
    return paths.in_user_data("project-aliases.json")


def load() -> dict[str, str]:
    """The user's aliases; none where the file is absent or can not be read."""
    return _read()[0]


def problem() -> str | None:
    """A sentence about a file that can not be used, or None."""
    return _read()[1]


def add(old: str, new: str) -> tuple[str, str]:
    """From now on memories of `old` are found under `new`. Returns both keys.

    Raises:
        InvalidInput: both are the same project, or the other way round is mapped already.
    """
    from iai_mcp.project import project_of

    aliases = _usable()
    # The old checkout is gone or about to be: what an alias makes of it now must not count.
    old_key = project_of(old, aliases={}).key
    new_key = project_of(new, aliases={}).key
    if old_key == new_key:
        raise InvalidInput(f"both are the same project already: {new_key}")
    if identity.follow(new_key, aliases) == old_key:
        raise InvalidInput(f"{new_key} is mapped to {old_key}: remove that first")
    _write({**aliases, old_key: new_key})
    return old_key, new_key


def remove(old: str) -> str:
    """Forget what `old` was mapped to, and return that.

    Raises:
        NotFound: it is not mapped.
    """
    from iai_mcp.project import project_of

    aliases = _usable()
    key = old if old in aliases else project_of(old, aliases={}).key
    if key not in aliases:
        raise NotFound(f"no project is mapped from {key}")
    target = aliases[key]
    _write({known: to for known, to in aliases.items() if known != key})
    return target


def _usable() -> dict[str, str]:
    aliases, wrong = _read()
    if wrong is not None:
        raise InvalidInput(wrong)
    return aliases


def _read() -> tuple[dict[str, str], str | None]:
    path = file_path()
    try:
        text = regular_files.read(path, _LONGEST, links=regular_files.ANYWHERE).decode()
    except FileNotFoundError:
        return {}, None
    except (OSError, ValueError) as refused:
        return {}, f"{path} can not be read ({refused})"
    # Only people who mapped something pay for the parser.
    import json

    try:
        document = json.loads(text)
        aliases = document["aliases"]
        if all(isinstance(part, str) for pair in aliases.items() for part in pair):
            return dict(aliases), None
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    form = '{"version": 1, "aliases": {"/old": "/new"}}'
    return {}, f"{path} is not of the form {form}: mend or delete it"


def _write(aliases: Mapping[str, str]) -> None:
    import json

    path = file_path()
    fresh = f"{path}.{os.getpid()}"
    try:
        paths.private_dir(paths.user_data())
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "aliases": aliases}, file, ensure_ascii=False, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except OSError as refused:
        raise IoFailed(f"{path} can not be written: {refused.strerror}") from refused
