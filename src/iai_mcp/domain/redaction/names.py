"""Decides whether a name announces a secret: `DB_PASSWORD`, `apiKey`, `client-secret`; not `token_limit`."""

import re
from typing import Literal

Family = Literal["password", "token", "access-token", "secret", "api-key", "key", "auth"]

# Where to look at all, in lower case: the keyword in every name that announces a secret. A keyword may
# be any part of the name.
NAME_KEYWORDS = (
    *("passw", "passphrase", "passcode", "passord", "passe", "pass", "pwd", "pw", "psk"),
    *("secret", "token", "key", "auth", "credential", "bearer", "_pat", "salt"),
    *("kennwort", "contrase", "clave", "senha", "mdp", "parola", "chtwoord", "clé"),
    *("salasana", "adgangskode", "chave", "chiave", "schlüssel", "schlussel", "schluessel"),
)
# Some are parts of other words: these count only where their letters end.
_WHOLE = frozenset(["passe", "pw", "psk", "_pat", "salt", "mdp", "clé"])
_LETTER_NEXT = re.compile(r"[^\W\d_]")
# "pass" is mostly a verb: it counts as the end of a longer name, or where something is assigned.
_PASS = re.compile(
    r"pass(?:(?:(?<=[a-z0-9_]pass)|(?<=--pass))(?![a-z])|(?=[\"'`*\]]{0,3}[ \t]{0,4}[:=]))"
)

_PASSWORDS_TEXT = """
password passwd pwd pw passphrase passcode passwort kennwort contrasena senha passe mdp parola
wachtwoord salasana passord adgangskode clave psk
"""
_PASSWORDS = frozenset(_PASSWORDS_TEXT.split())
# Words that end in "pass" and have nothing to do with passwords.
_OTHER_PASSES_TEXT = """
allpass bandpass buypass bypass compass encompass highpass keepass lastpass lowpass minipass multipass onepass
overpass
surpass trespass underpass
"""
_OTHER_PASSES = frozenset(_OTHER_PASSES_TEXT.split())
_OTHERS: dict[str, Family] = {
    "secret": "secret",
    "token": "token",
    "credential": "secret",
    "bearer": "token",
    "authorization": "key",
    "auth": "key",
    "schlussel": "key",
    "schluessel": "key",
    "chave": "key",
    "chiave": "key",
    "cle": "key",
    "apikey": "api-key",
    "accesskey": "api-key",
    "secretkey": "api-key",
    "privatekey": "api-key",
}
# `key` alone is a dictionary's or a table's; these make it somebody's.
_OPENING_TEXT = """
api access secret private encryption decryption encrypt signing sign master auth service account
storage consumer webhook session jwt hmac app application license licence deploy admin root
server client subscription shared function host rsa dsa aes crypto cipher bearer maps openai
anthropic stripe preshared ssh deployment recovery unseal user instrumentation
"""
_OPENING = frozenset(_OPENING_TEXT.split())
_CLOSING_TEXT = """
public primary foreign cache partition sort object unique index map idempotency socket parameter
"""
_CLOSING = frozenset(_CLOSING_TEXT.split())
# Tokens of pages, languages and parsers.
_HARMLESS_TOKENS_TEXT = """
page next prev previous continuation sync cursor eos bos pad unk mask cls sep special max min start
end stop per input output total first last each current lookahead parser lexer string word
idempotency request correlation client
"""
_HARMLESS_TOKENS = frozenset(_HARMLESS_TOKENS_TEXT.split())
_TOKENS_OF_PEOPLE_TEXT = """
auth access api bearer bot deploy github gitlab npm oauth personal private publish refresh registry
"""
_TOKENS_OF_PEOPLE = frozenset(_TOKENS_OF_PEOPLE_TEXT.split())
# What turns the name of a secret into the name of something about it.
_ABOUT_TEXT = """
id ids name names url urls uri type types limit limits count counts counter length len size min
max field fields path paths file files filename dir ref refs reference expiry expires expire
expiration expired ttl age issuer endpoint header headers policy reset hint label prompt regex
pattern required enabled disabled rotation version format placeholder algorithm alg audience
scope scopes cache store manager service provider class usage budget input output form page
screen error errors status state valid validation validator strength check changed updated
created at by is has rate window bucket ring map index env var variable kind method mode arn
region description title help text docs doc link host port user username email mgr handler
callback dialog button exception schema generator prefix suffix last first next prev cost price
spent used left per chars helper prevention
"""
_ABOUT = frozenset(_ABOUT_TEXT.split())
_LONGEST_WORD = 44
_JOINT = re.compile("[_-]")
_PLAIN_LETTERS = str.maketrans("ñéü", "neu")
_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_SUFFIXES: tuple[tuple[str, Family], ...] = (
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("pw", "password"),
    ("apikey", "api-key"),
    ("accesskey", "api-key"),
    ("secretkey", "api-key"),
    ("privatekey", "api-key"),
    ("secret", "secret"),
    ("token", "token"),
)


def is_name_keyword(lowered: str, word: str, start: int) -> bool:
    """Whether `word`, one of the keywords, may belong to a name where it was found."""
    if word == "pass":
        return _PASS.match(lowered, start) is not None
    return word not in _WHOLE or _LETTER_NEXT.match(lowered, start + len(word)) is None


def family_of(name: str, before: str = "") -> Family | None:
    """What kind of secret `name` announces, or None. `before` is the word in front of it."""
    if len(name) > _LONGEST_WORD and not _JOINT.search(name):
        return None  # a piece of base64 that ends in "Key"
    words = [word.lower() for word in _SPLIT.findall(name.translate(_PLAIN_LETTERS))][-8:]
    if before and words[:1] == ["key"]:
        words.insert(0, before.lower())
    if "public" in words:
        return None
    for at in range(len(words) - 1, -1, -1):
        family = _family_at(name, words, at)
        if family is not None:
            after = words[at + 1 :]
            return None if len(after) > 3 or any(word in _ABOUT for word in after) else family
    return None


def is_credential(name: str, before: str = "") -> bool:
    """Whether a token of that name lets somebody in; most others belong to pages and parsers."""
    words = [before.lower(), *(word.lower() for word in _SPLIT.findall(name))]
    return words[-1] == "token" and words[-2] in _TOKENS_OF_PEOPLE


def _family_at(name: str, words: list[str], at: int) -> Family | None:
    word = words[at]
    if word in _PASSWORDS or (word.endswith("pass") and word not in _OTHER_PASSES):
        return "password"
    if word == "key":
        return _key_family(words[:at])
    if word == "token" and at > 0 and words[at - 1] in _HARMLESS_TOKENS:
        return None
    if word == "pat" and at > 0:
        return "token"
    if word == "salt":
        return "secret" if at > 0 and name.isupper() else None
    if word == "auth" and at > 0 and name.isupper():
        return "auth"
    if word in _OTHERS:
        return _OTHERS[word]
    return next((family for suffix, family in _SUFFIXES if word.endswith(suffix)), None)


def _key_family(before: list[str]) -> Family | None:
    if not before or before[-1] in _CLOSING:
        return None
    return "api-key" if before[-1] in _OPENING else "key"
