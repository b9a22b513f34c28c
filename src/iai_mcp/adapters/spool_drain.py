"""Empties the spool into the store: oldest first, in batches, each turn exactly once.

A file is removed when all of its turns are stored, and not before. Killed in between, the next run
delivers the file again, and the turns' identities make that a no-op. What can not be read is set
aside with its reason. A store that is busy or full leaves everything in place for later.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from iai_mcp import paths
from iai_mcp.adapters.spooled_file import SpooledFile, UnreadableError
from iai_mcp.capture.spool import ENDING, SET_ASIDE, TEMPORARY
from iai_mcp.domain.errors import IaiError, InvalidInput, PlaceSilent
from iai_mcp.hosts.reader import StoppedError

Deliver = Callable[[dict[str, object], list[dict[str, object]]], Mapping[str, object]]

log = logging.getLogger(__name__)

FIRST_RETRY = 0.5
LAST_RETRY = 30.0
# A failure that is nobody's known fault is tried this often before the file is set aside.
ATTEMPTS = 5
# A hook lives for less than a second: what it left unfinished an hour ago has no owner.
STALE_AFTER = 3600.0


@dataclass(slots=True)
class Drained:
    """What one pass through the spool did."""

    files: int = 0
    inserted: int = 0
    duplicates: int = 0
    skipped: int = 0
    set_aside: int = 0
    waiting: int = 0  # files that stay because the store did not take them


class _NotNow(Exception):
    """The store can not take anything at the moment."""


@dataclass(slots=True)
class SpoolPass:
    """The way from the spool to the store, gone once. `deliver` stores a batch in one transaction."""

    deliver: Deliver
    spool_dir: str | None = None
    stopping: threading.Event = field(default_factory=threading.Event)
    _turnstile: threading.Lock = field(default_factory=threading.Lock)
    _attempts: dict[str, int] = field(default_factory=dict)
    _retry_in: float = 0.0
    retry_at: float = 0.0

    def counts(self) -> dict[str, int]:
        """For `status`: files that wait, and files that were set aside. By their names alone: there
        may be thousands, and whoever asks for the status waits for nobody."""
        directory = self.directory()
        aside = [p for p in _names(directory / SET_ASIDE) if not p.endswith(".reason")]
        return {"waiting": sum(map(_is_spooled, _names(directory))), "set_aside": len(aside)}

    def drain_once(self) -> Drained:
        """One pass. Safe to call from several threads: the second waits."""
        done = Drained()
        directory = self.directory()
        with self._turnstile:
            files = self._waiting(directory)
            for position, path in enumerate(files):
                if self.stopping.is_set():
                    break
                try:
                    self._drain_file(path, done)
                except PlaceSilent:
                    done.waiting += 1  # it waits for its own place, and nobody waits for it
                except _NotNow:
                    done.waiting += len(files) - position
                    self.back_off()
                    return done
            if done.waiting:
                self.back_off()
            else:
                self._retry_in = self.retry_at = 0.0
            _remove_abandoned(directory)
        return done

    def _drain_file(self, path: Path, done: Drained) -> None:
        file = SpooledFile(path, self.stopping.is_set)
        try:
            for header, events in file.batches():
                if self.stopping.is_set():
                    return
                self._store(header, events, file, done)
        except FileNotFoundError:
            return  # somebody else has drained it
        except StoppedError:
            return
        except (UnreadableError, InvalidInput) as bad:
            file.damage.append(str(bad.args[0]) if bad.args else type(bad).__name__)
        except OSError as refused:
            file.damage.append(f"it can not be read: {refused.strerror}")
        self._attempts.pop(path.name, None)
        if file.damage:
            self._set_aside(path, file.damage)
            done.set_aside += 1
            return
        path.unlink(missing_ok=True)
        paths.sync_directory(path.parent)
        done.files += 1

    def _store(
        self,
        header: dict[str, object],
        events: list[dict[str, object]],
        file: SpooledFile,
        done: Drained,
    ) -> None:
        try:
            result = self.deliver(header, events)
        except (InvalidInput, PlaceSilent):
            raise
        except (IaiError, OSError) as refused:
            log.warning("the store takes no turns", extra={"reason": type(refused).__name__})
            raise _NotNow from refused
        except Exception as bug:
            self._count_failure(file.path.name, bug)
            raise _NotNow from bug
        done.inserted += _number(result.get("inserted"))
        done.duplicates += _number(result.get("duplicates"))
        done.skipped += _number(result.get("skipped"))
        refused_turns = _number(result.get("errors"))
        if refused_turns:
            file.damage.append(f"{refused_turns} turns were refused by the store")

    def _count_failure(self, name: str, bug: Exception) -> None:
        """A bug of ours must neither lose the file nor hold up all the others for ever."""
        self._attempts[name] = self._attempts.get(name, 0) + 1
        log.error("delivering a spool file failed", extra={"reason": type(bug).__name__})
        if self._attempts[name] >= ATTEMPTS:
            raise UnreadableError(
                f"storing it failed {ATTEMPTS} times: {type(bug).__name__}"
            ) from bug

    def _set_aside(self, path: Path, damage: list[str]) -> None:
        """Move the file where nothing is lost and a person can look at it."""
        shelf = Path(paths.private_dir(str(path.parent / SET_ASIDE)))
        target, number = shelf / path.name, 1
        while os.path.lexists(target) or os.path.lexists(f"{target}.reason"):
            target, number = shelf / f"{path.stem}.{number}{ENDING}", number + 1
        reason = Path(f"{target}.reason")
        descriptor = os.open(reason, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write("\n".join(damage[:100]) + "\n")
        path.rename(target)
        paths.sync_directory(shelf)
        paths.sync_directory(path.parent)
        log.warning("a spool file was set aside", extra={"file": target.name})

    def back_off(self) -> None:
        self._retry_in = min(LAST_RETRY, self._retry_in * 2) if self._retry_in else FIRST_RETRY
        self.retry_at = time.monotonic() + self._retry_in

    def directory(self) -> Path:
        return Path(self.spool_dir or paths.spool_dir())

    def _waiting(self, directory: Path) -> list[Path]:
        """The files to drain, oldest first."""
        found: list[tuple[int, str]] = []
        for name in _names(directory):
            if _is_spooled(name):
                try:
                    found.append(((directory / name).lstat().st_mtime_ns, name))
                except FileNotFoundError:
                    continue
        return [directory / name for _, name in sorted(found)]


def _is_spooled(name: str) -> bool:
    return name.endswith(ENDING) and not name.startswith(".")


def _names(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _remove_abandoned(directory: Path) -> None:
    """Half-written files of hooks that were killed. Their transcripts still have the words."""
    oldest = time.time() - STALE_AFTER
    for name in _names(directory):
        path = directory / name
        if name.startswith(".") and name.endswith(TEMPORARY):
            try:
                if path.lstat().st_mtime < oldest:
                    path.unlink()
            except FileNotFoundError:
                continue


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
