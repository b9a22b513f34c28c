"""Which commands only a person may run. Inside a launched agent's session they are refused.

Most commands call a method, and the table of methods in `api/` decides. The ones here change files,
processes or keys by themselves.
"""

import argparse
import os

from iai_mcp.domain.errors import NotAllowed

AGENT_ID, AGENT_NAME = "IAI_MCP_AGENT_ID", "IAI_MCP_AGENT_NAME"

# command -> the actions that are the person's; all of them where none is named
_PERSONS: dict[str, frozenset[str]] = {
    "agent": frozenset(("edit", "delete", "sync", "merge", "prune")),
    "capture": frozenset(("pause", "resume", "ignore", "unignore", "no_work", "work")),
    "crypto": frozenset(("init", "rotate", "export-key")),
    "down": frozenset(),
    "hosts": frozenset(("install", "remove")),
    "import": frozenset(),
    "page": frozenset(),
    "profile": frozenset(("add", "edit", "remove", "setup")),
    "project": frozenset(("add", "remove", "map", "unmap")),
    "restore": frozenset(),
    # Others' terminals show what was said in their projects, and run what is typed.
    "session": frozenset(("list", "logs", "attach", "send", "broadcast", "kill", "prune")),
    "skill": frozenset(("save", "edit", "delete")),
    "sleep": frozenset(("pause", "resume")),
    "template": frozenset(("save", "edit", "delete")),
    "uninstall": frozenset(),
}
_WORDS_OF_CAPTURE = ("pause", "resume")


def is_agent() -> bool:
    """Whether this process runs inside a launched agent's session."""
    return AGENT_ID in os.environ or AGENT_NAME in os.environ


def check(command: str, arguments: argparse.Namespace) -> None:
    """
    Raises:
        NotAllowed: an agent runs a command that is the person's.
    """
    if command not in _PERSONS or not is_agent():
        return
    asked, of_person = _actions(command, arguments), _PERSONS[command]
    if of_person and not asked & of_person:
        return
    action = "".join(f" {one}" for one in sorted(asked & of_person))
    raise NotAllowed(
        f"an agent may not run 'iai-mcp {command}{action}': a person runs it in a terminal of their own"
    )


def _actions(command: str, arguments: argparse.Namespace) -> set[str]:
    """What the arguments ask for: an action, or options that are set."""
    asked = {str(arguments.action)} if hasattr(arguments, "action") else set()
    for name in _PERSONS[command]:
        value = getattr(arguments, name, None)
        if value is not None and value is not False:
            asked.add(name)
    if command == "capture" and len(arguments.text) == 1 and arguments.text[0] in _WORDS_OF_CAPTURE:
        asked.add(arguments.text[0])
    return asked
