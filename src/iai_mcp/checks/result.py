"""The result of a check: passed, warned or failed. A check that raises becomes a failed one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from iai_mcp.domain.errors import IaiError

Status = Literal["PASS", "WARN", "FAIL"]


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor. `fix` is a command or a sentence; empty when nothing is to be done."""

    name: str
    status: Status
    detail: str
    fix: str = ""


def passed(name: str, detail: str) -> Check:
    return Check(name, "PASS", detail)


def warned(name: str, detail: str, fix: str) -> Check:
    return Check(name, "WARN", detail, fix)


def failed(name: str, detail: str, fix: str) -> Check:
    return Check(name, "FAIL", detail, fix)


def examined(name: str, look: Callable[[], Check]) -> Check:
    """The check's verdict; one that can not even look says so instead of ending the examination."""
    try:
        return look()
    except IaiError as error:
        return failed(name, error.message, "see the sentence before this")
    except OSError as refused:
        return warned(name, f"could not be examined: {refused.strerror}", "check the permissions")
