"""`iai-mcp agent`, `project`, `profile`, `template` and `skill` on real files."""

import json
import os
import subprocess

import pytest
from tests.integration.agents.conftest import Machine


def persona(machine: Machine, text: str) -> str:
    path = machine.root / "persona.md"
    path.write_bytes(text.encode())
    return str(path)


def made(machine: Machine, name: str = "Backend Dev", *more: str) -> dict[str, object]:
    result = machine.json("agent", "create", name, "--profile", "shell", *more)
    agent = result["agent"]
    assert isinstance(agent, dict)
    return agent


def test_an_agent_is_made_with_a_manifest_that_is_meant_to_be_read(machine: Machine) -> None:
    agent = made(machine, "Backend Dev", "--context-file", persona(machine, "Write Go.\r\n"))

    assert agent["name"] == "Backend Dev"
    assert agent["context_path"] == "agents/backend-dev.md"
    assert agent["profile_id"] == "shell"
    assert agent["origin"] == "scratch"
    assert agent["synchronized"] is False
    data = machine.project / ".ideai"
    assert json.loads((data / "agents.json").read_text()) == {
        "version": 1,
        "entries": [
            {
                "agent_id": agent["id"],
                "name": "Backend Dev",
                "md_path": "agents/backend-dev.md",
                "profile_id": "shell",
                "origin": "scratch",
                "synchronized": False,
            }
        ],
    }
    assert (data / "agents" / "backend-dev.md").read_bytes() == b"Write Go.\r\n"
    assert (data / ".gitignore").read_text() == "run/\n"


def test_git_sees_the_agents_and_not_their_runs(machine: Machine) -> None:
    made(machine)
    (machine.project / ".ideai" / "run" / "x").write_text("private")
    seen = subprocess.run(
        ["git", "status", "--porcelain", "-uall"],
        cwd=machine.project,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert sorted(line[3:] for line in seen.splitlines()) == [
        ".ideai/.gitignore",
        ".ideai/agents.json",
        ".ideai/agents/backend-dev.md",
    ]


def test_agents_are_listed_shown_edited_and_deleted(machine: Machine) -> None:
    made(machine)
    made(machine)
    listed = machine.json("agent", "list")["agents"]
    assert isinstance(listed, list)
    assert [a["slug"] for a in listed] == ["backend-dev", "backend-dev-2"]

    machine.json("agent", "edit", "backend-dev-2", "--name", "Ben", "--context-file", "/dev/null")
    shown = machine.json("agent", "show", "Ben")["agent"]
    assert isinstance(shown, dict)
    assert (shown["slug"], shown["context"]) == ("backend-dev-2", "")

    machine.json("agent", "delete", "Ben")
    assert machine.error("agent", "delete", "Ben")["code"] == "NOT_FOUND"
    assert not (machine.project / ".ideai/agents/backend-dev-2.md").exists()


def test_an_ambiguous_or_unknown_agent_is_refused(machine: Machine) -> None:
    made(machine)
    made(machine)

    assert machine.error("agent", "show", "Backend Dev")["code"] == "INVALID"
    assert machine.error("agent", "show", "ghost")["code"] == "NOT_FOUND"


def test_the_project_is_found_from_below_and_from_afar(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(machine, "Ada")
    below = machine.project / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert machine.json("agent", "list")["project"] == str(machine.project)

    monkeypatch.chdir("/")
    found = machine.json("agent", "list", "--project", str(machine.project))["agents"]
    assert isinstance(found, list)
    assert len(found) == 1
    assert machine.error("agent", "list", "--project", "/no/such/place")["code"] == "NOT_FOUND"


def test_processes_that_make_agents_at_once_all_land(machine: Machine) -> None:
    running = [
        machine.start("agent", "create", "Twin", "--profile", "shell", "--json") for _ in range(5)
    ]
    answers = []
    for process in running:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, out + err
        answers.append(json.loads(out)["agent"])

    listed = machine.json("agent", "list")["agents"]
    assert isinstance(listed, list)
    assert {a["id"] for a in listed} == {a["id"] for a in answers}
    assert {a["slug"] for a in listed} == {"twin", *(f"twin-{n}" for n in range(2, 6))}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n  "version": 1,\n  "entries": [,]\n}\n', "line 3"),
        ('{"version": 1,\n<<<<<<< HEAD\n"entries": []}', "line 2"),
        ('{"version": 1, "entries": [\n{"agent_id": "a"}\n]}', "line 2"),
        (
            '{"version": 1, "entries": [\n'
            '{"agent_id": "a", "name": "A", "md_path": "agents/a.md", "profile_id": "p"},\n'
            '{"agent_id": "a", "name": "B", "md_path": "agents/b.md", "profile_id": "p"}\n'
            "]}",
            "line 3",
        ),
        (
            '{"version": 1, "entries": [\n'
            '{"agent_id": "a", "name": "A", "md_path": "../../x.md", "profile_id": "p"}]}',
            "line 2",
        ),
        ("[]", "line 1"),
        ('{"version": 1, "entries": 5}', "line 1"),
    ],
)
def test_a_broken_manifest_is_told_with_its_line_and_left_alone(
    machine: Machine, text: str, line: str
) -> None:
    data = machine.project / ".ideai"
    data.mkdir()
    (data / "agents.json").write_text(text)
    for arguments in (["agent", "list"], ["agent", "create", "Ada", "--profile", "shell"]):
        error = machine.error(*arguments)
        assert error["code"] == "INVALID"
        assert line in error["message"]
        assert "agents.json" in error["message"]

    assert (data / "agents.json").read_text() == text
    assert not (data / "agents").exists()


def test_a_manifest_of_a_later_version_is_left_alone(machine: Machine) -> None:
    data = machine.project / ".ideai"
    data.mkdir()
    (data / "agents.json").write_text('{"version": 2, "entries": []}')

    assert "update iai-mcp" in machine.error("agent", "list")["message"]


def test_keys_that_others_keep_in_the_manifest_stay(machine: Machine) -> None:
    made(machine, "Ada")
    path = machine.project / ".ideai" / "agents.json"
    manifest = json.loads(path.read_text())
    manifest["team"] = {"lead": "Zoë"}
    manifest["entries"][0]["colour"] = "red"
    path.write_text(json.dumps(manifest))
    machine.json("agent", "edit", "ada", "--name", "Ada Two")
    made(machine, "Ben")

    after = json.loads(path.read_text())
    assert after["team"] == {"lead": "Zoë"}
    assert after["entries"][0]["colour"] == "red"
    assert "Zoë" in path.read_text()


def test_what_people_ignore_besides_runs_stays_ignored(machine: Machine) -> None:
    data = machine.project / ".ideai"
    data.mkdir()
    (data / ".gitignore").write_text("notes.md")
    made(machine)

    assert (data / ".gitignore").read_text() == "notes.md\nrun/\n"


def test_a_project_that_can_not_be_written_is_a_clear_error(machine: Machine) -> None:
    (machine.project / ".ideai").write_text("a file where the directory should be")
    error = machine.error("agent", "create", "Ada", "--profile", "shell")

    assert error["code"] == "IO"
    assert ".ideai" in error["message"]


def test_a_context_that_is_not_there_or_no_text_makes_no_agent(machine: Machine) -> None:
    binary = machine.root / "binary"
    binary.write_bytes(b"ok\n\xff\xfe")
    create = ["agent", "create", "Ada", "--profile", "shell", "--context-file"]

    assert machine.error(*create, "/no/such/file")["code"] == "NOT_FOUND"
    assert "line 2" in machine.error(*create, str(binary))["message"]
    assert machine.json("agent", "list")["agents"] == []


def test_without_a_terminal_nothing_is_asked(machine: Machine) -> None:
    assert "--profile" in machine.error("agent", "create", "Ada")["message"]
    made(machine)
    assert "say what to change" in machine.error("agent", "edit", "backend-dev")["message"]
    machine.json("profile", "setup", "--default", "shell")

    agent = machine.json("agent", "create", "Ada")["agent"]
    assert isinstance(agent, dict)
    assert agent["profile_id"] == "shell"


def test_profiles_are_added_edited_and_removed(machine: Machine) -> None:
    added = machine.json(
        *("profile", "add", "--name", "Claude, Opus", "--command", "claude"),
        *("--arg", "--model", "--arg", "opus", "--injection", "convention_file:CLAUDE.md"),
        *("--detect", "claude --version"),
    )["profile"]
    assert isinstance(added, dict)
    assert (added["id"], added["args"]) == ("claude-opus", ["--model", "opus"])
    assert added["cwd_template"] == "{agentRunDir}"

    machine.json("profile", "edit", "claude-opus", "--arg", "-c")
    listed = machine.json("profile", "list")["profiles"]
    assert isinstance(listed, list)
    assert [p["args"] for p in listed if p["id"] == "claude-opus"] == [["-c"]]
    assert (machine.store / "profiles.json").stat().st_mode & 0o777 == 0o600

    machine.json("profile", "remove", "claude-opus")
    assert machine.error("profile", "remove", "claude-opus")["code"] == "NOT_FOUND"
    assert machine.error("profile", "remove", "codex")["code"] == "INVALID"


def test_a_command_may_bring_its_arguments_and_is_named_in_full(machine: Machine) -> None:
    add = ["profile", "add", "--injection", "stdin", "--name"]
    (machine.project / "my agent").write_text("#!/bin/sh\n")
    told = [
        machine.json(*add, "One", "--command", "python3 -m agent", "--arg", "-x")["profile"],
        machine.json(*add, "Two", "--command", "./run.sh")["profile"],
        machine.json(*add, "Three", "--command", f"{machine.project}/my agent")["profile"],
    ]

    assert [(p["command"], p["args"]) for p in told if isinstance(p, dict)] == [
        ("python3", ["-m", "agent", "-x"]),
        (str(machine.project / "run.sh"), []),
        (str(machine.project / "my agent"), []),
    ]
    assert machine.error(*add, "Four", "--command", "sh -c 'open")["code"] == "INVALID"


def test_a_profile_that_can_not_work_is_refused(machine: Machine) -> None:
    add = ["profile", "add", "--name", "X", "--command", "x", "--injection"]

    assert machine.error(*add, "convention_file:../CLAUDE.md")["code"] == "INVALID"
    assert machine.error(*add, "telepathy")["code"] == "INVALID"
    assert machine.error("profile", "add", "--name", "X", "--command", "x")["code"] == "INVALID"


def test_every_program_of_the_catalogue_is_listed(machine: Machine) -> None:
    listed = machine.json("profile", "list")["profiles"]
    assert isinstance(listed, list)
    assert {p["id"] for p in listed} >= {
        *("claude-code", "codex", "gemini", "opencode", "aider", "cursor", "copilot"),
        *("goose", "qwen", "kimi", "amp", "crush", "shell"),
    }
    broken = machine.store / "profiles.json"
    broken.parent.mkdir(exist_ok=True)
    broken.write_text('{"profiles": [\n\n{"id": 7}]}')
    assert "line 3" in machine.error("profile", "list")["message"]


def test_detecting_says_version_path_and_what_is_wrong(machine: Machine) -> None:
    machine.program("codex", "#!/bin/sh\necho 'codex-cli 0.166.0'\n")
    machine.program("gemini", "#!/bin/sh\nexit 3\n")
    found = machine.json("profile", "detect")["profiles"]
    assert isinstance(found, list)
    by_id = {d["profile_id"]: d for d in found}

    assert by_id["codex"]["version"] == "0.166.0"
    assert by_id["codex"]["path"] == str(machine.programs / "codex")
    assert by_id["gemini"]["problem"] == "it ended with code 3"
    assert by_id["kimi"] == {
        "profile_id": "kimi",
        "name": "Kimi CLI",
        "installed": False,
        "path": None,
        "version": None,
        "problem": None,
    }


def test_projects_are_remembered_and_forgotten_with_their_files_left_alone(
    machine: Machine,
) -> None:
    added = machine.json("project", "add", "--name", "Shop")["project"]
    assert isinstance(added, dict)
    assert (added["name"], added["path"]) == ("Shop", str(machine.project))
    assert added["remote"] == "local"
    again = machine.json("project", "add", str(machine.project))["project"]
    assert again == added

    listed = machine.json("project", "list")["projects"]
    assert listed == [added]
    machine.json("project", "remove", "Shop")
    assert machine.json("project", "list")["projects"] == []
    assert machine.project.exists()


def test_a_template_edited_by_hand_is_followed_until_the_persona_is(machine: Machine) -> None:
    folder = machine.project / ".ideai" / "templates"
    folder.mkdir(parents=True)
    (folder / "reviewer.md").write_text("one\ntwo\nthree\n")
    create = ["--template", "reviewer", "--synchronized"]
    agent = made(machine, "Rita", *create)
    assert agent["origin"] == {"template": {"id": "reviewer", "version": 1}}
    assert agent["synchronized"] is True

    (folder / "reviewer.md").write_text("one\ntwo\nTHREE\n")
    shown = machine.json("agent", "sync", "rita", "--dry-run")
    assert (shown["state"], shown["applied"]) == ("follows", False)
    assert "+THREE" in str(shown["diff"])
    context = machine.project / ".ideai/agents/rita.md"
    assert context.read_text() == "one\ntwo\nthree\n"

    assert machine.json("agent", "sync", "rita")["applied"] is True
    assert context.read_text() == "one\ntwo\nTHREE\n"

    context.write_text("ONE\ntwo\nTHREE\n")
    (folder / "reviewer.md").write_text("one\ntwo\nthird\n")
    left = machine.json("agent", "sync", "rita")
    assert (left["state"], left["applied"]) == ("merges", False)
    assert "+ONE" in str(left["hand_diff"])
    assert context.read_text() == "ONE\ntwo\nTHREE\n"
    machine.json("agent", "sync", "rita", "--merge")
    assert context.read_text() == "ONE\ntwo\nthird\n"


def test_templates_and_skills_are_saved_listed_shown_and_deleted(machine: Machine) -> None:
    source = persona(machine, "Be kind.\n")
    machine.json("template", "save", "reviewer", "--from-file", source, "--user")
    machine.json("skill", "save", "testing", "--from-file", source)

    assert machine.json("template", "list")["templates"] == [
        {"id": "reviewer", "version": 1, "where": "user"}
    ]
    shown = machine.json("skill", "show", "testing")["skill"]
    assert shown == {"id": "testing", "text": "Be kind.\n"}
    made(machine, "Ada", "--skill", "testing")
    machine.json("agent", "edit", "ada", "--remove-skill", "testing")
    machine.json("template", "delete", "reviewer")
    machine.json("skill", "delete", "testing")
    assert machine.error("template", "show", "reviewer")["code"] == "NOT_FOUND"
    assert machine.error("skill", "show", "../agents/ada")["code"] == "INVALID"


def test_people_get_text_and_errors_as_one_sentence(machine: Machine) -> None:
    code, out, _ = machine.run("agent", "create", "Ada", "--profile", "shell")
    assert code == 0
    assert "iai-mcp agent launch ada" in out

    code, out, err = machine.run("agent", "show", "ghost")
    assert (code, out) == (1, "")
    assert err.startswith("error: there is no agent 'ghost'")
    for arguments in (["agent", "list"], ["profile", "list"], ["project", "list"]):
        assert machine.run(*arguments)[0] == 0


def test_the_manifest_keeps_its_mode_and_private_files_are_private(machine: Machine) -> None:
    made(machine)
    manifest = machine.project / ".ideai" / "agents.json"
    os.chmod(manifest, 0o640)
    made(machine)

    assert manifest.stat().st_mode & 0o777 == 0o640
    assert (machine.project / ".ideai" / "run").stat().st_mode & 0o777 == 0o700
    assert not list((machine.project / ".ideai").rglob("*.tmp"))


def test_a_skill_in_use_is_deleted_only_by_force_and_then_from_its_agents_too(
    machine: Machine,
) -> None:
    source = persona(machine, "Test first.\n")
    machine.json("skill", "save", "testing", "--from-file", source)
    for name in ("Ada", "Ben"):
        made(machine, name, "--skill", "testing")

    refused = machine.error("skill", "delete", "testing")
    assert refused["code"] == "BUSY"
    assert "Ada, Ben" in refused["message"]
    assert "--force" in refused["message"]
    machine.json("skill", "show", "testing")

    gone = machine.json("skill", "delete", "testing", "--force")
    assert gone["taken_from"] == ["Ada", "Ben"]
    assert machine.json("agent", "launch", "ada", "--print-only")["session"] is None


def test_a_skill_that_still_exists_for_all_projects_is_not_missed(machine: Machine) -> None:
    source = persona(machine, "Test first.\n")
    for where in ([], ["--user"]):
        machine.json("skill", "save", "testing", "--from-file", source, *where)
    made(machine, "Ada", "--skill", "testing")

    assert machine.json("skill", "delete", "testing")["taken_from"] == []
    assert machine.error("skill", "delete", "testing")["code"] == "BUSY"
