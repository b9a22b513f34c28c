"""Every command, in a home where everything is hostile: what it shows is seen and never obeyed."""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from bench.hostile_home import NAME, WORDS, HostileHome, acts

from iai_mcp.cli.commands import COMMANDS, FOR_PROGRAMS, GROUPS, parser_of

# One way, or more, to call every command that there is. `{…}` stand for what the home holds.
WALK: dict[str, list[list[str]]] = {
    "up": [[]],
    "status": [[]],
    "recall": [["postgres", "--context", "2", "--explain"], [WORDS, "--project", NAME]],
    "capture": [["status"], [f"note {WORDS}", "--project", NAME], ["--ignore", f"/x/{NAME[:9]}"]],
    "timeline": [["--all"], []],
    "show": [["{memory}", "--around", "3"], [NAME]],
    "how": [["postgres"], [WORDS, "--project", NAME], []],
    "fix": [["undefined"], [WORDS, "--all"]],
    "blame": [["src"], [NAME, "--since", "yesterday"]],
    "changed": [["--since", "yesterday", "--all"], ["--since", NAME]],
    "forget": [["--query", "postgres", "--dry-run"], ["--query", "postgres"], [NAME]],
    "privacy on": [[f"/x/{NAME}"]],
    "privacy off": [[f"/x/{NAME}"]],
    "privacy": [[]],
    "share create": [["team", "--at", "{place}"], [NAME, "--at", "/tmp"], ["x", "--at", NAME]],
    "share invite": [["team"], [NAME]],
    "share join": [[NAME], ["iai1-AAAA"]],
    "share project": [["/x/y", "--with", "team", "--yes"], [NAME, "--with", NAME]],
    "share unshare": [["/x/y", "--with", "team"]],
    "share preview": [[NAME]],
    "share list": [[]],
    "share status": [[], [NAME]],
    "share members": [["team"], [NAME]],
    "share trust": [["team", NAME]],
    "share untrust": [["team", NAME]],
    "share remove": [["team", NAME, "--yes"]],
    "share now": [[], [NAME]],
    "share leave": [["team", "--yes"]],
    "share init-postgres": [["--print"]],
    "import": [["{file}", "--no-wait"], ["{export}"], [f"{NAME}.zip"], [f"/none/{NAME}"]],
    "why": [[], [NAME]],
    "page": [["--no-open"], ["--port", NAME], ["--tunnel", NAME], ["--close"]],
    "session list": [[]],
    "session attach": [[NAME]],
    "session send": [["{session}", WORDS, "--timeout", "1"]],
    "session logs": [["{session}"]],
    "session start": [["--detach", "--project", NAME, "--", "true", WORDS.replace("\0", "")]],
    "session kill": [[NAME]],
    "session broadcast": [[WORDS]],
    "session wait": [["{session}", "--until", "exited", "--timeout", "0.01"]],
    "session prune": [[]],
    "project add": [["--name", NAME]],
    "project list": [[]],
    "project remove": [[NAME]],
    "project map": [[], [f"/old/{NAME}"]],
    "project unmap": [[NAME]],
    "profile list": [[]],
    "profile detect": [[]],
    "profile setup": [["--default", NAME]],
    "profile add": [["--name", "More", "--command", NAME, "--injection", NAME]],
    "profile edit": [["loud", "--command", f"cat {NAME}"]],
    "profile remove": [[NAME]],
    "agent create": [["Ben\u202e", "--profile", NAME], [NAME, "--profile", "shell"]],
    "agent list": [[], ["--project", "{odd}"]],
    "agent show": [["{agent}"], [NAME, "--project", "{odd}"]],
    "agent edit": [["{agent}", "--profile", NAME], ["{agent}", "--add-skill", NAME]],
    "agent delete": [[NAME]],
    "agent sync": [["{agent}", "--dry-run"], ["{agent}"]],
    "agent launch": [["{agent}", "--print-only"], [NAME]],
    "agent resume": [["{agent}", "--print-only"]],
    "agent diff": [["{agent}"], [NAME, "--into", NAME]],
    "agent merge": [["{agent}", "--into", NAME], [NAME]],
    "agent prune": [["--dry-run"]],
    "template list": [[]],
    "template show": [["plain"], [NAME]],
    "template save": [["--from-file", NAME, "other"]],
    "template delete": [[NAME]],
    "skill list": [[]],
    "skill show": [["plain"]],
    "skill save": [["--from-file", NAME, "other"]],
    "skill delete": [[NAME]],
    "hosts list": [[]],
    "hosts status": [[]],
    "hosts install": [["--dry-run"], ["--dry-run", "--diff"], [], [NAME]],
    "hosts remove": [["--dry-run"], [NAME]],
    "sleep": [["--now"], []],
    "knobs": [[], [NAME], ["recency_weight", NAME]],
    "doctor": [[]],
    "events": [["--limit", "100"], ["--kind", NAME]],
    "pin": [[NAME]],
    "backup": [[f"/none/{NAME}/b"]],
    "restore": [[NAME]],
    "export": [[], [f"/none/{NAME}/e"]],
    "crypto init": [[]],
    "crypto status": [[]],
    "crypto rotate": [[]],
    "crypto export-key": [[]],
    "model install": [["--model", NAME], ["--from", NAME]],
    "model status": [[]],
    "upgrade": [[]],
    "uninstall": [["--data"]],
    "demo": [["--help"]],  # it lives in a home of its own, without anything of yours
    "completion bash": [[]],
    "completion zsh": [[]],
    "completion fish": [[]],
    "down": [[]],
    "capture-transcript": [["{file}"], ["--no-spawn", "{raw}"], [f"--{NAME}"]],
    "session-start": [[]],
    "hook": [[NAME, "Stop"]],
}
NOT_WALKED = {"mcp": "speaks JSON to a program, never to a person"}


def leaves() -> list[str]:
    """Every command that there is, with each of its actions."""
    found: list[str] = [name for name, _ in FOR_PROGRAMS if name not in NOT_WALKED]
    for name in COMMANDS:
        actions = _actions(parser_of(name))
        found += [f"{name} {action}" for action in actions] or [name]
    return found


def _actions(parser: argparse.ArgumentParser) -> list[str]:
    return [
        choice
        for action in parser._actions
        if action.choices and not action.option_strings
        for choice in action.choices
    ]


def test_every_command_is_walked() -> None:
    assert {name for _, names in GROUPS for name in names} == set(COMMANDS)
    assert set(leaves()) <= set(WALK), "list the new command in WALK"
    assert set(WALK) <= {*leaves(), *COMMANDS}, "WALK names a command that is gone"


@pytest.fixture(scope="module")
def home() -> Iterator[HostileHome]:
    """Where every command is tried, whatever it changes."""
    with furnished() as made:
        yield made


@pytest.fixture(scope="module")
def untouched() -> Iterator[HostileHome]:
    """Where commands only look."""
    with furnished() as made:
        yield made


@contextmanager
def furnished() -> Iterator[HostileHome]:
    made = HostileHome()
    try:
        yield made.furnish()
    finally:
        made.remove()


def calls(home: HostileHome, leaf: str) -> Iterator[list[str]]:
    stands_for = {
        "{session}": home.session,
        "{memory}": home.memory,
        "{agent}": "Ann",
        "{odd}": str(home.odd_project),
        "{file}": str(home.scratch.path / f"{NAME}.jsonl"),
        "{place}": str(home.scratch.path / "place"),
        "{raw}": home.unreadable_name.decode("utf-8", "surrogateescape"),
        "{export}": str(home.scratch.path / "export.jsonl"),
    }
    for words in WALK[leaf]:
        yield [*leaf.split(), *(stands_for.get(word, word).replace("\0", "") for word in words)]


@pytest.mark.parametrize("leaf", WALK)
def test_nothing_that_a_command_shows_is_obeyed(home: HostileHome, leaf: str) -> None:
    for words in calls(home, leaf):
        _, piped = home.piped(*words)
        assert acts(piped) == [], f"piped: {words}"
        assert acts(home.at_terminal(*words)) == [], f"at a terminal: {words}"
        assert acts(home.at_terminal(*words, "--json")) == [], f"as JSON: {words}"


def test_nothing_in_a_complaint_about_a_wrong_call_is_obeyed(home: HostileHome) -> None:
    for name in [*COMMANDS, NAME]:
        assert acts(home.at_terminal(name, f"--odd{NAME}")) == [], name


@pytest.mark.parametrize(
    "words",
    [
        ["recall", "postgres"],
        ["timeline", "--all"],
        ["why"],
        ["forget", "--query", "postgres", "--dry-run"],
        ["project", "list"],
        ["privacy"],
        ["template", "show", "plain"],
        ["skill", "show", "plain"],
        ["session", "list"],
        ["status"],
        ["hosts", "install", "--dry-run", "--diff"],
        ["agent", "show", "Ann"],
        ["agent", "sync", "Eve", "--dry-run"],
        ["capture", "status"],
        ["profile", "list"],
        ["doctor"],
    ],
    ids=" ".join,
)
def test_what_others_wrote_is_spelt_out(untouched: HostileHome, words: list[str]) -> None:
    for said in (untouched.piped(*words)[1], untouched.at_terminal(*words)):
        assert b"\\x1b" in said or b"\\u202e" in said


def test_json_says_the_same_words_and_keeps_other_scripts_readable(untouched: HostileHome) -> None:
    untouched.piped("capture", "Ærøskøbing 日本語 \u202e \x9b2J \x7f", "--project", "scripts")
    for said in (
        untouched.piped("timeline", "--project", "scripts", "--json")[1],
        untouched.at_terminal("timeline", "--project", "scripts", "--json"),
    ):
        assert "Ærøskøbing 日本語 \\u202e \\u009b2J \\u007f".encode() in said
        (record,) = json.loads(said)["records"]
        assert record["text"] == "Ærøskøbing 日本語 \u202e \x9b2J \x7f"


def test_raw_logs_are_the_bytes_as_the_program_wrote_them(untouched: HostileHome) -> None:
    assert (
        b"\x1b]52;c;cHduZWQ=\x07"
        in untouched.piped("session", "logs", untouched.session, "--raw")[1]
    )
    assert b"\x1b]52" in untouched.at_terminal("session", "logs", untouched.session, "--raw")
