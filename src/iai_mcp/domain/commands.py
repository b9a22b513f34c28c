"""When two commands are the same one, when one has failed, and when two failures are the same."""

import re
from collections.abc import Iterator
from functools import lru_cache

_LONGEST = 4000  # characters looked at
_REMEMBERED = 4096  # commands: the same ones come again and again

_CD = re.compile(r"^\s*(?:cd|pushd)\s+(?:'[^']*'|\"[^\"]*\"|\S+)\s*(?:&&|;|\n)\s*")
_ENV = re.compile(r"^\s*(?:env\s+)?(?:[A-Za-z_]\w*=(?:'[^']*'|\"[^\"]*\"|\S*)\s+)+")
_EXPORT = re.compile(r"^\s*export\s+[A-Za-z_]\w*=(?:'[^']*'|\"[^\"]*\"|\S*)\s*(?:&&|;)\s*")
_WRAPPER = re.compile(r"^\s*(?:(?:sudo|time|nice(?:\s+-n\s*\d+)?|timeout\s+\S+|command|nohup)\s+)+")
_REDIRECTION = re.compile(r"\s*(?:\d?>&\d|&?\d?>>?\s*(?:/dev/null|&\d))")
# What only shortens or keeps what was printed, and what is said after it.
_SHORTENED = re.compile(
    r"\s*\|\s*(?:tail|head|grep|egrep|rg|tee|cat|less|sed|awk|sort|uniq|wc|cut)\b.*$", re.DOTALL
)
_AFTERWARDS = re.compile(r"\s*(?:\|\||;|&&)\s*(?:true|echo\b.*|:)\s*$", re.DOTALL)
_COMMENT = re.compile(r"^\s*#[^\n]*\n")
_ROOT = re.compile(r"(?<![\w.])(?:/(?:Users|home|root|private|tmp|var/folders|work)[^\s'\":]*/|~/)")

# What a failure says of itself when its exit status was lost in a pipe.
_FAILURES = re.compile(
    r"^(?:FAIL\b|--- FAIL|FAILED\b|panic: |fatal: |Traceback \(most recent|error(?:\[\w+\])?: "
    r"|Error: |ERROR\b|make: \*\*\*|npm ERR!|\[\w+\] ERROR|E   |[\w./-]+:\d+:\d+: .*(?:error|undefined|cannot)"
    r"|.*\b(?:command not found|No such file or directory|exit status [1-9]|[1-9]\d* failed\b))",
    re.MULTILINE,
)
_PIPED = re.compile(r"\|\s*(?:tail|head|grep|tee|cat|sed|awk)\b|\|\|\s*(?:true|echo)\b|;\s*echo\b")
_NO_FAILURE = re.compile(r"\b(?:0 (?:failed|errors?|failures)|no errors?)\b", re.IGNORECASE)

# Of an error message, what differs from one time to the next.
_VARYING = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I), "<id>"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.IGNORECASE), "<hex>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"), "<hex>"),
    (_ROOT, ""),
    (re.compile(r"\(\d+(?:\.\d+)?m?s\)|\b\d+(?:\.\d+)?(?:ms|s|µs|ns)\b"), "<took>"),
    (re.compile(r"(?<=:)\d+(?::\d+)?(?=[:\s)]|$)"), "<line>"),
    (re.compile(r"\bline \d+\b"), "line <n>"),
    (re.compile(r"(?<![\w.-])\d+(?:\.\d+)*(?![\w-])"), "<n>"),
    (re.compile(r"\s+"), " "),
)  # fmt: skip
_TELLS = re.compile(
    r"error|fail|panic|exception|fatal|undefined|cannot|can't|could not|not found|no such|denied|refused"
    r"|unknown|unexpected|invalid|missing|mismatch|unable|conflict|rejected|timed? ?out|abort|killed"
    r"|did not|not enough|too many|unused|expected|declared and not used|build constraints",
    re.IGNORECASE,
)
# Every failure ends like this: it tells nothing about which one it was.
_SAYS_NOTHING = re.compile(
    r"^(?:FAIL|FAILED|ERROR|error|(?:\[[\w:-]+\] )?ERROR task failed|exit status <?\w+>?|Error: Exit code .*|make: \*\*\* .*"
    r"|FAIL [\w./-]+(?: <took>| \[\w+ failed\])?|--- FAIL: \w+ <took>|= .* =|\* ?\w+: <n>|<n> issues?[:.]?"
    r"|<n> (?:failed|passed|errors?)\b.*|ok .*|PASS.*|=== (?:RUN|CONT|PAUSE) .*|npm ERR! A complete log.*|error: Recipe .*)$"
)
_NOTHING = ("./...", "/dev/null")
_SHORT_TARGET = 4  # letters: `./...` and the like name nothing
_LEAST = 15  # characters: shorter lines are the same everywhere


@lru_cache(_REMEMBERED)
def same_command(command: str) -> str:
    """What two runs of one command share: without directories, variables, and what cuts the output."""
    text = command[:_LONGEST].strip()
    before = ""
    while text != before:
        before = text
        for prefix in (_COMMENT, _CD, _EXPORT, _ENV, _WRAPPER):
            text = prefix.sub("", text, count=1)
    text = _SHORTENED.sub("", _AFTERWARDS.sub("", _REDIRECTION.sub("", text)))
    text = _ROOT.sub("", _AFTERWARDS.sub("", text))
    return " ".join(text.split())


def family(command: str) -> str:
    """The program and, where it has such, what it is asked to do: `go test`, `git rebase`."""
    words = same_command(command).split()
    kept = [word for word in words[:4] if not word.startswith("-")]
    return " ".join(kept[:2]) if len(kept) > 1 and kept[1].isalpha() else "".join(kept[:1])


def is_variant(command: str, other: str) -> bool:
    """Whether two commands do the same thing in other words: the same program, asked for the same, or
    applied to the same."""
    if family(command) == family(other):
        return bool(family(command))
    one, two = same_command(command).split(), same_command(other).split()
    return one[:1] == two[:1] and bool(_targets(one) & _targets(two))


def _targets(words: list[str]) -> set[str]:
    return {
        word
        for word in words[1:]
        if "/" in word and len(word) > _SHORT_TARGET and word[0] != "-" and word not in _NOTHING
    }


def has_failed(command: str, status: int | None, output: str) -> bool:
    """Whether it failed: by its exit, or by what it printed where a pipe hid the exit."""
    if status is not None and status != 0:
        return True
    if not _PIPED.search(command):
        return False
    return bool(_FAILURES.search(output)) and not _NO_FAILURE.search(output)


def same_error(line: str) -> str:
    """A line of an error message without what differs from one time to the next."""
    text = line.strip()[:400]
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return text.strip()


def errors_in(output: str) -> list[str]:
    """The lines that say what went wrong, normalised, each once, in their order."""
    return list(dict.fromkeys(_errors(output)))


def _errors(output: str) -> Iterator[str]:
    for line in output[:_LONGEST].splitlines():
        plain = same_error(line)
        if len(plain) >= _LEAST and _TELLS.search(plain) and not _SAYS_NOTHING.match(plain):
            yield plain


def words_of_error(output: str, asked: str = "") -> str:
    """The line by which a person would name this failure: one that was asked for, if it is there."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if errors_in(line)]
    wanted = set(errors_in(asked))
    named = [line for line in telling if wanted & set(errors_in(line))]
    spoken = set(asked.split())
    near = sorted(telling, key=lambda line: -len(spoken & set(line.split())))
    return (named or near or lines or [""])[0][:400]
