"""The list of hosts (agent programs).

A host with hooks has a package with one value, `HOST`; the others are entries in `simple_hosts`.
To add a host, write it there and name it here. Every other table is made from this list.
"""

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

    from iai_mcp.hosts.host import Hooks, Host

# Their sessions can be read, the most used first; each with the places and names by which a file is
# known as its transcript before anything is imported. Hooks import these packages, so whatever is
# slow to import is in another file of the package.
_READ = {
    "claude_code": ("/.claude/projects/",),
    "codex": ("/.codex/", "/rollout-", ".jsonl.zst"),
    "cursor": ("/agent-transcripts/", ".vscdb"),
    "gemini": ("/.gemini/tmp/",),
    "opencode": ("/opencode/storage/", "/opencode.db"),
    "copilot": ("/.copilot/",),
    "qwen": ("/.qwen/",),
    "specstory": ("/.specstory/history/",),
    "aider": (".aider.chat.history.md",),
    "cline": ("/saoudrizwan.claude-dev/", "/.cline/data/"),
    "roo": ("/rooveterinaryinc.roo-cline/",),
    "goose": ("/goose/sessions/",),
    "kimi": ("/.kimi/sessions/", "/.kimi-code/sessions/"),
    "amp": ("/amp/threads/",),
    "chatgpt": (),
    "claude_ai": (),
}
# These are only connected or launched; `shell` is any other program.
_OTHERS = (
    "vscode",
    "claude_desktop",
    "windsurf",
    "zed",
    "crush",
    "shell",
)

_PACKAGES = ("claude_code", "codex", "cursor", "gemini", "opencode", "copilot", "qwen")

# The ids of the hosts whose transcripts can be read.
READABLE = tuple(name.replace("_", "-") for name in _READ)
DEFAULT = "claude-code"


def find(host: str) -> "Host | None":
    """The host of that id; only its package is imported."""
    name = host.replace("-", "_")
    known = "_" not in host and (name in _READ or name in _OTHERS)
    return _load(name) if known else None


def readable() -> "Iterator[Host]":
    """The hosts whose transcripts can be read, each imported when it is asked for."""
    return map(_load, _READ)


def by_path(path: str) -> str | None:
    """The host whose transcripts lie at such a place, else whose files have such a name."""
    name = "/" + path.rpartition("/")[2]
    for host, marks in zip(READABLE, _READ.values(), strict=True):
        if any(mark in path for mark in marks if mark.endswith("/")):
            return host
    for host, marks in zip(READABLE, _READ.values(), strict=True):
        if name.startswith(marks) or name.endswith(marks):
            return host
    return None


def every() -> "Iterator[Host]":
    """All hosts."""
    return map(_load, (*_READ, *_OTHERS))


def hooks_of(host: str) -> "Hooks":
    """How this host's hooks speak; one that we do not know is taken to speak as the default."""
    known = find(host)
    hooks = known.hooks if known is not None else None
    return hooks or _load("claude_code").hooks  # type: ignore[return-value]  # it has some


def _load(name: str) -> "Host":
    if name in _PACKAGES:
        host: Host = __import__(f"{__name__}.{name}", fromlist=["HOST"]).HOST
        return host
    from iai_mcp.hosts.simple_hosts import HOSTS

    return HOSTS[name.replace("_", "-")]
