"""A project: a directory with a name, on this machine or reached over ssh."""

import posixpath
import re
from dataclasses import dataclass

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.foreign_text import is_seen, quoted

# Everything the agents half keeps in a project lives below this directory.
PROJECT_DATA = ".ideai"

# Neither may begin with a dash: ssh would take it for an option.
_SSH = re.compile(
    r"ssh://(?:(?P<user>[\w.][\w.+-]*)@)?(?P<host>[\w.][\w.-]*)(?::(?P<port>\d{1,5}))?"
    r"(?P<path>/.*)?\Z"
)


RUNS = f"{PROJECT_DATA}/run"


def run_path(agent_id: str) -> str:
    """Where the agent of that id runs, below the project: a directory no other agent shares."""
    if not agent_id or "/" in agent_id or agent_id.startswith("."):
        raise InvalidInput(
            f"{quoted(agent_id)} can not be an agent's id: it would not name a directory"
        )
    return f"{RUNS}/{agent_id}"


@dataclass(frozen=True, slots=True)
class ProjectPath:
    """The absolute path of a project's root, without `.`, `..` or a slash at the end."""

    text: str

    def __post_init__(self) -> None:
        if not self.text.startswith("/"):
            raise InvalidInput(f"a project's path is absolute, and '{self.text}' is not")
        if not is_seen(self.text):
            raise InvalidInput(
                f"a project's path can not hold control characters: rename {quoted(self.text)}"
            )
        object.__setattr__(self, "text", posixpath.normpath("/" + self.text.lstrip("/")))

    def __str__(self) -> str:
        return self.text

    @property
    def data(self) -> str:
        """`<project>/.ideai`."""
        return posixpath.join(self.text, PROJECT_DATA)

    def run_dir(self, agent_id: str) -> str:
        """The absolute path of the agent's run directory."""
        return posixpath.join(self.text, run_path(agent_id))


@dataclass(frozen=True, slots=True)
class RemoteRef:
    """Where a project lives: here, or on a host reached over ssh.

    What is not said (a user, a port) is what the person's own ssh settings say.
    """

    user: str | None = None
    host: str | None = None
    port: int | None = None

    def __post_init__(self) -> None:
        if self.host is None and (self.user is not None or self.port is not None):
            raise InvalidInput("a remote project needs a host")
        if self.port is not None and not 1 <= self.port <= 65_535:
            raise InvalidInput(f"{self.port} is not a port: give one from 1 to 65535")

    @classmethod
    def parse(cls, text: str) -> "RemoteRef":
        """`local`, or `ssh://[user@]host[:port]`."""
        if text == "local":
            return cls()
        remote, path = cls.split(text)
        if path:
            raise InvalidInput(f"'{text}' names a directory, and only a machine is asked for")
        return remote

    @classmethod
    def split(cls, text: str) -> tuple["RemoteRef", str]:
        """The machine and the path of `ssh://[user@]host[:port]/path`; `/~/x` is below the home there."""
        found = _SSH.match(text)
        if not found:
            raise InvalidInput(f"'{text}' is neither 'local' nor 'ssh://user@host:port'")
        port = int(found["port"]) if found["port"] else None
        path = found["path"] or ""
        return cls(found["user"], found["host"], port), path[1:] if path.startswith("/~") else path

    @property
    def machine(self) -> str:
        """As ssh takes it; the port goes apart."""
        return f"{self.user}@{self.host}" if self.user else self.host or ""

    def __str__(self) -> str:
        if self.host is None:
            return "local"
        return f"ssh://{self.machine}" + (f":{self.port}" if self.port else "")


HERE = RemoteRef()


@dataclass(frozen=True, slots=True)
class Project:
    id: str
    name: str
    path: ProjectPath
    created_at: int
    remote: RemoteRef = HERE

    @property
    def address(self) -> str:
        """What names it on every machine: its path, after the machine if that is another."""
        return self.path.text if self.remote.host is None else f"{self.remote}{self.path}"

    def __post_init__(self) -> None:
        if not self.id.strip():
            raise InvalidInput("a project has an id, and this one was blank")
        if not self.name.strip():
            raise InvalidInput("give the project a name: it was blank")
        if self.created_at < 0:
            raise InvalidInput("a project can not be older than 1970")
