"""What a person said once and meant for good: standing instructions and preferences.

"Always use tabs", "I prefer pytest", "from now on answer in German" share few words with
the questions they are meant for. They are recognised when captured, and their topic (what
follows "when I ask about", "for", "in") is kept beside them, so that recall can bring them up
when the topic does.
"""

import re
from dataclasses import dataclass
from enum import StrEnum


class Standing(StrEnum):
    INSTRUCTION = "instruction"
    PREFERENCE = "preference"


@dataclass(frozen=True, slots=True)
class StandingWish:
    """One sentence that holds until it is taken back. `topic` is "" when it names none."""

    kind: Standing
    sentence: str
    topic: str


# Only at the start of a sentence or clause is it addressed to somebody: "they always make me
# smile" asks for nothing.
_OPENING = (
    r"(?:^|[.!?;:(\n]\s*|,\s*(?:and |but |so )?|\band (?:also |please )|\bplease )"
    r"(?:please |also |and |so |you should |you must |we should |we must |kindly |remember: ?)*"
)
_INSTRUCTION = re.compile(
    _OPENING
    + r"(?:(?:always|never) (?!mind|been|had|done|completed|worked|used|seen|saw|up for|here|good|"
    r"happy|tried|say never|give up|gives?|a |an |the )\w+"
    r"|from now on|going forward|from here on|in (?:the )?future"
    r"|when(?:ever)? (?:i|we|you) (?:ask|write|add|create|change|commit)\w*"
    r"|(?:every|each|any) ?time (?:i|we|you) (?:ask|write|add|create|change|commit)\w*"
    r"|(?:do not|don['’]t|stop) (?:ever |just )?(?:us|add|put|writ|commit|push|touch|chang|edit|"
    r"delet|remov|creat|run|includ|suggest|assum|mock|skip|renam|import|install|mention|"
    r"ask me|call me|answer|repl(?:y|ac)|explain|merge|deploy|rebase)\w*"
    r"|make sure (?:to always|that you always|you always|to never|you never)"
    r"|remember to (?:always|never|use|add|run|write)"
    r"|remember that (?:you|we) (?:should|must|always|never)"
    r"|by default|as a rule|it['’]s a rule|the rule is|rule:"
    r"|stick (?:to|with)|avoid (?:using|adding)|must (?:always|never))\b",
    re.IGNORECASE | re.MULTILINE,
)
_PREFERENCE = re.compile(
    r"\b(?:i|we)(?:['’]d| would| do| really| generally| usually| much| still| strongly| always)* "
    r"(?:prefer|rather|favou?r)\b(?! not to say)"
    r"|\b(?:my|our) (?:\w+ )?(?:preference|convention|house style|policy|rule|standard)s?\b"
    r"|\b(?:i|we) (?:really |absolutely |just )?(?:hate|dislike|can['’]t stand|detest|"
    r"don['’]t (?:like|want|use))\b"
    r"|\b(?:i|we) (?:really )?like (?:my|our|to (?:have|keep|see|use)|it when|keeping)\b"
    r"|\b(?:i|we)(?:['’]d| would)? (?:really )?(?:like|want) (?:you|it|everything|all|my|our) to\b"
    r"|\b(?:i|we) (?:only|always|never|usually|normally|generally) (?:use|write|want|work|put|keep|"
    r"run|deploy|commit|name|format|go)\b"
    r"|\b(?:i|we)(?:['’]m| am|['’]re| are) (?:trying|aiming|hoping) to keep\b"
    r"|\bmy favou?rite\b|\bover (?:using )?\w+ (?:due to|because|since)\b",
    re.IGNORECASE,
)
# Said in passing or of the past, not meant for good.
_NOT_STANDING = re.compile(
    r"\b(?:always been|always wanted to|never (?:mind|been|had|done|completed|worked|seen))\b",
    re.IGNORECASE,
)
# The first that is found names the topic.
_TOPICS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:when(?:ever)?|if|any ?time|every time|each time) (?:i|we|you)(?:['’]re| are)? ?"
        r"(?:\w+ ){0,2}?(?:ask(?:ing)?(?: you)?(?: about| for| to)?|discuss(?:ing)?"
        r"|talk(?:ing)? about|mention(?:ing)?|need|want|work(?:ing)? (?:on|with)"
        r"|writ(?:e|ing)|us(?:e|ing))"
        r"\s+([^.!?\n]+)",
        r"\b(?:when(?:ever)?|while|if) ([^.!?\n,]+)",
        r"\b(?:for|in|on|regarding|about) ([^.!?\n,]+)",
    )
)
# Other languages: a word or two that open an instruction or state a preference. "Benutze immer",
# "bitte nie": first or second in its clause, for "es wird immer kälter" asks for nothing.
_ELSEWHERE_OPENING = (
    r"(?:^|[.!?;:,(\n]\s*|\b(?:und|et|y|и) )"
    r"(?:(?:bitte|merci de|por favor|пожалуйста),? )?(?:(?:ne |n['’]|no )?\w+ )?"
)
_ELSEWHERE = (
    (
        Standing.INSTRUCTION,
        re.compile(
            _ELSEWHERE_OPENING + r"(?:immer|niemals|nie|toujours|jamais|siempre|nunca|jamás|всегда"
            r"|никогда)\b(?! (?:noch|wieder|mehr|pas|ещ[её]|que)\b)"
            r"|\b(?:ab jetzt|ab sofort|von nun an|künftig|bitte kein\w*)\b"
            r"|\b(?:désormais|dorénavant|à partir de maintenant)\b"
            r"|\b(?:de ahora en adelante|a partir de ahora)\b"
            r"|\b(?:отныне|впредь|с этого момента|больше не)\b"
            r"|(?:دائما|دائمًا|أبدا|أبدًا|من الآن فصاعدا|من الآن فصاعدًا)"
            r"|(?:总是|一律|永远不要|从现在开始|以后都?|不要再|别再|务必|统一[用成改]|还是改回(?![去来]))"
            r"|(?:常に|必ず|絶対に|今後は|これからは)",
            re.IGNORECASE,
        ),
    ),
    (
        Standing.PREFERENCE,
        re.compile(
            r"\b(?:ich bevorzuge|mir ist lieber|ich mag|ich hätte lieber|am liebsten)\b"
            r"|\b(?:je préfère|j['’]aime(?:rais)? mieux|je n['’]aime pas|je déteste)\b"
            r"|\b(?:prefiero|preferimos|me gusta más|no me gusta|odio)\b"
            r"|\b(?:я предпочитаю|предпочитаю|мне больше нравится|я не люблю|мне не нравится)\b"
            r"|\b(?:ich|wir) (?:verwend|nutz|benutz|schreib|nehm)\w+ (?:immer|nie|niemals|nur)\b"
            r"|\b(?:j['’]|on |nous )(?:utilis|écri)\w+ (?:toujours|jamais)\b"
            r"|\b(?:siempre|nunca) (?:uso|usamos|escribo|escribimos)\b"
            r"|\b(?:я|мы) (?:всегда|никогда не) (?:использу|пиш|бер)\w+"
            r"|(?:أفضل|أفضّل|لا أحب|أكره)"
            r"|(?:我更?喜欢|我偏好|我不喜欢|我讨厌|我宁愿)"
            r"|(?:が好き|の方がいい|のほうがいい|が嫌い|を好む)",
            re.IGNORECASE,
        ),
    ),
)


# No wish is without one of these words. Looking for them first costs a tenth of the patterns, and
# most sentences have none.
_ASKING = (
    "always", "never", "now on", "forward", "here on", "future", "when", "time ", "do not", "don't",
    "don’t", "stop", "make sure", "remember", "default", "rule", "stick ", "avoid", "must ",
)  # fmt: skip
_LIKING = (
    "prefer", "rather", "favo", "convention", "style", "policy", "rule", "standard", "hate",
    "dislike", "stand", "detest", "don't", "don’t", "like", "want", "only", "always", "never",
    "usually", "normally", "generally", "keep", "over ",
)  # fmt: skip

_ELSEWHERE_IN_ASCII = (
    "immer", "nie", "ab jetzt", "ab sofort", "von nun an", "bitte kein", "toujours", "jamais",
    "partir", "siempre", "nunca", "ahora", "ich ", "lieb", "aime", "prefi", "preferimos", "gusta",
    "odio",
)  # fmt: skip
_ANY_OF = tuple(dict.fromkeys((*_ASKING, *_LIKING, *_ELSEWHERE_IN_ASCII)))


def may_state_a_wish(text: str) -> bool:
    """Whether it is worth looking at the sentences of `text` one by one: most texts hold none."""
    lowered = text.lower()
    return not text.isascii() or any(word in lowered for word in _ANY_OF)


def standing_wish(sentence: str) -> StandingWish | None:
    """The wish that `sentence` states, or None. Only what people say is worth asking about."""
    kind = _kind(sentence)
    return StandingWish(kind, sentence, _topic(sentence)) if kind else None


def _kind(sentence: str) -> Standing | None:
    lowered = sentence.lower()
    asking = any(word in lowered for word in _ASKING)
    liking = any(word in lowered for word in _LIKING)
    plain = _NOT_STANDING.sub(" ", sentence) if asking or liking else sentence
    if asking and _INSTRUCTION.search(plain):
        return Standing.INSTRUCTION
    if liking and _PREFERENCE.search(plain):
        return Standing.PREFERENCE
    # The other languages' words are looked for only where English was not spoken.
    if sentence.isascii() and not any(word in lowered for word in _ELSEWHERE_IN_ASCII):
        return None
    return next((kind for kind, pattern in _ELSEWHERE if pattern.search(plain)), None)


def _topic(sentence: str) -> str:
    for pattern in _TOPICS:
        match = pattern.search(sentence)
        if match:
            return match[1].strip()
    return ""
