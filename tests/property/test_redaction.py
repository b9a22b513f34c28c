"""Whatever is said: redacting ends soon, leaves nothing to redact, and touches only secrets."""

import random
import string
import time

import pytest
from bench.planted import innocent, planted
from hypothesis import given, settings
from hypothesis import strategies as st

from iai_mcp.domain.redaction import formats, redact
from iai_mcp.domain.redaction.names import NAME_KEYWORDS
from iai_mcp.domain.redaction.redactor import RULES
from iai_mcp.domain.redaction.vendor_tokens import PREFIXED, SHAPED

LETTERS = string.ascii_letters + string.digits
prefixes = [prefix for _, some, _ in PREFIXED for prefix in some]
needles = [needle for _, needle, _ in SHAPED]
keywords = [
    *NAME_KEYWORDS,
    *(keyword for needed, _ in (*formats.PRIVATE_KEYS, *RULES) for keyword in needed),
]
# Words of real texts, secrets among them: shuffled, they make what no rule was written for.
said = sorted({word for one in (*planted(), *innocent()) for word in one.text.split()})
# Pieces from which secrets, almost-secrets and their surroundings are put together.
pieces = st.one_of(
    st.sampled_from(prefixes + needles),
    st.sampled_from(
        [
            "password",
            "DB_PASSWORD",
            "api_key",
            "token",
            "secret",
            "Authorization",
            "Bearer",
            "Basic",
        ]
    ),
    st.sampled_from(
        ["=", ": ", " is ", '"', "'", "://", "@", ":", ",", " ", "\n", "\\n", "-", "(", ">"]
    ),
    st.sampled_from(["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"]),
    st.sampled_from(
        ["<private>", "</private>", "[private]", "[secret:jwt]", "<PRIVATE >", "[", "]"]
    ),
    st.sampled_from(
        ["hunter2", "--password ", "curl -u a:", "mysql -p", "machine a login b password "]
    ),
    st.sampled_from(keywords),
    st.sampled_from(said),
    st.text(LETTERS + "_-./+=", min_size=1, max_size=60),
    st.text(max_size=8),
)
texts = st.lists(pieces, max_size=25).map("".join)


@settings(max_examples=600)
@given(texts)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    again = redact(once.text)
    assert again.text == once.text
    assert again.counts == {}


@given(texts)
def test_markers_are_counted_and_the_rest_is_kept_in_order(text: str) -> None:
    cleaned = redact(text)
    assert sum(cleaned.counts.values()) >= bool(cleaned.text != text)
    if not cleaned.counts:
        assert cleaned.text == text


@given(st.text(LETTERS, min_size=36, max_size=36).filter(lambda body: len(set(body)) > 4), texts)
def test_a_token_never_gets_through(body: str, around: str) -> None:
    token = f"ghp_{body}"
    assert token not in redact(f"{around} {token} {around}").text


@given(texts, texts)
def test_nothing_private_gets_through(before: str, inside: str) -> None:
    secret = "zebra crossing"
    closed = "<private>" * (1 + inside.lower().count("</private")) + inside + secret
    assert secret not in redact(f"{before}<private>{closed}</private>").text


SIZE = 150_000
HOSTILE = {
    "one letter": "a",
    "dashes": "-",
    "spaces": " ",
    "hex": "0123456789abcdef",
    "json web tokens without an end": "eyJ",
    "json web tokens with dots": "eyJaaaaaaaaaa.",
    "names without values": "password ",
    "names in a row": "password",
    "assignments without values": "password=",
    "quotes that never close": "password='",
    "escaped quotes": 'token\\"',
    "type after type": "token: str[",
    "password for": "password for ",
    "addresses": "://a:",
    "address without an end": "://" + "a" * 200 + ":",
    "headers": "authorization: bearer ",
    "curl": "curl a ",
    "mysql": "mysql a",
    "machine": "machine a login b ",
    "keys that begin": "-----BEGIN PRIVATE KEY-----",
    "keys that end": "-----END PRIVATE KEY-----",
    "keys with letters": "-----BEGIN PRIVATE KEY-----AAAAAAAAAAAAAAAA\n",
    "private that opens": "<private>",
    "private that closes": "</private>",
    "private with blanks": "<private ",
    "markers": "[secret:jwt]",
    "prefixes": "".join(prefixes),
    "prefixes apart": " ".join(prefixes),
    "slashes": "/",
    "path in a secret": "token=a/",
    "dots": "secret: a.",
    "tokens": "ghp_" + "a1B2" * 9 + " ",
    "signatures": "https://?sig=",
    "capital dotted i": "İ",
    "dots alone": ".",
    "lines": "\n",
    "nested quotes": "\"'`",
    "keywords": "".join(keywords),
    "keywords apart": " ".join(keywords),
    "names and what they are for": "the password for the ",
    "names on lines": "password:\n\n",
    "labels on lines": "password\n",
    "pairs without values": "name: password\n",
    "pairs in objects": '{"name": "password", ',
    "tables": "|password|x|\n|---|---|\n",
    "wide tables": "|password" * 20 + "\n",
    "tables of many rows": "|password|\n|-|\n" + "|a1b2c3d4|\n" * 40,
    "lists": "a,password:\npassword,b\n",
    "inserted rows": "insert into x (password) values ('a'),('b'),",
    "manifests": "kind: Secret\ndata:\n  a: b\n",
    "manifests in a list": "- kind: Secret\n  data:\n    a: b\n",
    "manifests in objects": '{"kind":"Secret","data":{"a":"b"},',
    "data that never ends": '"data":{',
    "options": " -p -a -u -P -w --from-literal=a=",
    "programs": "redis-cli -a docker login -p mysql -p ",
    "pipes": "echo aaaaaa | sudo ",
    "statements": "create user x identified by ",
    "logins": "login: ann / ",
    "calls": "auth('a', 'b', ",
    "cookies": "cookie: a=b;",
    "PuTTY keys": "PuTTY-User-Key-File-3: x\nPrivate-Lines: 3\n",
    "keys line by line": '-----BEGIN PRIVATE KEY-----\n"AAAAAAAAAAAAAAAAAAAA" +\n',
    "seeds": "seed phrase: " + "abandon " * 30,
    "other scripts": "密码 пароль от パスワード",
    "values and markers": "[secret:jwt] password: hunter22 ",
    "tokens in words": "xghp_" + "a1B2" * 9,
    "colours": "\x1b[31mpassword",
    "percent signs": "password%3D%22",
    "elements": "<password>",
    "files of passwords": "a:5432:a:b:c\n",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_is_done_in_seconds(piece: str) -> None:
    text = (piece * (SIZE // len(piece) + 1))[:SIZE]
    started = time.process_time()
    cleaned = redact(text)
    # Anything that grows faster than the text takes many minutes; others may use the machine, too.
    assert time.process_time() - started < 12
    assert len(cleaned.text) <= 20 * SIZE


def test_an_image_of_random_letters_holds_no_secret() -> None:
    chosen = random.Random(7)
    image = "".join(chosen.choices(LETTERS + "+/", k=SIZE))
    text = f"data:image/png;base64,{image}=="
    assert redact(text).text == text
