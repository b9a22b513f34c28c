"""How each host is started with its memory: what the vendors' flags have to look like."""

import json
import shlex
import tomllib
from dataclasses import replace
from typing import Any

import pytest

from iai_mcp.adapters.agent_runtime import LocalRuntime
from iai_mcp.domain.agents.host_wiring import Invocation, LaunchWiring, MemoryWiring, Resume
from iai_mcp.domain.agents.profile import AgentProfile, ConventionFile, Flag
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.hosts import catalogue

RUN = "/home/ann/shop/.ideai/run/a-1"
MEMORY = MemoryWiring(
    bridge=("/py", "-I", "-m", "iai_mcp.bridge"),
    hook=("/py", "-I", "/x/capture/__main__.py", "hook"),
    env={"IAI_MCP_AGENT_ID": "a-1", "IAI_MCP_AGENT_NAME": "Ada's"},
)
LAUNCH = Invocation("a-1", "Ada's", "5e55-10", "/home/ann/shop", RUN, MEMORY)
SERVER = {"command": "/py", "args": ["-I", "-m", "iai_mcp.bridge"], "env": dict(MEMORY.env)}

EVERY = [each.profile.id for each in catalogue.CATALOGUE]


def wired(profile_id: str, **more: Any) -> LaunchWiring:
    known = next(each for each in catalogue.CATALOGUE if each.profile.id == profile_id)
    return known.wire(replace(LAUNCH, **more))


def files(wiring: LaunchWiring) -> dict[str, str]:
    return {file.path: file.text for file in wiring.files}


def codex_settings(wiring: LaunchWiring) -> dict[str, object]:
    """What Codex makes of its `-c` arguments: TOML, one dotted key each."""
    merged: dict[str, object] = {}
    for flag, setting in zip(wiring.args, wiring.args[1:], strict=False):
        if flag == "-c":
            key, _, value = setting.partition("=")
            merged[key] = tomllib.loads(f"value = {value}")["value"]
    return merged


@pytest.mark.parametrize("profile_id", EVERY)
def test_wiring_is_the_same_every_time_and_stays_below_the_run_directory(profile_id: str) -> None:
    first, second = wired(profile_id), wired(profile_id)

    assert first == second
    for path in files(first):
        assert not path.startswith(("/", ".."))


@pytest.mark.parametrize("profile_id", EVERY)
def test_who_the_agent_is_never_stands_on_the_command_line(profile_id: str) -> None:
    for more in ({}, {"trusted": True}, {"resume": Resume("c-1", "s-1")}):
        assert "Ada's" not in "".join(wired(profile_id, **more).args)


@pytest.mark.parametrize("profile_id", EVERY)
def test_a_prompt_reaches_the_program_or_is_typed_and_a_dash_is_no_option(profile_id: str) -> None:
    wiring = wired(profile_id, prompt="--fix it")
    if wiring.types_prompt:
        assert "--fix it" not in wiring.args
        return
    last = wiring.args[-1]
    safe = last.endswith("=--fix it") or wiring.args[-2] == "--"
    assert last.endswith("--fix it")
    assert safe


# A shell has no conversation to resume.
@pytest.mark.parametrize("profile_id", EVERY[:-1])
def test_resuming_differs_from_starting(profile_id: str) -> None:
    resumed = wired(profile_id, resume=Resume(assigned_id="s-1"))

    assert resumed.args != wired(profile_id).args
    assert "5e55-10" not in "".join(resumed.args)


@pytest.mark.parametrize(
    ("profile_id", "words"),
    [
        ("claude-code", ("--resume", "c-1")),
        ("codex", ("resume", "c-1")),
        ("gemini", ("--resume", "c-1")),
        ("qwen", ("--resume", "c-1")),
        ("opencode", ("--session", "c-1")),
        ("copilot", ("--resume=c-1",)),
        ("cursor", ("--resume", "c-1")),
        ("kimi", ("-S", "c-1")),
        ("crush", ("-s", "c-1")),
        ("amp", ("threads", "continue", "c-1")),
        ("goose", ("session", "-r")),
        ("aider", ("--restore-chat-history",)),
    ],
)
def test_a_known_conversation_is_taken_up_by_its_id(
    profile_id: str, words: tuple[str, ...]
) -> None:
    args = wired(profile_id, resume=Resume("c-1", "s-1")).args

    assert any(args[at : at + len(words)] == words for at in range(len(args)))


@pytest.mark.parametrize(
    "conversation",
    ["--dangerously-skip-permissions", "-c", "", " c-1", "c 1", "c\n--x", "a/../b", "é", "x" * 129],
)
def test_what_is_no_conversation_reaches_no_program(conversation: str) -> None:
    with pytest.raises(InvalidInput, match="conversation"):
        Resume(conversation)
    with pytest.raises(InvalidInput, match="conversation"):
        Resume("c-1", conversation)


@pytest.mark.parametrize(
    "value",
    ["$HOME", "${X}", "$(id)", "`id`", "{env:X}", "{file:/etc/passwd}", "a\u001b[2J", "a\nb"],
)
def test_what_a_program_would_replace_or_obey_reaches_none(value: str) -> None:
    with pytest.raises(InvalidInput, match="rename it"):
        replace(LAUNCH, agent_name=value)
    with pytest.raises(InvalidInput, match="rename it"):
        replace(LAUNCH, project=f"/home/ann/{value}")


@pytest.mark.parametrize("project", ["--help", "shop", "-/x"])
def test_a_project_that_could_be_an_option_reaches_no_program(project: str) -> None:
    with pytest.raises(InvalidInput, match="absolute"):
        replace(LAUNCH, project=project)


@pytest.mark.parametrize("profile_id", ["gemini", "qwen"])
def test_a_comma_does_not_give_a_program_a_second_directory(profile_id: str) -> None:
    with pytest.raises(InvalidInput, match="comma"):
        wired(profile_id, project="/home/ann/shop,~")


def test_a_pattern_does_not_open_other_directories_to_opencode() -> None:
    config = json.loads(wired("opencode", project="/home/*").env["OPENCODE_CONFIG_CONTENT"])

    assert "permission" not in config


@pytest.mark.parametrize("profile_id", EVERY)
def test_what_a_program_keeps_in_its_run_directory_is_known(profile_id: str) -> None:
    wiring = wired(profile_id)
    written = {f"{RUN}/{path}" for path in (*files(wiring), *wiring.keeps)}
    named = {
        word.removeprefix("@") for word in wiring.args if word.removeprefix("@").startswith(RUN)
    }

    assert named <= written


def test_claude_code_gets_settings_servers_and_the_project_by_flags() -> None:
    wiring = wired("claude-code", prompt="go")
    settings = json.loads(files(wiring)["claude-settings.json"])

    assert wiring.args == (
        *("--settings", f"{RUN}/claude-settings.json"),
        *("--mcp-config", f"{RUN}/claude-mcp.json"),
        *("--add-dir", "/home/ann/shop", "--session-id", "5e55-10", "--", "go"),
    )
    assert wiring.env == {"DISABLE_AUTOUPDATER": "1"}
    assert json.loads(files(wiring)["claude-mcp.json"]) == {
        "mcpServers": {"iai-mcp": SERVER | {"alwaysLoad": True}}
    }
    hook = settings["hooks"]["SessionStart"][0]["hooks"][0]
    assert [hook["command"], *hook["args"]] == [*MEMORY.hook, "claude-code", "SessionStart"]
    assert {"Stop", "SessionEnd", "Notification", "PermissionRequest"} <= set(settings["hooks"])
    assert settings["permissions"] == {
        "allow": ["mcp__iai-mcp__memory_recall", "mcp__iai-mcp__memory_timeline"]
    }


def test_codex_gets_everything_by_one_off_settings() -> None:
    wiring = wired("codex")
    settings = codex_settings(wiring)

    assert wiring.files == ()
    assert settings["check_for_update_on_startup"] is False
    assert settings["mcp_servers.iai-mcp.command"] == "/py"
    assert settings["mcp_servers.iai-mcp.args"] == ["-I", "-m", "iai_mcp.bridge"]
    assert settings["mcp_servers.iai-mcp.env_vars"] == list(MEMORY.env)
    hooks = settings["hooks.SessionStart"]
    line = shlex.join([*MEMORY.hook, "codex", "SessionStart"])
    assert hooks == [{"hooks": [{"type": "command", "command": line, "timeout": 10}]}]
    assert settings["sandbox_workspace_write.writable_roots"] == ["/home/ann/shop"]
    assert "--add-dir" not in wiring.args  # over which Codex would end where nothing is trusted
    assert "projects" not in settings
    assert "hooks.state" not in settings


def test_codex_is_told_to_trust_the_project_and_exactly_our_hooks() -> None:
    wiring = wired("codex", trusted=True)
    settings = codex_settings(wiring)

    assert wiring.args[-2:] == ("--add-dir", "/home/ann/shop")
    assert settings["projects"] == {"/home/ann/shop": {"trust_level": "trusted"}}
    state = settings["hooks.state"]
    assert isinstance(state, dict)
    events = [key for key in settings if key.startswith("hooks.") and key != "hooks.state"]
    assert len(state) == len(events)
    assert "/<session-flags>/config.toml:user_prompt_submit:0:0" in state


def test_codex_s_fingerprint_is_the_one_that_codex_0_166_writes() -> None:
    memory = replace(MEMORY, hook=("python3", "/opt/probe.py"))
    trusted = codex_settings(wired("codex", trusted=True, memory=memory))["hooks.state"]
    assert isinstance(trusted, dict)

    # sha256 of {"event_name":"stop","hooks":[{"async":false,"command":"python3 /opt/probe.py
    # codex Stop","timeout":10,"type":"command"}]}, keys sorted, no blanks.
    assert trusted["/<session-flags>/config.toml:stop:0:0"]["trusted_hash"] == (
        "sha256:73930415fdeb5e2f6fc1190cb6af95bea817dee3ceb31a7a2a76aeddbc49ad80"
    )


def test_gemini_reads_settings_in_its_run_directory_and_trust_from_a_file_of_its_own() -> None:
    plain, trusted = wired("gemini"), wired("gemini", trusted=True)
    settings = json.loads(files(plain)[".gemini/settings.json"])

    assert settings["mcpServers"] == {"iai-mcp": SERVER}
    hook = settings["hooks"]["AfterAgent"][0]["hooks"][0]
    assert hook["command"] == shlex.join([*MEMORY.hook, "gemini", "AfterAgent"])
    assert hook["timeout"] >= 1000, "Gemini counts milliseconds"
    assert plain.args[:2] == ("--include-directories", "/home/ann/shop")
    assert plain.env == {}
    assert trusted.env == {"GEMINI_CLI_TRUSTED_FOLDERS_PATH": f"{RUN}/gemini-trust.json"}
    assert json.loads(files(trusted)["gemini-trust.json"]) == {"/home/ann/shop": "TRUST_FOLDER"}


def test_opencode_gets_its_configuration_in_a_variable_and_a_plugin() -> None:
    wiring = wired("opencode")
    config = json.loads(wiring.env["OPENCODE_CONFIG_CONTENT"])

    assert config["mcp"]["iai-mcp"] == {
        "type": "local",
        "command": list(MEMORY.bridge),
        "environment": dict(MEMORY.env),
        "enabled": True,
    }
    assert config["permission"] == {"external_directory": {"/home/ann/shop/**": "allow"}}
    assert config["plugin"] == [f"file://{RUN}/opencode-plugin.js"]
    assert json.dumps([*MEMORY.hook, "opencode"]) in files(wiring)["opencode-plugin.js"]


def test_aider_keeps_its_histories_out_of_the_project() -> None:
    args = wired("aider").args

    assert args[args.index("--chat-history-file") + 1].startswith(f"{RUN}/")
    assert args[args.index("--input-history-file") + 1].startswith(f"{RUN}/")
    assert "--no-gitignore" in args


def test_crush_gets_a_data_directory_of_its_own() -> None:
    args = wired("crush").args

    assert args[args.index("-D") + 1] == f"{RUN}/.crush"


def test_a_profile_of_one_s_own_is_wired_by_the_program_it_names() -> None:
    def host_of(command: str, host: str | None = None) -> str:
        profile = AgentProfile("mine", "Mine", command, ConventionFile("X.md"), host=host)
        return catalogue.launchable(profile).profile.id

    assert host_of("claude") == "claude-code"
    assert host_of("/opt/bin/codex") == "codex"
    assert host_of("my-wrapper", host="gemini") == "gemini"
    assert host_of("my-wrapper") == "shell"


def test_claude_s_prompt_flag_becomes_the_one_that_takes_a_file() -> None:
    profile = AgentProfile("mine", "Mine", "claude", Flag("--append-system-prompt"))
    spec = LocalRuntime({}).prepare_invocation(profile, LAUNCH, RUN)

    assert spec.args[:2] == ("--append-system-prompt-file", f"{RUN}/context.md")


def test_a_flag_that_takes_only_the_text_itself_is_refused() -> None:
    profile = AgentProfile("mine", "Mine", "qwen", Flag("--append-system-prompt"))
    with pytest.raises(InvalidInput, match="convention_file"):
        LocalRuntime({}).prepare_invocation(profile, LAUNCH, RUN)
