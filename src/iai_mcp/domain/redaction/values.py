"""Decides whether a value is a secret, or a placeholder, a variable, a path or a plain word."""

import itertools
import math
import re
from collections import Counter
from typing import Literal

# How a value stands in the text: in a line of settings (`NAME=value`), in quotes after a name, tied
# to a name (`name=value`, as in an address), in running text, or merely as the next word.
Manner = Literal["setting", "quoted", "joined", "sentence", "bare"]
# What may be a secret: where it begins, the value, and how it stands there.
Candidate = tuple[int, str, Manner]

# What people write where a secret belongs, meaning none.
_STAND_IN_WORDS_TEXT = """
password passwd passphrase passcode pass pwd secret token key apikey api_key api-key bearer
basic none null nil undefined true false yes no empty blank unset default string str text number
int bool boolean bytes object array char varchar any unknown void required optional nullable
confirmed hidden masked redacted removed invalid valid missing incorrect wrong changed expired
changeme change-me change_me placeholder example sample dummy fake foo bar baz foobar test
testing todo tbd here value input output prompt stdin file env environment vault keychain
keyring authentication authorization credentials credential header scheme scopes username user
admin see use using the your from via with auto manual generate generated random disabled
enabled encrypted hashed plain plaintext bcrypt scrypt argon2 argon2id pbkdf2 oauth oauth2
openid jwt production development staging local localhost refresh access session cookie
"""
_STAND_IN_WORDS = frozenset(_STAND_IN_WORDS_TEXT.split())
_STAND_IN = re.compile(
    r"""
      ^[$<{]                                       # $TOKEN, <token>, {{ token }}
    | ^[@%&*](?:\(|[A-Za-z_.-]*(?:\(|\d?[%s]?$))    # @param, @call(, %(token)s, %TOKEN%, &ref
    | ^&(?:\#x?[0-9a-fA-F]{1,6}|[a-z]{2,4});         # &lt;string&gt;
    | ^%[sdr](?:\W|$)
    | ^!(?:[A-Za-z]+$|[01]\b)                       # !vault, !Ref; !0 in a packed script
    | ^\[                                          # [token], and our own markers
    | ^(?:\.[*+]|\\[wWsSdDb]|\(\?)                  # an expression that looks for it
    | \[secret:|\[private\]
    | \$\{|\{\{|\}\}|%\(|<[a-z]|=\{
    | process\.env|os\.environ|getenv|import\.meta|ENV\[|secrets\.|env\.|System\.get|config\[
    | ^(?:op|vault|arn|ssm|file|keyring|https?|env|aws|gcp|ref\+\w{1,12}):
    | ^(?:x{3,}|X{3,}|\*{2,}|\.{2,}|-{2,}|_{2,}|0{4,}|•+|…+)
    | (?:xxxx|XXXX|\*{3}|\.{3}|…|•••)
    """,
    re.VERBOSE,
)
# A call or a lookup; in quotes only if it is nothing else.
_CALL = re.compile(r"(?:[A-Za-z_]\w{0,40}(?:\.|::|->)){0,6}[A-Za-z_]\w{0,40}[(\[](?:.*[)\]]\Z)?")
_TALK = re.compile(
    r"your|placeholder|changeme|change_me|change-me|replace|insert|redacted|dummy|example|goes_here|goes-here"
)
_FILLING = re.compile(r"your|placeholder|changeme|redacted|dummy|goes[_-]here|x{8}|\.\.\.")
_WORDS_ONLY = re.compile(r"[A-Za-z _./<>-]*\d{0,4}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_PATH = re.compile(
    r"(?:~|\.{1,2})?/[\w.@ -]{1,100}(?:/[\w.@ -]{0,100}){0,20}"
    r"|[\w-]{1,60}(?:/[\w.-]{1,60}){1,10}/?"
    r"|[A-Za-z]:\\.{0,200}"
)
_FILE_NAME = re.compile(r"[\w-]{1,60}\.(?:[a-z]{2,5}|[a-z]{2,5}\.[a-z]{2,5})")
_MOMENT = re.compile(
    r"\d{4}-\d{2}-\d{2}.{0,30}|\d{1,2}:\d{2}.{0,10}|[~^<>=]{0,2}v?\d{1,6}(?:\.\d{1,6}){1,3}.{0,10}"
)
_VERSION = re.compile(r"[~^<>=]{1,2}\d{1,6}(?:\.\d{1,6}){0,3}")
_DOTTED = re.compile(r"[A-Za-z_$][\w$]{0,60}(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]{0,60}){1,8}")
_TECHNICAL = re.compile(
    r"(?:[a-z]{2,10}-)?(?:sha|md|hs|rs|es|ps|base|oauth|argon|pbkdf|utf|ed|aes|rsa|auth|k8s|x|http|ipv|log4j|web|p)-?\d{1,4}[a-z]{0,4}(?:[-_][a-z]+)*",
    re.IGNORECASE,
)
# `password = "wrong_password"`, `"challengePassword"`: what programs and samples call it.
_NAMED_AGAIN = re.compile(
    r"(?i:[a-z_ -]{0,60}[_ -](?:password|passwd|pwd|pass|secret|token|key)s?[_-]?\d?)"
    r"|[A-Za-z0-9]{0,60}[a-z0-9](?:Password|Secret|Token|Key)s?(?:Sha)?\d{0,3}"
    r"|(?i:(?:my|your|our|the|user|admin|test|new|old|current|valid|invalid|wrong|fake|api|auth)?"
    r"(?:password|passwd|pwd|secret|token)[_-]?\d?)"
)
_KEY_LETTERS = re.compile(r"[A-Za-z0-9+/=_.~:%-]+")
# "correct horse battery staple", and what tells a label or a sentence from it.
_PASSPHRASE = re.compile(r"[a-z]{2,12}(?: [a-z]{2,12}){3,8}")
_PROSE = re.compile(
    r"\b(?:the|an?|is|are|be|must|should|your|you|to|at|of|in|for|and|or|not|please|enter|with|here"
    r"|password|passphrase|least|than|from|has|have|this|that|it|we|can|will|when|if|my|on|by|as)\b"
)
# How long a key is at least, and how mixed its letters, by the manner in which it stands there.
_BARS: dict[Manner, tuple[int, float]] = {
    "setting": (6, 2.2),
    "quoted": (8, 2.3),
    "joined": (12, 2.8),
    "sentence": (16, 3.0),
    "bare": (16, 3.0),
}
_WRITTEN = ("setting", "quoted")
_LONGEST_KEY = 4096
# What a value is shows in its first letters; looking at more would only cost time.
_ENOUGH = 128
_DIGIT = re.compile("[0-9]")
_LETTER = re.compile(r"[^\W\d_]")
_STRONG_SYMBOL = re.compile("[!@#$%^&*+=?~]")
_CLASSES = (re.compile("[a-z]"), re.compile("[A-Z]"), _DIGIT, _STRONG_SYMBOL)
_KEYWORD = re.compile(r"[A-Za-z_]\w*=\w+\Z")  # strict=False
_PRINTABLE = re.compile("[!-~]+")


def stands_in(value: str, *, quoted: bool = False) -> bool:
    """Whether `value` is a placeholder, a variable or a way to get at the secret."""
    value = value[:_ENOUGH]
    if value.lower() in _STAND_IN_WORDS or _STAND_IN.search(value):
        return True
    call = _CALL.match(value)
    if call is not None and not (quoted and call[0][-1] in "(["):
        return True
    if _NAMED_AGAIN.fullmatch(value):
        return True
    return _WORDS_ONLY.fullmatch(value) is not None and _TALK.search(value.lower()) is not None


def filler(body: str) -> bool:
    """Whether what follows a vendor's prefix is only there to show the shape."""
    return set(body) <= set("xX*.-_0") or _FILLING.search(body.lower()[:200]) is not None


def password_like(value: str, manner: Manner) -> bool:
    """Whether `value` is somebody's password; a plain word counts where it was written as one."""
    if len(value) > _ENOUGH or stands_in(value, quoted=manner == "quoted"):
        return False
    if manner in _WRITTEN:
        if " " in value:
            return _PASSPHRASE.fullmatch(value) is not None and not _PROSE.search(value)
        if value.isalpha() and value.isascii():
            return len(value) >= 6 and not value.istitle()
        return len(value) >= 4 and not _is_path(value) and not _VERSION.fullmatch(value)
    if len(value) < 6 or " " in value or _elsewhere(value) or _technical(value):
        return False
    if manner == "bare":
        mixed = sum(1 for kind in _CLASSES if kind.search(value)) >= 3
        return len(value) >= 8 and mixed and not _KEYWORD.match(value)
    if value.isdigit():
        return True
    telling = _DIGIT.search(value) or _STRONG_SYMBOL.search(value[:-1])
    return telling is not None and _LETTER.search(value) is not None


def key_like(value: str, manner: Manner, *, named: bool) -> bool:
    """Whether `value` is a key or token: letters and digits no person would think up.

    `named` means that its name leaves no doubt; `token` is also what pages and parsers have.
    """
    shortest, least_entropy = _BARS[manner]
    if " " in value and named and manner in _WRITTEN:
        return password_like(value, manner)
    if not shortest <= len(value) <= _LONGEST_KEY or stands_in(value, quoted=manner == "quoted"):
        return False
    sure = named and manner in _WRITTEN
    if not _KEY_LETTERS.fullmatch(value):
        return sure and _PRINTABLE.fullmatch(value) is not None and _is_noise(value)
    if _elsewhere(value) or value.isdigit():
        return False
    if is_uuid(value):
        return named or manner == "joined"
    if not _DIGIT.search(value):
        return _restless_key(value) or (sure and _one_long_word(value, manner))
    if not _LETTER.search(value):
        return False
    return (sure or not _wordy(value)) and entropy(value) >= least_entropy


def entropy(value: str) -> float:
    """Bits per letter: 0 for one letter repeated, about 4 for hex, near 6 for random base64."""
    sample = value[:_ENOUGH]
    shares = [count / len(sample) for count in Counter(sample).values()]
    return -sum(share * math.log2(share) for share in shares)


def is_uuid(value: str) -> bool:
    return _UUID.fullmatch(value) is not None


def random_letters(value: str) -> bool:
    """Whether `value` mixes small letters, capitals and digits, as generators do."""
    sample = value[:_ENOUGH]
    small, capital, digit = (kind.search(sample) is not None for kind in _CLASSES[:3])
    return small and capital and (digit or _restless(sample))


def _is_noise(value: str) -> bool:
    """Whether `value` is far too mixed for code or words: a key that was made with symbols."""
    few_words = len(re.findall("[A-Za-z]{3,}", value)) <= len(value) / 10
    return (
        len(value) >= 16
        and _DIGIT.search(value) is not None
        and entropy(value) >= 3.5
        and few_words
    )


def _is_path(value: str) -> bool:
    return value[0] in "/~." and _PATH.fullmatch(value) is not None and not _restless(value)


def _elsewhere(value: str) -> bool:
    """Whether `value` says where something is, when it was or which one, not what it is."""
    if _DOTTED.fullmatch(value):
        return not any(len(part) >= 20 and _restless(part) for part in value.split("."))
    patterns = (_PATH, _FILE_NAME, _MOMENT)
    return any(pattern.fullmatch(value) for pattern in patterns) and not _restless(value)


def _restless_key(value: str) -> bool:
    return len(value) >= 20 and _restless(value)


def _one_long_word(value: str, manner: Manner) -> bool:
    """`SESSION_SECRET=supersecretvalue`: no dashes as in a name, no capitals as in a program."""
    return value.isalpha() and value.islower() and len(value) >= (8 if manner == "setting" else 12)


def _technical(value: str) -> bool:
    return all(_TECHNICAL.fullmatch(part) for part in re.split("[:/+]", value))


def _wordy(value: str) -> bool:
    """Whether `value` is mostly words, joined by dashes, dots, digits or capitals."""
    sample = value[:_ENOUGH]
    parts = re.findall("[A-Z]?[a-z]+|[A-Z]+|[0-9]+", sample)
    if len(sample) >= 20 and sample.isalnum() and sum(part.isdigit() for part in parts) >= 3:
        return False
    words = sum(len(part) for part in parts if len(part) > 2 and part.isalpha())
    return words >= 0.55 * len(sample) and len(parts) <= len(sample) / 4


def _restless(value: str) -> bool:
    """Whether letters, capitals and digits change places far more often than in any word."""
    sample = [c for c in value[:_ENOUGH] if c.isalnum()]
    kinds = [2 if c.isdigit() else int(c.isupper()) for c in sample]
    changes = sum(a != b for a, b in itertools.pairwise(kinds))
    return len(sample) >= 16 and changes >= 0.3 * len(sample) and not _wordy(value)
