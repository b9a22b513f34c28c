"""Names that a cue quotes letter by letter: identifiers, paths, commands, error messages.

Whoever writes `parse_header`, `src/app.py` or "connection refused" means exactly that, and
a memory that holds it beats every memory that is merely similar.
"""

import re

_QUOTED = re.compile(r"`([^`\n]{2,200})`|\"([^\"\n]{3,200})\"|“([^”\n]{3,200})”|«([^»\n]{3,200})»")
_SINGLE_QUOTED = re.compile(r"(?<![\w'])'([^'\n]{3,120})'(?!\w)")
# `SomeError: what it says`, up to the end of the sentence.
_ERROR_LINE = re.compile(
    r"\b((?:[A-Za-z_][\w.]{0,200}(?:Error|Exception|Warning|Failure|Panic)|error|fatal|panic)"
    r"(?:\[[^\]\s]{1,80}\])?: [^\n?\"`]{4,160}[^\s?.!,;:\"`])"
)
# What may begin anywhere is bounded: a page of dots would else be read once from each of them.
_IDENTIFIER = re.compile(
    r"""(?<![\w])(?:
        (?:[a-z][a-z0-9+.-]{0,30}://[^\s"'`<>]+)              # https://host/path
      | (?:~|\.{1,2})?(?:/[\w@.+-]+)+/?                        # /etc/hosts, ./run, ~/.config
      | [\w@.+-]{1,255}(?:/[\w@.+-]+)+                         # src/app.py, origin/main
      | --?[a-zA-Z][\w-]*(?:=[^\s]+)?                          # --no-cache
      | (?<!\$)[A-Za-z_$][\w$]*(?:(?:::|\.|->|\#)[A-Za-z_$][\w$]*)+(?:\(\))?  # a.b, A::b, app.py
      | \.?[A-Za-z0-9]\w*(?:_\w+)+(?:\(\))?                    # snake_case
      | _+[A-Za-z]\w*                                          # _private
      | (?<!\$)[A-Za-z_$][\w$]*\(\)                            # call()
      | [a-z]+[A-Z]\w*                                         # camelCase
      | (?:[A-Z][a-z0-9]+){2,}[A-Z]?                           # CamelCase
      | [A-Z]{2,}[a-z]\w*                                      # HTTPServer
      | (?:E|SIG|ERR)[A-Z]{4,}                                 # ECONNREFUSED
      | [A-Z][A-Z0-9]*[-_]?\d[\w-]*                            # E1234, RFC-2119, ERR42
      | [A-Za-z]+-\d+                                          # proj-123
      | v?\d+\.\d+(?:\.\d+)+\S*                                # 1.2.3
      | [0-9a-f]{7,40}                                         # a commit
      | \#\d+                                                  # an issue
    )(?![\w])""",
    re.VERBOSE,
)
_WORDY = re.compile(r"[A-Za-z]+-[A-Za-z]+|[A-Z]{2,5}s")  # well-known, PRs
_LONGEST = 500  # characters: a longer name is none, and looking for it takes seconds
_TRAILING = ".,;:!?)]}'\""


def quoted(cue: str) -> tuple[str, ...]:
    """What `cue` names letter by letter, longest first, each once."""
    found: list[str] = [match[1] for match in _ERROR_LINE.finditer(cue)]
    for match in _QUOTED.finditer(cue):
        found.append(next(group for group in match.groups() if group))
    found += [match[1] for match in _SINGLE_QUOTED.finditer(cue)]
    found += [_trimmed(match[0]) for match in _IDENTIFIER.finditer(cue)]
    kept = {name for name in found if _telling(name)}
    return tuple(sorted(kept, key=lambda name: (-len(name), name)))


def _trimmed(name: str) -> str:
    name = name.rstrip(_TRAILING)
    return name + ")" if name.endswith("(") else name


def _telling(name: str) -> bool:
    """A commit has letters and digits both; "and/or", a plain hyphen and "PRs" name nothing."""
    if not 2 <= len(name) <= _LONGEST or not any(char.isalnum() for char in name):
        return False
    if re.fullmatch(r"[0-9a-f]{7,40}", name):
        return any(char.isdigit() for char in name) and any(char.isalpha() for char in name)
    if re.fullmatch(r"\d+/\d+(?:/\d+)?", name) or name.lower() in ("and/or", "he/she", "s/he"):
        return False
    return _WORDY.fullmatch(name) is None
