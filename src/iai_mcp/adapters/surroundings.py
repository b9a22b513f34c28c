"""The clock, projects, consent and redaction of the machine we run on."""

import time
from collections.abc import Sequence

from iai_mcp import project, project_aliases
from iai_mcp.capture import consent
from iai_mcp.domain import project_identity


class LocalConsent:
    """`Consent` by what people wrote down: never-capture lists, `.iai-ignore` files.

    A pause is the hooks' business: what they spooled before it was said with consent.
    """

    def allows(self, named: str, cwd: str) -> bool:
        return consent.place_refusal(cwd or None, named or None) is None


class SystemClock:
    """`Clock` by the system's time."""

    def now(self) -> int:
        return time.time_ns() // 1000


class LocalProjects:
    """`Projects` by git roots and names; the user's aliases are read when they are needed."""

    def key_of(self, named: str, cwd: str) -> str:
        place = named or cwd
        if not place:
            return ""
        return project.project_of(place, base=cwd or None).key

    def matching(self, named: str, known: Sequence[str]) -> list[str]:
        aliases = project_aliases.load()
        asked = project.project_of(named, aliases=aliases)
        return project_identity.matching(asked, known, aliases)
