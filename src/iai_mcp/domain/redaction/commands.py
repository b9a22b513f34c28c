"""Passwords on command lines, in SQL statements and next to a user name.

Command lines are known by the program. A row is `(keywords of which one is present, pattern)`.
"""

import re
from collections.abc import Iterator
from functools import cache

from iai_mcp.domain.pieces import matches
from iai_mcp.domain.redaction.keyword_scan import Rule, Search, Span, contains_any
from iai_mcp.domain.redaction.values import key_like, password_like, stands_in

Row = tuple[tuple[str, ...], str]

# An argument, in quotes or without; of the groups the one that is there is the value.
_ARGUMENT = (
    r"(?:\\{0,3}\"(?P<double>[^\"\\\n]{1,256})|\\{0,3}'(?P<single>[^'\\\n]{1,256})"
    r"|(?P<plain>[^\s\"'`|;&<>(),\\-][^\s\"'`|;&<>()\\]{0,255}))"
)
# Between two arguments: blanks, or what separates the strings of a list.
_BLANK = r"(?:[ \t]{1,4}|[\"'],\s{0,20}(?=[\"']))"
_NEXT = rf"{_BLANK}{_ARGUMENT}"
_BETWEEN = r"[^\n|;]{0,300}?[ \t\"'](?=[-/])"
_OPTIONS = r"(?:[ \t]{1,4}-{1,2}[\w=./-]{1,40}){0,4}"
_WORD = r"[ \t]{1,4}[^\s|;&-][^\s|;&]{0,127}"


def _option(programs: str, options: str, *, glued: bool = False) -> str:
    """`program … -o value`; glued: `-ovalue` as well."""
    between = rf"(?:{_BLANK}|={'?' if glued else ''})"
    return rf"(?:{programs})\b{_BETWEEN}(?:{options}){between}{_ARGUMENT}"


_LOGIN = r"[ \t=]{0,3}\\{0,3}[\"']?[^\s:\"'$<{]{1,64}:[\"']?(?P<plain>[^\s\"'\\]{1,128})"


def _after(programs: str, options: str, sign: str) -> str:
    """`program … -o name%value`, where `sign` is the `%`."""
    login = rf"\\{{0,3}}[\"']?[^\s{sign}\"']{{1,64}}{sign}[\"']?(?P<plain>[^\s\"'\\]{{1,128}})"
    return rf"(?:{programs})\b{_BETWEEN}(?:{options})[ \t=]{{0,3}}{login}"


_LOGINS = (
    r"(?:docker|podman|nerdctl|buildah|skopeo|helm[ ]registry|oras|crane[ ]auth|az|oc|cf|argocd"
    r"|regctl[ ]registry|ibmcloud|vault|snow)[ \t]{1,3}login"
)
_SMALL_P = (
    r"mongo\w{0,8}|cqlsh|psexec|rdesktop|evil-winrm|twine|rabbitmqadmin|elasticsearch-users"
    r"|unlock-keychain|altool|poetry[ ]publish|nxc|crackmapexec|mc[ ]admin"
)
_SMALL_P_NEEDLES = (
    *("mongo", "cqlsh", "psexec", "rdesktop", "winrm", "twine", "rabbitmqadmin", "altool"),
    *("elasticsearch-users", "unlock-keychain", "poetry publish", "crackmapexec"),
)
_LARGE_P = r"sqlcmd|osql|bcp|tsql|mosquitto_\w{3}|(?:un)?zip|ipmitool"
# By the option, which most texts have none of: the programs that take a secret in it.
_BY_OPTION: dict[str, tuple[Row, ...]] = {
    "-a": (
        (("redis-cli", "valkey-cli"), _option("redis-cli|valkey-cli", "-a")),
        (("http ", "https ", "xh "), _after(r"(?<![\w:/.-])(?:https?|xhs?)", "-a", ":")),
    ),
    "-p": (
        (("login",), _option(_LOGINS, "-p")),
        (("sshpass",), _option("sshpass", "-p", glued=True)),
        (
            ("mysql", "mariadb", "mycli"),
            rf"(?:mysql|mariadb|mycli)[\w-]{{0,12}}{_BETWEEN}-p(?![ \t-]){_ARGUMENT}",
        ),
        (_SMALL_P_NEEDLES, _option(_SMALL_P, "-p")),
        (("7z", "rar "), rf"(?:7z[ar]?|(?:un)?rar)\b{_BETWEEN}-p(?![ \t]){_ARGUMENT}"),
        (("pass:",), r"-pass(?:in|out|word)?[ \t=]{1,3}[\"']?pass:(?P<plain>[^\s\"'|;&]{1,128})"),
    ),
    "-P": (
        (
            ("sqlcmd", "osql", "bcp", "tsql", "mosquitto_", "zip", "ipmitool"),
            _option(_LARGE_P, "-P", glued=True),
        ),
    ),
    "-w": (
        (("ldap",), _option(r"ldap[a-z]{3,8}", "-w")),
        (("-password",), _option("add-(?:generic|internet)-password", "-w")),
    ),
    "-s": ((("ldappasswd",), _option("ldappasswd", "-s")),),
    "-N": ((("ssh-keygen",), _option("ssh-keygen", "-N")),),
    "-k": ((("openssl",), _option(r"openssl[ ](?:enc|aes\S{0,20})", "-k")),),
    "-K": ((("openssl",), _option(r"openssl[ ](?:enc|aes\S{0,20})", "-K")),),
    "-b": (
        (
            ("curl",),
            rf"curl\b{_BETWEEN}-b[ \t]?[\"']?[\w.-]{{1,40}}=(?P<plain>[^\s;\"']{{16,4096}})",
        ),
    ),
    "-U": ((("smb", "rpcclient", "winexe"), _after(r"smb\w{3,6}|rpcclient|winexe", "-U", "%")),),
    "-u": (
        (("curl", "wget"), _after("curl|wget", "-[A-Za-z]{0,8}u|--user|--proxy-user", ":")),
        (("lftp", "ncftp"), _after("lftp|ncftp", "-u", ",")),
    ),
    "--": (
        (("--user", "--proxy-user"), rf"--(?:proxy-)?user(?=[ \t=]){_LOGIN}"),
        (("--auth",), _after(r"(?<![\w:/.-])(?:https?|xhs?)", "--auth", ":")),
        (
            ("--from-literal",),
            rf"--from-literal(?:[ \t]{{1,3}}|=)(?P<quote>[\"'])?[\w./-]{{1,253}}="
            rf"(?(quote)(?P<inner>[^\"'\n]{{1,256}})|{_ARGUMENT})",
        ),
        (
            ("--value", "--body", "--secret-string", "--data-value"),
            rf"(?:secrets?|put-parameter|secretsmanager)\b{_BETWEEN}"
            rf"--(?:value|body|secret-string|data-value)(?:{_BLANK}|=){_ARGUMENT}",
        ),
    ),
}
# What a password may be piped into.
_TAKES_PIPED = (
    r"(?:sudo[ \t][^\n|<]{0,80}-\w{0,4}S|(?:sudo[ \t])?(?:(?:ch|smb|)passwd|su|kinit|cryptsetup)\b"
    r"|[a-z][^\n|<]{0,120}?(?:--password-stdin|--with-token|--stdin\b|passphrase-fd|-pass(?:in)?[ \t]stdin"
    r"|[ \t]secrets?[ \t](?:set|put|create|add|versions|generic)|[ \t]env[ \t]add))"
)
_ECHOED = r"(?:echo|printf)(?:[ \t]-\w{1,3})?(?:[ \t][\"']%s(?:\\n)?[\"'])?"
_PLACED: tuple[Row, ...] = (
    (
        ("passwd",),
        rf"(?:htpasswd|mosquitto_passwd){_OPTIONS}[ \t]{{1,4}}-\w{{0,6}}b\w{{0,6}}{_OPTIONS}"
        rf"(?:{_WORD}){{1,2}}{_NEXT}(?=[\"']?[ \t]{{0,4}}(?:[\n|;&)>]|\Z))",
    ),
    (("securestring",), rf"(?i:ConvertTo-SecureString)(?:[ \t]-\w{{1,16}}){{0,2}}{_NEXT}"),
    (
        ("echo ", "printf "),
        rf"{_ECHOED}[ \t]{{1,3}}{_ARGUMENT}[\"']?[ \t]{{0,3}}\|[ \t]{{0,3}}{_TAKES_PIPED}",
    ),
    (("<<<",), rf"{_TAKES_PIPED}[^\n<]{{0,80}}<<<[ \t]{{0,3}}{_ARGUMENT}"),
    (
        ("rabbitmqctl",),
        rf"rabbitmqctl{_OPTIONS}[ \t](?:add_user|change_password|authenticate_user){_WORD}{_NEXT}",
    ),
    (
        ("net use",),
        rf"net[ \t](?:user{_WORD}|use\b[^\n]{{0,200}}/user:\S{{1,80}})[ \t]{_ARGUMENT}",
    ),
    (
        ("secret", "-field=", "op read ", "pass show "),
        r"(?:get[ \t]secrets?\b[^\n]{0,200}base64[ \t]-{1,2}[dD]\w{0,5}|vault[ \t][^\n]{0,120}-field=\S{1,60}"
        r"|op[ \t]read|pass[ \t]show)[^\n]{0,120}\n(?P<plain>[^\s\"'`$>]{6,4096})(?=[ \t]{0,8}(?:\n|\Z))",
    ),
    (("/p:",), rf"/u:[^\n]{{1,80}}?[ \t]/p:{_ARGUMENT}"),
    (("passphrase",), rf"wpa_passphrase{_WORD}{_NEXT}"),
    (
        ("sqlplus",),
        rf"sqlplus{_OPTIONS}[ \t]{{1,3}}[\"']?[\w$#]{{1,64}}/(?P<plain>[^\s@/\"']{{1,128}})",
    ),
    (("alias set",), rf"mc[ \t]{{1,3}}alias[ \t]set(?:{_WORD}){{3}}{_NEXT}"),
    (("login ",), rf"(?:vault|cargo)[ \t]login{_NEXT}"),
    (("unseal",), rf"operator[ \t]unseal{_NEXT}"),
    (("-basic.",), rf"http-basic\.\S{{1,128}}{_WORD}{_NEXT}"),
    (("-oauth.",), rf"github-oauth\.\S{{1,128}}{_NEXT}"),
    (
        ("passw",),
        r"expect\b[^\n]{0,60}assword[^\n]{0,30}\n?[ \t{;]{0,12}send[ \t](?:--[ \t])?"
        r"\"(?P<double>[^\"\\\n]{1,128})\\[rn]",
    ),
    (
        ("identified ", "identified\n"),
        r"(?:IDENTIFIED|(?i:(?:create|alter|grant)\s[^\n;]{1,200}?identified))"
        r"(?i:\s{1,4}(?:with\s{1,4}[\w'\"`]{1,64}\s{1,4})?(?:by|as)(?:\s{1,4}(?:password|values))?)"
        rf"{_NEXT}",
    ),
    (
        ("pass",),
        r"USER \S{1,64}\r?\n(?:[^\n]{0,120}\n)?[^\nA-Z]{0,12}PASS (?P<plain>\S{4,128})",
    ),
    (
        ("auth ",),
        r"AUTH(?:(?<=\AAUTH)|(?<=[\n>]AUTH)|(?<=[:>] AUTH)) (?:\w{1,32} )?(?P<plain>\S{6,256})",
    ),
)
_AN_OPTION = re.compile(r"-(?<=[\s\"'(]-)[A-Za-z-]")
_GROUPS = ("double", "single", "inner", "plain")
# Statements that prose may look like: there a plain word is no secret.
_SPOKEN = ("auth", "net ", "get", "op", "pass")
_IN_PAIR = re.compile(r"[^\s:]{1,64}:(.{4,})\Z")  # what chpasswd takes


def in_options(text: str, lowered: str) -> Iterator[Span]:
    """Every password or key that is handed to a program in an option."""
    for option in dict.fromkeys([match[0] for match in matches(_AN_OPTION, text)]):
        for needles, shape in _BY_OPTION.get(option, ()):
            if contains_any(lowered, needles):
                yield from _of_shape(shape, text)


def _of_shape(shape: str, text: str) -> Iterator[Span]:
    for match in matches(_compiled(shape), text):
        value_match = match.groupdict()
        group = next((name for name in _GROUPS if value_match.get(name)), None)
        if group is None:
            continue
        value, at = match[group], match.start(group)
        if "chpasswd" in match[0] and (pair := _IN_PAIR.match(value)):
            value, at = pair[1], at + pair.start(1)
        spoken = group == "plain" and match[0].lower().startswith(_SPOKEN)
        if _is_secret(value, spoken=spoken, quoted=group != "plain"):
            yield at, at + len(value), "password"


def _is_secret(value: str, *, spoken: bool, quoted: bool) -> bool:
    """Whether what is handed over is a secret itself, not a variable or a word that stands for it."""
    if len(value) < 4 or "$(" in value or stands_in(value, quoted=quoted):
        return False
    if spoken:
        return password_like(value, "sentence") or key_like(value, "sentence", named=True)
    return quoted if " " in value else not value.startswith(("/", "~/", "./"))


@cache
def _compiled(shape: str) -> re.Pattern[str]:
    return re.compile(shape)


def _placed(shape: str) -> Search:
    return lambda text, _: _of_shape(shape, text)


# What is handed to a program by its place, or to a database.
COMMANDS: tuple[Rule, ...] = tuple((clues, _placed(shape)) for clues, shape in _PLACED)


# ann:…@10.0.0.3, ann:…@tcp(db:3306)
_HOST = re.compile(r"@(?:tcp\(|localhost|\d{1,3}(?:\.\d{1,3}){3})")
_BEFORE_HOST = re.compile(r"(?:\A|[\s\"'`=(])[\w.-]{1,32}:([^\s:@/\"'`]{8,64})\Z")
# machine example.org login ann password …, on one line or on several.
_NETRC = re.compile(
    r"(?:machine\s{1,4}\S{1,128}|default)\s{1,8}(?:(?:login|account)\s{1,4}\S{1,128}\s{1,8}){1,2}"
    r"password\s{1,4}(\S{1,128})"
)
# host:port:database:user:password
_PGPASS = re.compile(
    r":(?:\d{3,5}|\*):[\w*-]{1,64}:[\w*-]{1,64}:([^\s:]{6,128})[ \t]{0,8}$", re.MULTILINE
)
_PGPASS_HOST = re.compile(r"(?:\A|\n)[\w.*-]{1,128}\Z")
_WORDS_FOR_IT = r"(?:cred(?:ential|enciale)?s?|log ?in|zugangsdaten|user(?:name)?[ ]?/[ ]?(?:pass(?:word)?|pw))\b"
_USER = r"[`*]{0,2}[\w.@+-]{2,64}[`*]{0,2}"
# Right behind the word for it a slash will do: elsewhere that is a path.
_LOGIN_WORDS = re.compile(
    rf"{_WORDS_FOR_IT}(?:[ ]?[:=]?[ ]{{1,2}}{_USER}[/:|]"
    rf"|[^\n]{{0,40}}?[\s(`\"'*]{_USER}(?:[ ](?:[/|]|and|und|et|y|e)[ ]|:))"
    r"[`*]{0,2}(?![/\\])(?P<value>[^\s\"'`<>|]{8,128})"
)
# `admin` / `…` as credentials: the word for it comes last.
_LOGIN_FIRST = re.compile(
    r"/(?<=[ `\"'*]/)[ ]?[`\"'*]{0,2}(?P<value>[^\s\"'`<>|/*]{8,128})[`\"'*)\]]{0,3}"
    r"[^\n/]{0,24}?(?:cred|login|pass|pw\b)"
)
# BasicAuth("ann", "…"), mysqli_connect("db", "ann", "…"), jwt.encode(claims, "…"): a string that
# something with such a name is called with, but not the first one.
_CALLED = re.compile(
    r"(?:(?:auth|credentials?|login|mysqli|getconnection|pdo)\w{0,16}|(?:jwt|hmac)\.\w{1,16})[ ]?[(=]?[ ]?[(\[]"
    r"(?P<arguments>[^()\n]{1,40},[^\n;]{1,200})"
)
_STRING = re.compile(r"[,(][ ]?(?:some\()?([\"'])(?P<value>[^\"'\n]{4,256})\1")


def _in_netrc(text: str, lowered: str) -> Iterator[Span]:
    for match in matches(_NETRC, lowered):
        if not stands_in(text[match.start(1) : match.end(1)]):
            yield *match.span(1), "password"


def _in_calls(text: str, lowered: str) -> Iterator[Span]:
    for call in matches(_CALLED, lowered):
        certain = call[0].startswith(("auth", "cred", "login"))
        for string in _STRING.finditer(lowered, *call.span("arguments")):
            at, end = string.span("value")
            if password_like(text[at:end], "sentence" if certain else "bare"):
                yield at, end, "password"
                break


def in_lines(text: str) -> Iterator[Span]:
    """Every password in a line of a `.pgpass` file, which no word gives away."""
    for match in matches(_PGPASS, text):
        host = _PGPASS_HOST.search(text, max(0, match.start() - 129), match.start())
        if host is not None and password_like(match[1], "sentence"):
            yield *match.span(1), "password"


def _of(shape: re.Pattern[str]) -> Search:
    def search(text: str, lowered: str) -> Iterator[Span]:
        for match in matches(shape, lowered):
            at = match.start("value")
            value = text[at : match.end("value")].rstrip(".,;:!?)")
            if password_like(value, "bare"):
                yield at, at + len(value), "password"

    return search


def _before_hosts(text: str, lowered: str) -> Iterator[Span]:
    for host in matches(_HOST, lowered):
        login = _BEFORE_HOST.search(text, max(0, host.start() - 100), host.start())
        if login is not None and password_like(login[1], "bare"):
            yield *login.span(1), "password"


LOGINS: tuple[Rule, ...] = (
    (("@tcp(", "@localhost", "@1"), _before_hosts),
    (("machine ", "machine\n", "login "), _in_netrc),
    (("cred", "login", "log in", "zugangsdaten", "/pass", "/ pass", "/pw"), _of(_LOGIN_WORDS)),
    (("/ ", "/`"), _of(_LOGIN_FIRST)),
    (("auth", "credential", "login(", "connection(", "mysqli", "pdo(", "jwt.", "mac."), _in_calls),
)
