"""What was found by attacking the product, tried again: held, or not held, with counts.

Each module of this package attacks one subject and has `attacks()`, which yields one `Outcome`
per attack. `python -m bench attacks [SUBJECT …]` runs them all, or those that are named.
"""

import argparse
import importlib
import pkgutil

from bench.attacks.outcome import Outcome
from bench.report import Row, show

METHOD = (
    "Each attack is made for real, on homes, clones and daemons of its own: files on disk, sockets, processes.\n"
    "It counts how often it was tried and how often the product held."
)


def subjects() -> list[str]:
    """The modules that attack something, by name."""
    return sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name != "outcome")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench attacks")
    parser.add_argument("subject", nargs="*", help=f"of {', '.join(subjects())}; all by default")
    wanted = parser.parse_args(arguments).subject or subjects()
    if unknown := set(wanted) - set(subjects()):
        parser.error(f"nothing attacks {', '.join(sorted(unknown))}")
    rows = [
        _row(name, outcome)
        for name in wanted
        for outcome in importlib.import_module(f"bench.attacks.{name}").attacks()
    ]
    return show("attacks", METHOD, rows)


def _row(subject: str, outcome: Outcome) -> Row:
    said = f"{outcome.held} of {outcome.tried}"
    return Row(f"{subject}: {outcome.attack}", said, outcome.goal, outcome.is_held)
