"""The agent programs, each with what it needs to run offline against the scripted model."""

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.real_hosts.stub_model import Use


@dataclass(frozen=True)
class Program:
    """One host. `prepare` writes the settings a person would have; `words` is its command line."""

    id: str
    binary: str
    prepare: Callable[[Path, str], None]
    words: Callable[[str], list[str]]
    environment: Callable[[str], Mapping[str, str]]
    recall: Callable[[str], Use]
    # The settings that must be byte for byte as before after `hosts remove`.
    settings: tuple[str, ...]
    # The words that take up the last session instead of starting one.
    resume: Callable[[str], list[str]]
    # Qwen fires no session hooks for a one-shot prompt.
    starts_with_memory: bool = True
    # OpenCode keeps a one-shot prompt with quotation marks around it.
    quotes_prompts: bool = False

    def said(self, prompt: str) -> str:
        """The prompt as this host writes it down."""
        return f'"{prompt}"' if self.quotes_prompts and " " in prompt else prompt

    def run(self, words: list[str], home: Path, project: Path, url: str, cache: Path) -> str:
        """One session with one prompt; returns what it printed, fails if it failed."""
        folder = cache / "node_modules" / ".bin"
        done = subprocess.run(
            [str(folder / self.binary), *words],
            cwd=project,
            env={**self.environment(url), **_basics(home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, f"{self.id} failed:\n{done.stdout}\n{done.stderr}"
        return done.stdout


def _basics(home: Path) -> dict[str, str]:
    kept = ("PATH", "LANG", "NODE_EXTRA_CA_CERTS", "IAI_MCP_STORE", "IAI_DAEMON_SOCKET_PATH")
    return {
        "HOME": str(home),
        "TERM": "xterm-256color",
        **{name: os.environ[name] for name in kept if name in os.environ},
    }


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _prepare_claude(home: Path, url: str) -> None:
    _write(
        home / ".claude" / "settings.json",
        '{\n    "theme": "dark",\n    "hooks": {\n'
        '        "Stop": [ { "hooks": [ { "type": "command", "command": "true" } ] } ]\n'
        "    }\n}",
    )


def _prepare_codex(home: Path, url: str) -> None:
    _write(
        home / ".codex" / "config.toml",
        f"""# my own notes
model = "gpt-5.1-codex"
model_provider = "stub"

[model_providers.stub]   # on this machine
name = "stub"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
""",
    )


def _prepare_gemini(home: Path, url: str) -> None:
    _write(
        home / ".gemini" / "settings.json",
        '{"security": {"auth": {"selectedType": "gemini-api-key"}},\n "general": {}}\n',
    )


CLAUDE = Program(
    id="claude-code",
    binary="claude",
    prepare=_prepare_claude,
    words=lambda prompt: [
        "-p",
        prompt,
        "--allowedTools",
        "mcp__iai-mcp__memory_recall,Bash,Write",
    ],
    environment=lambda url: {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-stub",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    },
    recall=lambda cue: Use("mcp__iai-mcp__memory_recall", {"cue": cue}),
    settings=(".claude/settings.json",),
    resume=lambda prompt: ["--continue", "-p", prompt],
)

CODEX = Program(
    id="codex",
    binary="codex",
    prepare=_prepare_codex,
    # A person trusts the hooks once in /hooks; a test has nobody to do it.
    words=lambda prompt: [
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-hook-trust",
        "--sandbox",
        "danger-full-access",
        prompt,
    ],
    environment=lambda url: {"STUB_KEY": "x"},
    recall=lambda cue: Use("memory_recall", {"cue": cue}, namespace="mcp__iai_mcp"),
    settings=(".codex/config.toml", ".codex/hooks.json"),
    resume=lambda prompt: [
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-hook-trust",
        "resume",
        "--last",
        prompt,
    ],
)

GEMINI = Program(
    id="gemini",
    binary="gemini",
    prepare=_prepare_gemini,
    # Without a model named, Gemini asks a model which model to use.
    words=lambda prompt: [
        "--skip-trust",
        "-m",
        "gemini-2.5-pro",
        "--allowed-tools",
        "mcp_iai-mcp_memory_recall,run_shell_command,write_file",
        "-p",
        prompt,
    ],
    environment=lambda url: {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": url},
    recall=lambda cue: Use("mcp_iai-mcp_memory_recall", {"cue": cue}),
    settings=(".gemini/settings.json",),
    resume=lambda prompt: [
        "--skip-trust",
        "-m",
        "gemini-2.5-pro",
        "--resume",
        "latest",
        "-p",
        prompt,
    ],
)


def _prepare_qwen(home: Path, url: str) -> None:
    _write(
        home / ".qwen" / "settings.json",
        '{\n  "security": {\n    "auth": {\n      "selectedType": "openai"\n    }\n  },\n'
        '  "$version": 4\n}',
    )


def _prepare_opencode(home: Path, url: str) -> None:
    _write(
        home / ".config" / "opencode" / "opencode.jsonc",
        f"""{{
  "$schema": "https://opencode.ai/config.json",
  // a model on this machine
  "model": "stub/stub",
  "provider": {{
    "stub": {{
      "npm": "@ai-sdk/openai-compatible",
      "options": {{ "baseURL": "{url}/v1", "apiKey": "x" }},
      "models": {{ "stub": {{}} }},
    }},
  }},
}}
""",
    )


QWEN = Program(
    id="qwen",
    binary="qwen",
    prepare=_prepare_qwen,
    words=lambda prompt: [prompt, "--allowed-tools", "mcp__iai-mcp__memory_recall"],
    environment=lambda url: {
        "OPENAI_API_KEY": "x",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": "stub",
    },
    recall=lambda cue: Use("mcp__iai-mcp__memory_recall", {"cue": cue}),
    settings=(".qwen/settings.json",),
    resume=lambda prompt: ["--continue", prompt],
    starts_with_memory=False,
)

COPILOT = Program(
    id="copilot",
    binary="copilot",
    prepare=lambda home, url: None,
    words=lambda prompt: ["-p", prompt, "--allow-all-tools"],
    environment=lambda url: {
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "x",
        "COPILOT_MODEL": "gpt-4.1",
    },
    recall=lambda cue: Use("iai-mcp-memory_recall", {"cue": cue}),
    settings=(".copilot/settings.json", ".copilot/mcp-config.json"),
    resume=lambda prompt: ["--continue", "-p", prompt, "--allow-all-tools"],
)

OPENCODE = Program(
    id="opencode",
    binary="opencode",
    prepare=_prepare_opencode,
    words=lambda prompt: ["run", prompt],
    environment=lambda url: {},
    recall=lambda cue: Use("iai-mcp_memory_recall", {"cue": cue}),
    settings=(".config/opencode/opencode.jsonc", ".config/opencode/plugins/iai-mcp.js"),
    resume=lambda prompt: ["run", "--continue", prompt],
    quotes_prompts=True,
)

# scripts/test-hosts --all installs the second half too.
PROGRAMS: tuple[Program, ...] = (CLAUDE, CODEX, GEMINI)
if os.environ.get("IAI_MCP_HOSTS_ALL"):
    PROGRAMS += (QWEN, COPILOT, OPENCODE)
