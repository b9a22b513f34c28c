"""Claude Code's own record of what a person trusts: `projects.<path>` in `.claude.json`.

It asks about a directory unless that one, its git root or a parent is there. No flag answers it.
"""

import os

from iai_mcp.domain.errors import Busy
from iai_mcp.hosts.claude_code.config import global_file
from iai_mcp.hosts.editing import files, json_text
from iai_mcp.hosts.editing.jsonc import parse
from iai_mcp.paths import home

_ATTEMPTS = 5


def accept(project: str) -> None:
    """Write down that the person trusts `project`. Everything else in the file stays as it is.

    Not for the person's home or what is above it: Claude Code would trust all that ever lies below,
    each later clone too. There it asks by itself.
    """
    if f"{os.path.realpath(home())}/".startswith(f"{project.rstrip('/')}/"):
        return
    path = global_file()
    where = ("projects", project, "hasTrustDialogAccepted")
    for _ in range(_ATTEMPTS):
        found = files.read(path)
        text = found.text if found.text and found.text.strip() else "{}\n"
        known = json_text.look(parse(text), where)
        if known is not None and known.data is True:
            return
        try:
            files.write(path, json_text.put(text, where, True), expected=found.text)
        except files.Changed:
            continue
        return
    raise Busy(f"{path} keeps changing: another Claude Code is writing it; try again")
