"""Token usage of a turn, as the host recorded it: `meta.usage` with model, in, out and cached."""

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from iai_mcp.hosts.turns import Event, Record

_LONGEST_MODEL = 100
_MOST = 1_000_000_000


def usage(model: object, sent: object, received: object, cached: object = None) -> "Record":
    """The known parts: `in` is all that was sent, `cached` how much of it came from a cache."""
    known: Record = {}
    if isinstance(model, str) and model.strip():
        known["model"] = model.strip()[:_LONGEST_MODEL]
    for name, value in (("in", sent), ("out", received), ("cached", cached)):
        number = _count(value)
        if number is not None:
            known[name] = number
    return known


def added(first: "Record", second: "Record") -> "Record":
    """The sum of two usages; the model is the later one."""
    total = {**first, **second}
    for name in ("in", "out", "cached"):
        parts = [each[name] for each in (first, second) if isinstance(each.get(name), int)]
        if parts:
            total[name] = sum(parts)  # type: ignore[arg-type]  # they are numbers
    return total


def total(*parts: object) -> int | None:
    """The sum of token counts; None where none is known."""
    counts = [count for part in parts if (count := _count(part)) is not None]
    return sum(counts) if counts else None


def attach(event: "Event", known: "Record") -> "Event":
    """The turn with its usage, if anything of it is known."""
    if known:
        meta = event.get("meta")
        event["meta"] = {**(meta if isinstance(meta, dict) else {}), "usage": known}
    return event


def spend(carry: "Record", known: "Record", request: object = None) -> None:
    """Add what a request cost to the usage of the next answer, each request once."""
    if request is not None:
        if carry.get("billed") == request:
            return
        carry["billed"] = request
    spent = carry.get("spent")
    carry["spent"] = added(spent if isinstance(spent, dict) else {}, known)


def settle(event: "Event", carry: "Record") -> "Event":
    """The answer, with the usage of all requests since the answer before."""
    spent = carry.pop("spent", None)
    return attach(event, spent) if isinstance(spent, dict) else event


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST:
        return None
    return int(value)
