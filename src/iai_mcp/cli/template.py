"""Personas to start from, with versions.

A template is a Markdown file, .ideai/templates/NAME.md in the project or templates/NAME.md in your
user data; edit it with any editor. Every text it has had while agents used it is kept as a version.

    iai-mcp template save reviewer --from-file reviewer.md
    iai-mcp agent create Rita --profile codex --template reviewer --synchronized
    iai-mcp agent sync rita              when the template has changed
    iai-mcp template list | show NAME | delete NAME
"""

import argparse

from iai_mcp.cli import documents


def configure(parser: argparse.ArgumentParser) -> None:
    documents.configure(parser, "template")


def run(arguments: argparse.Namespace) -> int:
    return documents.run(arguments, "template")
