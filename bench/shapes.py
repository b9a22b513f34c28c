"""Values that look like secrets, made at random by their shape: no real one, and none written down.

Prefixes that scanners of other people's repositories look for are put together from parts.
"""

import base64
import json
import random
import string
from collections.abc import Callable

_LETTERS = string.ascii_letters
_ALNUM = string.ascii_letters + string.digits
_URL = _ALNUM + "-_"
_BASE64 = _ALNUM + "+/"
_WORDS = ["falcon", "river", "copper", "winter", "tiger", "mango", "orbit", "violet", "anchor"]
_WORDS += ["puzzle", "rocket", "walnut", "canyon", "ember", "harbor", "meadow", "pepper", "quartz"]
_WORDS += ["saddle", "thunder", "velvet", "willow", "zephyr", "silver"]
_SEED_WORDS = [
    "abandon",
    "ability",
    "absorb",
    "abstract",
    "absurd",
    "accident",
    "achieve",
    "acoustic",
]
_SEED_WORDS += [
    "acquire",
    "action",
    "actress",
    "adapt",
    "address",
    "adjust",
    "admit",
    "adult",
    "advice",
]


class Shapes:
    """Makes one value per call of `make`, always the same ones for the same seed."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def make(self, shape: str) -> str:
        """The value for `name` or `name:argument`."""
        name, _, argument = shape.partition(":")
        if name in _ALPHABETS:
            return self.text(int(argument), _ALPHABETS[name])
        if name in _PASSWORDS:
            return self._password(_PASSWORDS[name])
        return _MAKERS[name](self, argument)

    def text(self, length: int, alphabet: str = _ALNUM) -> str:
        return "".join(self._random.choices(alphabet, k=length))

    def word(self) -> str:
        return self._random.choice(_WORDS)

    def words(self, count: int, of: list[str], between: str) -> str:
        return between.join(self._random.choices(of, k=count))

    def _password(self, symbols: str) -> str:
        """As people and as managers make them; the last character is never punctuation of a text."""
        kind = self._random.randrange(4)
        if kind == 0:
            chosen = self._random.choice([s for s in symbols if s in "!#$*@_-+"])
            return f"{self.word().title()}{chosen}{self.text(self._random.randint(2, 4), string.digits)}"
        if kind == 1:
            inner = self.text(self._random.randint(9, 17), _ALNUM + symbols)
            return f"{self.text(1, _LETTERS)}{inner}{self.text(2, string.digits)}"
        if kind == 2:
            return self.text(self._random.randint(8, 14)) + self.text(2, string.digits)
        return f"{self.word()}-{self.word().title()}_{self.text(2, string.digits)}"

    def _base64_of_text(self) -> str:
        return base64.b64encode(self._password("!#$*@_-+").encode()).decode()

    def _basic(self) -> str:
        return base64.b64encode(f"admin:{self.text(14)}".encode()).decode()

    def _signed(self) -> str:
        def part(value: dict[str, object]) -> str:
            return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

        claims: dict[str, object] = {"sub": self.text(10, string.digits), "iat": 1516239022}
        return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.{self.text(43, _URL)}"

    def _body(self, lines: int, width: int = 64) -> list[str]:
        return [self.text(width, _BASE64) for _ in range(lines)] + [self.text(30, _BASE64) + "=="]

    def _pem(self, label: str, between: str = "\n", indent: str = "", end: bool = True) -> str:
        edges = [f"-----{edge} {label}-----" for edge in ("BEGIN", "END")]
        lines = [edges[0], *self._body(4), *edges[1:]]
        return between.join(indent + line for line in (lines if end else lines[:-1]))

    def _pgp(self) -> str:
        label = "PGP PRIVATE KEY BLOCK"
        body = "\n".join([*self._body(3), "=" + self.text(4)])
        return f"-----BEGIN {label}-----\n\n{body}\n-----END {label}-----"

    def _putty(self, version: str = "3") -> str:
        def block(name: str, count: int) -> str:
            return f"{name}-Lines: {count}\n" + "\n".join(
                self.text(64, _BASE64) for _ in range(count)
            )

        return (
            f"PuTTY-User-Key-File-{version}: ssh-ed25519\nEncryption: none\nComment: ann@laptop\n"
            f"{block('Public', 2)}\n{block('Private', 1)}\nPrivate-MAC: {self.text(64, string.hexdigits[:16])}"
        )

    def _openvpn(self) -> str:
        label = "OpenVPN Static key V1"
        lines = [self.text(32, string.hexdigits[:16]) for _ in range(6)]
        return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])

    def _slack(self, prefix: str) -> str:
        parts = [self.text(12, string.digits) for _ in range(3)]
        return "-".join([prefix, *parts, self.text(32)])

    def _shared_signature(self) -> str:
        return self.text(20, _ALNUM) + "%2B" + self.text(20, _ALNUM) + "%3D"


_ALPHABETS = {
    "alnum": _ALNUM,
    "alnum_lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "hex": string.hexdigits[:16],
    "digits": string.digits,
    "b32": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "b64": _BASE64,
    "b64url": _URL,
}
# What may stand in a password where it is written: the symbols that need no quoting there.
_PASSWORDS = {
    "pw": "!@#$%^&*_-+=?~",
    "pw_url": "!*_-~$",
    "pw_arg": "@_-+=%^~",
    "pw_sql": "!@#$%^&*_-+=?;:(){}~",
    "pw_xml": "!@#$%^*_-+=?;~",
    "pw_cs": "!@#$%^&*_-+?~",
    "pw_xml_cs": "!@#$%^*_-+?~",
    "pw_csv": "!@#$%^&*_-+=?~",
    "pw_colonless": "!@#$%^&*_-+=?;~",
}
_MAKERS: dict[str, Callable[[Shapes, str], str]] = {
    "weak": lambda s, _: s.word() + s.text(3, string.digits),
    "plain": lambda s, _: s.word(),
    "phrase": lambda s, _: s.words(4, _WORDS, " "),
    "bip39": lambda s, n: s.words(int(n), _SEED_WORDS, " "),
    "uuid": lambda s, _: "-".join(s.text(n, string.hexdigits[:16]) for n in (8, 4, 4, 4, 12)),
    "b64of": lambda s, _: s._base64_of_text(),
    "b64key": lambda s, _: s.text(42, _BASE64) + s.text(1, "AEIMQUYcgkosw048") + "=",
    "dockercfg": lambda s, _: base64.b64encode(
        json.dumps({"auths": {"quay.io": {"auth": s._basic()}}}).encode()
    ).decode(),
    "basic": lambda s, _: s._basic(),
    "jwt": lambda s, _: s._signed(),
    "sas": lambda s, _: s._shared_signature(),
    "django": lambda s, _: s.text(50, string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)"),
    "pem": lambda s, label: s._pem(label),
    "pem_json": lambda s, label: s._pem(label, between="\\n") + "\\n",
    "pem_indented": lambda s, label: s._pem(label, indent="    "),
    "pem_open": lambda s, label: s._pem(label, end=False),
    "pem_b64": lambda s, label: base64.b64encode(s._pem(label).encode()).decode(),
    "openvpn": lambda s, _: s._openvpn(),
    "pgp": lambda s, _: s._pgp(),
    "putty": lambda s, _: s._putty(),
    "putty2": lambda s, _: s._putty("2"),
    "age": lambda s, _: "AGE-" + "SECRET-KEY-1" + s.text(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "github": lambda s, _: "gh" + "p_" + s.text(36),
    "github_pat": lambda s, _: "github" + "_pat_" + s.text(22) + "_" + s.text(59),
    "gitlab": lambda s, _: "gl" + "pat-" + s.text(20, _URL),
    "gitlab_runner": lambda s, _: "gl" + "rt-" + s.text(20, _URL),
    "aws_id": lambda s, _: "AK" + "IA" + s.text(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "aws_secret": lambda s, _: s.text(40, _BASE64),
    "anthropic": lambda s, _: "sk-" + "ant-api03-" + s.text(93, _URL) + "AA",
    "openai": lambda s, _: "sk" + "-" + s.text(48),
    "openai_project": lambda s, _: "sk-" + "proj-" + s.text(100, _URL) + s.text(2),
    "slack": lambda s, prefix: s._slack(prefix),
    "slack_d": lambda s, _: "xo" + "xd-" + s.text(60) + "%2B" + s.text(40) + "%3D",
    "slack_app": lambda s, _: (
        "xa"
        + "pp-1-A"
        + s.text(10, string.ascii_uppercase)
        + "-1234567890123-"
        + s.text(64, "0123456789abcdef")
    ),
    "stripe": lambda s, prefix: prefix + "_" + s.text(24),
    "google_api": lambda s, _: "AI" + "za" + s.text(35, _URL),
    "google_oauth": lambda s, _: "ya" + "29." + s.text(120, _URL),
    "npm": lambda s, _: "np" + "m_" + s.text(36),
    "pypi": lambda s, _: "py" + "pi-AgEIcHlwaS5vcmc" + s.text(90, _URL),
    "sendgrid": lambda s, _: "S" + "G." + s.text(22, _URL) + "." + s.text(43, _URL),
    "telegram": lambda s, _: s.text(10, "123456789") + ":AA" + s.text(33, _URL),
    "discord": lambda s, _: "MT" + s.text(24) + "." + s.text(6, _URL) + "." + s.text(38, _URL),
    "huggingface": lambda s, _: "h" + "f_" + s.text(34, _LETTERS),
    "digitalocean": lambda s, _: "do" + "p_v1_" + s.text(64, "0123456789abcdef"),
    "shopify": lambda s, _: "sh" + "pat_" + s.text(32, "0123456789abcdef"),
    "linear": lambda s, _: "lin" + "_api_" + s.text(40),
    "vault": lambda s, _: "hv" + "s." + s.text(95, _URL),
    "databricks": lambda s, _: "da" + "pi" + s.text(32, "0123456789abcdef"),
    "mailgun": lambda s, _: "key" + "-" + s.text(32, "0123456789abcdef"),
}
