"""A table for people and JSON for programs, with the method next to the numbers."""

import json
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """One measured thing beside its goal. `met` is None where there is only something to see."""

    what: str
    measured: str
    goal: str
    met: bool | None


def show(name: str, method: str, rows: list[Row]) -> int:
    """Print the table, keep the JSON, and return 0 when every goal was met, 1 when not."""
    width = max(len(row.what) for row in rows)
    middle = max(len(row.measured) for row in rows)
    print(f"\n{name}\n{method}\n")
    for row in rows:
        mark = {True: "ok", False: "MISSED", None: ""}[row.met]
        print(f"  {row.what:<{width}}  {row.measured:>{middle}}  {row.goal:<28} {mark}")
    directory = Path(__file__).parent / "results"
    directory.mkdir(exist_ok=True)
    found = {
        "name": name,
        "method": method,
        "when": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "rows": [asdict(row) for row in rows],
    }
    (directory / f"{name}.json").write_text(json.dumps(found, indent=2) + "\n")
    return 0 if all(row.met is not False for row in rows) else 1


def percentile(values: list[float], share: float) -> float:
    """The value below which `share` of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
