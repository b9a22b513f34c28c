"""Plans, shows and applies an edit of one configuration file, with an exact undo."""

import difflib
from dataclasses import dataclass

from iai_mcp.domain.errors import Busy, IaiError, InvalidInput, IoFailed
from iai_mcp.hosts.config_files import files, json_file, receipts, toml_file
from iai_mcp.hosts.config_files.entries import ConfigFile, JsonFile, OwnFile, TomlFile
from iai_mcp.hosts.config_files.json_text import NotAContainer
from iai_mcp.hosts.config_files.jsonc import Json, NotJson
from iai_mcp.hosts.config_files.ownership import commands_of_ours, in_it
from iai_mcp.hosts.config_files.toml_file import NotToml

# A host that writes its file this often while we look at it is busy; the person can try again.
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Edit:
    """One file before and after; None is a file that is not there."""

    path: str
    before: str | None
    after: str | None

    @property
    def changes(self) -> bool:
        return self.before != self.after

    @property
    def kind(self) -> str:
        if not self.changes:
            return "unchanged"
        if self.before is None:
            return "created"
        return "removed" if self.after is None else "changed"

    def diff(self) -> str:
        """A unified diff, empty when nothing changes."""
        lines = difflib.unified_diff(
            _lines(self.before),
            _lines(self.after),
            "/dev/null" if self.before is None else self.path,
            "/dev/null" if self.after is None else self.path,
        )
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def plan_install(wanted: ConfigFile) -> Edit:
    """What installing would do to the file.

    Raises:
        InvalidInput: the file is broken, or has something else where our entries belong.
    """
    current = files.read(wanted.path)
    text = current.text or ""
    with _readable(wanted.path):
        if isinstance(wanted, OwnFile):
            return Edit(wanted.path, current.text, wanted.text)
        if isinstance(wanted, JsonFile):
            after, fine = json_file.installed(text, wanted), json_file.agree
            _insist(wanted.path, fine(text, after, wanted))
        else:
            after = toml_file.installed(text, wanted)
            _insist(wanted.path, toml_file.agree(text, after, wanted))
        return Edit(wanted.path, current.text, after)


def plan_remove(wanted: ConfigFile) -> Edit:
    """What removing would do: the file from before us if nothing else changed it, else the file
    without our entries."""
    current = files.read(wanted.path)
    receipt = receipts.find(wanted.path)
    if current.text is None:
        return Edit(wanted.path, None, None)
    if receipt is not None and receipt.result == current.digest:
        return Edit(wanted.path, current.text, receipt.before)
    with _readable(wanted.path):
        return Edit(wanted.path, current.text, _without_us(wanted, current.text, receipt))


def install(wanted: ConfigFile) -> Edit:
    """Make the file so; a receipt and a backup are written first. Needs `receipts.lock`."""
    for _ in range(_ATTEMPTS):
        edit = plan_install(wanted)
        if edit.after is None or not edit.changes:
            return edit
        receipts.keep(_receipt(wanted, edit, edit.after))
        try:
            files.write(wanted.path, edit.after, expected=edit.before)
        except files.Changed:
            continue
        return edit
    raise _busy(wanted.path)


def remove(wanted: ConfigFile) -> Edit:
    """Take everything of ours out of the file again. Needs `receipts.lock`."""
    for _ in range(_ATTEMPTS):
        edit = plan_remove(wanted)
        receipt = receipts.find(wanted.path)
        try:
            if edit.before is not None and edit.after is None:
                files.delete(wanted.path, expected=edit.before)
            elif edit.after is not None and edit.changes:
                files.write(wanted.path, edit.after, expected=edit.before)
        except files.Changed:
            continue
        if receipt is not None:
            files.remove_directories(receipt.made)
        receipts.drop(wanted.path, with_backup=receipt is None or edit.after == receipt.before)
        return edit
    raise _busy(wanted.path)


def state(wanted: ConfigFile) -> str:
    """ "installed" as we would write it today, "outdated", or "absent"."""
    edit = plan_install(wanted)
    if not edit.changes:
        return "installed"
    return "outdated" if edit.before is not None and _holds_ours(wanted, edit.before) else "absent"


def data_of(wanted: JsonFile | TomlFile) -> dict[str, Json]:
    """What the file says; nothing where it can not be read."""
    try:
        text = files.read(wanted.path).text or ""
        data = json_file.data_of(text) if isinstance(wanted, JsonFile) else toml_file.data_of(text)
    except (IaiError, NotJson, NotToml):
        return {}
    return data if isinstance(data, dict) else {}


def commands(wanted: ConfigFile) -> list[list[str]]:
    """What our entries in the file start, each as its words. A file that is ours alone is left out: it
    stands beside one with entries."""
    text = files.read(wanted.path).text
    if not text or isinstance(wanted, OwnFile):
        return []
    with _readable(wanted.path):
        if isinstance(wanted, JsonFile):
            return commands_of_ours(json_file.data_of(text), wanted.entries, wanted.hooks)
        return commands_of_ours(toml_file.data_of(text), wanted.entries, None)


def _receipt(wanted: ConfigFile, edit: Edit, after: str) -> receipts.Receipt:
    """What to remember. The first backup stays the backup for as long as we are in the file."""
    result = files.digest(after)
    known = receipts.find(wanted.path)
    if known is None:
        before = edit.before
        if before is not None and _holds_ours(wanted, before):
            # From an installation whose receipt is gone: the file without us is the one to keep.
            before = _without_us(wanted, before, None)
        return receipts.Receipt(wanted.path, before, result, files.missing_directories(wanted.path))
    untouched = edit.before is not None and known.result == files.digest(edit.before)
    # After somebody else's change the backup is no longer the file from before: no exact restore.
    return receipts.Receipt(wanted.path, known.before, result if untouched else "", known.made)


def _without_us(wanted: ConfigFile, text: str, receipt: receipts.Receipt | None) -> str | None:
    if isinstance(wanted, OwnFile):
        return receipt.before if receipt is not None else None
    earlier = receipt.before if receipt is not None else None
    if isinstance(wanted, JsonFile):
        data_before: Json = json_file.data_of(earlier or "") if receipt is not None else None
        after = json_file.removed(text, wanted, data_before) if text.strip() else text
        _insist(wanted.path, json_file.agree(text, after, wanted))
        empty = json_file.data_of(after) == {}
    else:
        data_before = toml_file.data_of(earlier or "") if receipt is not None else None
        after = toml_file.removed(text, wanted, data_before)
        _insist(wanted.path, toml_file.agree(text, after, wanted))
        empty = not after.strip()
    return None if empty and receipt is not None and receipt.before is None else after


def _holds_ours(wanted: ConfigFile, text: str) -> bool:
    if isinstance(wanted, OwnFile):
        return "iai-mcp" in text
    if isinstance(wanted, JsonFile):
        return in_it(json_file.data_of(text), wanted.entries, wanted.hooks)
    return in_it(toml_file.data_of(text), wanted.entries, None)


def _insist(path: str, untouched: bool) -> None:
    """The last check before anything is written: apart from ours, the file says what it said."""
    if not untouched:
        raise IoFailed(
            f"{path} is written in a way that can not be edited safely: it was left alone"
        )


class _readable:  # noqa: N801 - used as a statement
    """Turns what is wrong with a file into the sentence a person gets."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, NotJson):
            where = f"line {error.line}, column {error.column}: {error.what}"
            raise InvalidInput(_broken(self.path, "JSON", where)) from error
        if isinstance(error, NotToml):
            where = f"line {error.line}: {error.what}" if error.line else error.what
            raise InvalidInput(_broken(self.path, "TOML", where)) from error
        if isinstance(error, NotAContainer):
            place = ".".join(str(step) for step in error.path) or "the whole file"
            raise InvalidInput(
                f"{self.path}: '{place}' should be an {error.wanted} and is not. "
                "It was left alone: correct it, then run this again."
            ) from error


def _broken(path: str, language: str, where: str) -> str:
    what_now = "It was left alone: correct it, then run this again."
    return f"{path} is not valid {language} ({where}). {what_now}"


def _busy(path: str) -> Busy:
    return Busy(f"{path} is being written by another program all the time: close it and try again")


def _lines(text: str | None) -> list[str]:
    return [] if text is None else text.splitlines(keepends=True)
