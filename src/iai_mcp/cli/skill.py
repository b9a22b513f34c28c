"""Markdown snippets that several agents share.

A skill is a file, .ideai/skills/NAME.md in the project or skills/NAME.md in your user data. It is
part of the context of every agent it is attached to, in alphabetical order, before the persona.

    iai-mcp skill save testing --from-file testing.md
    iai-mcp agent edit backend-dev --add-skill testing
    iai-mcp skill list | show NAME | delete NAME
"""

import argparse

from iai_mcp.cli import documents


def configure(parser: argparse.ArgumentParser) -> None:
    documents.configure(parser, "skill")


def run(arguments: argparse.Namespace) -> int:
    return documents.run(arguments, "skill")
