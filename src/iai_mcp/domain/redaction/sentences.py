"""Secrets in sentences of many languages: "the password for staging is …", "密码是…"."""

import re
from collections.abc import Iterator
from typing import Literal

from iai_mcp.domain.pieces import matches
from iai_mcp.domain.redaction.keyword_scan import Rule, Span
from iai_mcp.domain.redaction.values import Candidate, Manner, key_like, password_like

# Quotes of all countries; a value neither begins nor ends with one.
_QUOTES = "\"'`“”„«»‹›‘’「」『』"
_BREAKS = f"\\s{_QUOTES}<>\x1b，。、；：！？（）【】"
_VALUE = rf"(?:[{_QUOTES}*]{{0,3}}|«[ \xa0\u202f])(?P<value>[^{_BREAKS}]{{4,256}})"
# "… for staging", "… für den Server", "… de la base", "(staging)".
_ABOUT = r"""
    (?:[ ](?:temporal|temporaria|temporária|temporanea|temporaire|provisional|provisoire|provisória
        |provvisoria|nueva|nova|nuova|nouveau|actual|actuel|atual|inicial|initial|iniziale|root|admin
        |d['’]\w{1,12}))?
    (?:[ ]?[(（][^()（）\n]{1,40}[)）])?
    (?:[ ](?:for|of|to|on|at|in|from|that|which|we|i|you|für|fuer|von|vom|zum|zur|der|des|auf|im
        |de|del|della|dello|di|do|da|dos|du|pour|para|per|por|en|sur|api|secreta|secrète|segreta
        |voor|van|til|för|do|dla|к|от|для|на|в|до)
       \b['’]?[\w .'’@/-]{0,48}?)?
"""
_IS = r"""
    is|was|are|will[ ]be|should[ ]be|must[ ]be|to|now|(?:re)?set[ ]to|changed[ ]to|updated[ ]to
    |ist|lautet|war|heißt|es|era|será|est|c['’]est|était|é|è|является|это|jest|to|är|er|on|je|olur
"""
_ADVERB = (
    r"now|still|just|simply|currently|again|set[ ]to|changed[ ]to|jetzt|ahora|maintenant|ora|agora"
)
_TOLD = re.compile(
    rf"""
    {_ABOUT},?
    (?: [ \t\xa0]{{0,3}}(?:[:：=＝]|->|→|—|–|-(?=[ ])|是|为|為|は|を|은|는)[ \t]{{0,4}}
      | ['’]s[ ]
      | [ ](?:{_IS})(?:[ ](?:{_ADVERB})){{0,2}}[ ]?:?[ \t]{{1,3}} )
    {_VALUE}
    """,
    re.VERBOSE | re.IGNORECASE,
)
# "A temporary password is generated for root@localhost: …"
_AT_LENGTH = re.compile(rf"[ ][^\n:=\"'`]{{4,72}}:[ \t]{{1,3}}{_VALUE}(?=[ \t]*(?:\n|\Z))")
# "cambié la clave a …", "das Passwort auf … geändert": these words have other meanings, too.
_CHANGED_TO = re.compile(
    rf"{_ABOUT}[ ](?:a|à|auf|en|in|на|with|using)[ ]{_VALUE}", re.VERBOSE | re.IGNORECASE
)
# "… as the password", "… comme mot de passe", "… is the password", "… (the password)"
_TAKEN_AS = re.compile(
    rf"[{_QUOTES}\s](?P<value>[^{_BREAKS}]{{8,128}})[{_QUOTES}]{{0,2}}"
    r"(?:,?[ ](?:as|als|como|come?|comme|is|was|ist|est|(?:that|it)['’]s)[ ](?:\w{1,10}[ ]){0,2}"
    r"|[ ]\((?:\w{1,10}[ ]){0,2})\Z"
)
_PHRASE = re.compile(r"[\"'`“„«]((?:[^\s\"'`“”„«»]{1,24} ){3,9}[^\s\"'`“”„«»]{1,24})[\"'`”“»]")
# In scripts of their own the words for it are few and stand without blanks.
_WORDS: tuple[tuple[Literal["password", "api-key"], str], ...] = (
    (
        "password",
        "密码|密碼|口令|暗号|パスワード|パスフレーズ|暗証番号|비밀번호|암호|패스워드"
        "|парол[ьяюе]м?|кодовая фраза|كلمة المرور|كلمة السر|סיסמ[הא]|κωδικός|κωδικό πρόσβασης"
        "|mật khẩu|รหัสผ่าน|पासवर्ड|hasło|lösenord|şifre|jelszó",
    ),
    (
        "api-key",
        "密钥|密鑰|令牌|私钥|金鑰|キー|トークン|秘密鍵|키|토큰|ключ|токен|секрет|مفتاح|מפתח|κλειδί",
    ),
)
_FOREIGN = re.compile("|".join(f"({words})" for _, words in _WORDS))
# Most texts that are not plain ASCII have an arrow, a dash or a quote, and no letter of these.
_FOREIGN_LETTER = re.compile(
    "[łöşóậ\u0370-\u06ff\u0900-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
)
_FOREIGN_SIGN = re.compile(
    rf"""
    (?:[ ]?[(（][^()（）\n]{{1,40}}[)）])?
    (?:[ ]?(?:的值|值)|[ ](?:от|для|к|на|в|до|за|للـ?|ل|do|dla|till|för|cho|של)\b[^\n:=：]{{0,48}}?
      |[ ][^\W\d_]{{2,20}}(?=[ ]?[:：—–]))?
    [ \t]{{0,3}}
    (?: [:：=＝【「『]|->|→|—|–|-(?=[ ])
      | (?:已经?|被)?(?:是|就是|叫|(?:设置?|設定?|修?改|更[改新]|变更|變更|重[置设])?(?:为|為|成)了?)
      | は|が|を|은|는|이|가|를|을
      | (?:это|теперь|является|هو|هي|הוא|היא|είναι|là|คือ|है|jest|to|är)(?=[ ])
      | (?P<blank>[ ]?)
    ) [:：]?[ \t]{{0,4}}
    [{_QUOTES}*]{{0,3}}(?P<value>[!#-&(-;=?-_a-~]{{4,256}})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ENDINGS = ".,;:!?)]}*"
_SEED = re.compile(
    r"(?:seed|recovery|secret|backup|wallet|mnemonic)(?:[ _-](?:phrase|words?|seed|mnemonic)){0,2}"
    r"[\"'*]{0,3}[ \t]{0,3}(?:is|are|was|[:=])[:=]?[ \t]{0,3}\n?[ \t]{0,8}[\"'`*]{0,3}"
    r"((?:\d{1,2}[.)][ ]?)?[a-z]{3,8}(?:(?:[ ,]{1,2}|\n)(?:\d{1,2}[.)][ ]?)?[a-z]{3,8}){11,23})(?![a-z])"
)
_SEED_LENGTHS = (12, 15, 18, 21, 24)


def values_after(text: str, start: int, end: int) -> Iterator[Candidate]:
    """What may be the value of the name from `start` to `end`, in a sentence."""
    if (match := _CHANGED_TO.match(text, end)) is not None:
        yield match.start("value"), match["value"].rstrip(_ENDINGS), "bare"
    # Said so of a word: `import A as Password` is not.
    is_word = text[start:end].islower() and text[start:end].isalpha()
    if is_word and (match := _TAKEN_AS.search(text, max(0, start - 160), start)) is not None:
        yield match.start("value"), match["value"], "bare"
    if (match := _TOLD.match(text, end)) is not None:
        at = match.start("value")
        if (phrase := _PHRASE.match(text, at - 1)) is not None:
            yield at, phrase[1], "quoted"
        if not match["value"].endswith("..."):
            yield at, match["value"].rstrip(_ENDINGS), "sentence"
    if (match := _AT_LENGTH.match(text, end)) is not None:
        yield match.start("value"), match["value"].rstrip(_ENDINGS), "bare"


def in_other_scripts(text: str, lowered: str) -> Iterator[Span]:
    """Secrets in languages whose words for it are not written in plain Latin letters."""
    if text.isascii() or not _FOREIGN_LETTER.search(lowered):
        return
    for word in matches(_FOREIGN, lowered):
        match = _FOREIGN_SIGN.match(text, word.end())
        if match is None:
            continue
        value, at = match["value"].rstrip(_ENDINGS), match.start("value")
        kind = _WORDS[(word.lastindex or 1) - 1][0]
        manner: Manner = "bare" if match["blank"] else "sentence"
        if kind == "password":
            secret = password_like(value, manner)
        else:
            secret = key_like(value, manner, named=True)
        if secret:
            yield at, at + len(value), kind


def _seeds(text: str, lowered: str) -> Iterator[Span]:
    """The words from which a wallet can be restored, where they are called so."""
    for match in matches(_SEED, lowered):
        words = re.findall("[a-z]+", match[1])
        if len(words) in _SEED_LENGTHS:
            yield *match.span(1), "seed-phrase"


SENTENCES: tuple[Rule, ...] = ((("phrase", "mnemonic", "seed", "recovery"), _seeds),)
