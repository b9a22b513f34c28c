"""`python -m bench NAME [options]`: one benchmark by name; without a name, the list of them."""

import importlib
import sys

# name -> (module below bench with `main(arguments) -> int`, one line for the overview)
BENCHMARKS: dict[str, tuple[str, str]] = {
    "startup": ("startup", "daemon and bridge from spawn to first answer, beside bare Python"),
    "recall": ("recall", "recall over the socket, beside embedding plus an exact scan"),
    "embedding": ("embedding", "what it takes until meaning works, beside the bare encoder"),
    "quality": ("quality", "what recall finds on public sets, beside BM25, cosine and RRF"),
    "memorycode": ("memorycode", "rules that a mentor states and changes: which are told"),
    "fit": ("quality.fit", "learn the ranker's weights from filled stores"),
    "coding": ("coding", "what recall, briefing and injection bring of real coding sessions"),
    "learning": ("quality.learning", "what reinforcing used memories gains, and costs"),
    "ingest": ("ingest", "captures acknowledged per second"),
    "footprint": ("footprint", "resident memory and idle CPU of the daemon"),
    "load": ("load", "eight clients at once, idle crowds, huge and nonsense lines"),
    "sleep": ("sleep", "recall before, during and after a sleep"),
    "hibernation": ("hibernation", "a dormant daemon: its memory, its first answers; idle CPU"),
    "interruption": ("interruption", "recalls that come while sleep works, beside the same awake"),
    "soak": ("soak", "captures, recalls, sleeps and restarts for minutes on end"),
    "faults": ("faults", "kill -9 at random moments under three writers"),
    "nights": ("nights", "kill -9 in sleep, retention, backup and rotation: nothing is lost"),
    "capture": ("capture", "hooks beside bare Python, drain latency and rate, kills"),
    "care": ("care", "redaction, import of history, and what sessions are told"),
    "fuzz": ("fuzz", "texts that make parsers slow, against every path that text takes"),
    "attacks": ("attacks", "what attackers try, tried again: held or not held"),
    "work": ("work", "remembered commands, mendings and edits of real sessions, beside grep"),
    "sharing": ("sharing", "said here, found there; catching up; many devices on one database"),
    "sharing-faults": ("sharing_faults", "kills, lost, late and cut records: all stores end equal"),
    "page": (
        "page",
        "the page in a browser: first view, recall, a flood in a terminal, its memory",
    ),
    "remote": ("remote", "agents on another machine: launch, echo and list beside those here"),
    "remote-faults": (
        "remote_faults",
        "connections cut at random moments: nothing lost or doubled",
    ),
    "sessions": ("sessions", "terminal sessions beside tmux and dtach: speed, latency, memory"),
}


def main(arguments: list[str]) -> int:
    """Run the benchmark that the first argument names."""
    if not arguments or arguments[0] not in BENCHMARKS:
        print("usage: python -m bench NAME [options]\n")
        for name, (_, summary) in sorted(BENCHMARKS.items()):
            print(f"  {name:<14}{summary}")
        return 2
    module = importlib.import_module(f"bench.{BENCHMARKS[arguments[0]][0]}")
    return int(module.main(arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
