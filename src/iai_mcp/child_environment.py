"""The environment of programs that we start: our own, without our secrets.

Agents, terminals, git, editors, ssh and browsers run other people's code. The passphrase of the store
is for the daemon and the commands that open the store themselves.
"""

import os

TYPE_CHECKING = False  # see protocol/compact_json
if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIX = "IAI_"
_SECRET_WORDS = ("PASSPHRASE", "PASSWORD", "SECRET", "TOKEN", "CREDENTIAL")


def is_secret(name: str) -> bool:
    """Whether an environment variable of ours holds a secret, by the words of its name."""
    upper = name.upper()
    return upper.startswith(_PREFIX) and any(word in upper for word in _SECRET_WORDS)


def without_secrets(environment: "Mapping[str, str] | None" = None) -> dict[str, str]:
    """`environment` (by default this process's) without our secrets."""
    given = os.environ if environment is None else environment
    return {name: value for name, value in given.items() if not is_secret(name)}
