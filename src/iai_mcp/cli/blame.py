"""Which requests led to which edits of a file, by which agent.

iai-mcp blame src/cart.py
iai-mcp blame src --since "last week"
"""

import argparse
import os

from iai_mcp.cli import output, work_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="a file or a directory; its end is enough")
    work_text.configure(parser, limit=20)


def run(arguments: argparse.Namespace) -> int:
    path = arguments.path
    if path.startswith(("..", "~")) or (path.startswith("./") and os.path.exists(path)):
        path = os.path.abspath(os.path.expanduser(path))
    result = work_text.ask("blame", arguments, path=path)
    edits = work_text.listed(result, "edits")
    told = "\n\n".join(_told(one) for one in edits)
    output.emit(result, told or f"no edit of {path} is remembered", as_json=arguments.json)
    return 0


def _told(one: dict[str, object]) -> str:
    names = one.get("names")
    touched = ", ".join(map(str, names)) if isinstance(names, list) else ""
    head = f"{one.get('path')}  {one.get('action')} {work_text.size(one)}  {touched}".rstrip()
    who = work_text.aside(work_text.moment(one), one.get("agent"), one.get("host"))
    words = work_text.request(one)
    return "\n".join([head, who, *([f"  {words}"] if words else [])])
