"""Show or turn the memory's settings. They persist, and every one changes something.

iai-mcp knobs                          all of them, with what they do
iai-mcp knobs recency_weight           one of them
iai-mcp knobs recency_weight 0.5       turn it
iai-mcp knobs recency_weight default   back to how it came
"""

import argparse

from iai_mcp.cli import memory_access, output


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="a knob")
    parser.add_argument("value", nargs="?", help="what to turn it to; 'default' puts it back")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    if arguments.name is None:
        result = memory_access.call("profile_get", {}, looks=True)
        told = _all(result)
    elif arguments.value is None:
        result = memory_access.call("profile_get", {"knob": arguments.name}, looks=True)
        told = f"{result['knob']} = {result['value']}\n{result['says']}\ntakes {result['takes']}"
    else:
        result = memory_access.call(
            "profile_set", {"knob": arguments.name, "value": arguments.value}
        )
        told = f"{result['knob']} = {result['value']} (was {result['before']})"
    output.emit(result, told, as_json=arguments.json)
    return 0


def _all(result: dict[str, object]) -> str:
    values, knobs = result["values"], result["knobs"]
    if not isinstance(values, dict) or not isinstance(knobs, dict):
        return ""
    rows = [[name, str(value), str(knobs[name]["says"])] for name, value in values.items()]
    listed = output.table(rows, ["knob", "value", "what it does"])
    return f"{listed}\n\nwhat one of them takes: iai-mcp knobs NAME"
