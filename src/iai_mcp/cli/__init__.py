"""The command line: one file per command, found here by name and imported only when called."""

import sys


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code. The entry point of `iai-mcp`."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["mcp"] and arguments[1:] == []:
        # Hosts start this once per session and sub-agent: nothing else may be imported first.
        from iai_mcp.bridge.__main__ import main as bridge

        return bridge()
    if arguments[:1] == ["capture-transcript"]:
        if "--no-spawn" in arguments:
            from iai_mcp.capture.command import main as capture_transcript
        else:
            from iai_mcp.cli.capture_transcript import main as capture_transcript

        return capture_transcript(arguments[1:])
    if arguments[:1] == ["hook"] or arguments[:1] == ["session-start"]:
        from iai_mcp.capture.hook import main as hook

        return hook(arguments)
    from iai_mcp.cli.commands import run

    return run(arguments)
