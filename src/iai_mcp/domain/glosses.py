"""What people call what a command does: it is found by their words, not only by its own.

Indexed beside a command and never shown. Only what holds for the program wherever it is used.
"""

import re
from functools import lru_cache

_REMEMBERED = 4096  # commands: the same ones come again and again
_LONGEST = 2000

_GLOSSES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"\btest\S*\s.*-run[= ]|\bpytest\b.*(?:::|\s-k\b)|\bjest\b.*\s-t\b|--grep\b|-Dtest=|\bcargo test \w|\brspec \S+:\d", "single test only specific"),
        (r"\b(?:go test|pytest|jest|vitest|cargo test|rspec|ctest|phpunit|mvn test|gradle test|npm (?:run )?test|make test|\w+ run test)\b", "test tests suite run"),
        (r"\bgo test\b.*\s-c\b|--no-run\b|--noEmit\b|\bgo vet\b|\bcargo check\b|\bpy_compile\b|\bcompileall\b", "compile compiles check without running executing"),
        (r"\b(?:go build|cargo build|make(?: all| build)?$|npm run build|tsc\b|mvn package|gradle build|cmake --build)", "build compile"),
        (r"\b(?:golangci-lint|ruff|flake8|eslint|pylint|clippy|shellcheck|rubocop)\b|\blint\b", "lint linter style check"),
        (r"\b(?:gofmt|prettier|black|rustfmt)\b|\bfmt\b|\bformat\b", "format formatting code"),
        (r"--cov\b|\bcoverage\b|-coverprofile", "coverage"),
        (r"\btime\s|\bhyperfine\b|-bench\b|\bbenchmark\b|\btimeit\b", "timing measure measured duration speed slow long benchmark"),
        (r"\b(?:pprof|perf|py-spy|strace|cProfile)\b", "profile profiling slow trace"),
        (r"\bgit reset --hard\b|\bgit checkout (?:--|\.)|\bgit restore\b|\bgit clean\b", "discard throw away drop undo revert local changes"),
        (r"\bgit revert\b", "undo take back commit"),
        (r"\b(?:rebase|merge|cherry-pick|am) --continue\b", "finish end conclude go on after resolved conflict conflicts"),
        (r"\b(?:rebase|merge|cherry-pick) --abort\b", "give up cancel stop"),
        (r"\bgit stash\b", "put aside shelve save changes"),
        (r"\bgit push\b.*(?:--force|-f\b)", "overwrite force remote branch"),
        (r"\bgit commit --amend\b", "change last commit message"),
        (r"\bgit (?:log -S|log -G|blame|bisect)\b", "who when introduced history"),
        (r"\bgit check-ignore\b", "ignored ignoring which rule gitignore"),
        (r"\bgit worktree\b", "worktree second checkout"),
        (r"\bgh pr create\b", "open pull request"),
        (r"\bgh (?:api \S*(?:comments|reviews)|pr view\b.*(?:comments|reviews))", "review comments remarks feedback pull request"),
        (r"\bgh (?:run|workflow|pr checks)\b", "ci pipeline checks logs status actions"),
        (r"\bgh api \S*(?:members|collaborators)", "people users logins members organisation"),
        (r"\b(?:goreleaser|npm publish|twine upload|cargo publish|gh release create)\b", "release publish ship version"),
        (r"\b(?:npm (?:ci|i|install)|pip install|uv sync|uv pip|poetry install|go mod (?:download|tidy)|bundle install|brew install|apt(?:-get)? install)\b", "install dependencies packages"),
        (r"\b(?:docker(?:-| )compose up|npm run (?:dev|start)|rails s\w*|flask run|uvicorn|python -m http\.server)\b", "start run server locally"),
        (r"\b(?:alembic|migrate|migration\w*|flyway)\b", "database schema migration"),
        (r"\b(?:psql|sqlite3|mysql|mongosh)\b", "database query sql"),
        (r"OPT_?OUT|DISABLE|\bNO_[A-Z]+=|--no-|--disable|--without", "off switched turned disabled without"),
        (r"(?i)telemetry|analytics", "tracking telemetry usage"),
        (r"\b(?:lsof|ss|netstat)\b", "port listening used process"),
        (r"\b(?:kill|pkill|killall)\b", "stop end process"),
        (r"\bcurl\b|\bhttpie?\b|\bwget\b", "request http download endpoint"),
        (r"\bchmod\b|\bchown\b", "permission permissions owner"),
        (r"YAML\.|yaml\.safe_load|yamllint\b", "yaml valid validate check syntax"),
        (r"\b(?:helm|kubectl apply|terraform apply|fly deploy|cdk deploy)\b", "deploy rollout"),
    )
)  # fmt: skip

_ONE_TEST = re.compile(
    r"\b(?:one|single|specific|individual|particular|just (?:this|a)|only)\b.{0,20}\btests?\b"
)


@lru_cache(_REMEMBERED)
def gloss(command: str) -> str:
    """The words by which people ask for such a command; "" where nothing is known of it."""
    text = command[:_LONGEST]
    return " ".join(words for pattern, words in _GLOSSES if pattern.search(text))


def asked_words(question: str) -> tuple[str, ...]:
    """What a question means that its telling words do not say."""
    return ("single",) if _ONE_TEST.search(question.lower()) else ()
