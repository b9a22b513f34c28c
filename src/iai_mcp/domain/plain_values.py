"""Values that people name without quoting them: affixes, natural languages, a few plain opposites.

Whoever says "in English" or "use spaces" after "in German" or "use tabs" means the same place. Which
values stand in one place is a closed list: what is not on it has to be quoted to be taken for one.
"""

_LANGUAGES = {
    "english": "englisch anglais inglés английском 英文 英语 英語",
    "german": "deutsch allemand alemán немецком 德文 德语 ドイツ語",
    "french": "französisch français francés французском 法文 法语 フランス語",
    "spanish": "spanisch espagnol español испанском 西班牙文 西班牙语 スペイン語",
    "italian": "italienisch italien italiano итальянском 意大利语",
    "portuguese": "portugiesisch portugais portugués португальском 葡萄牙语",
    "dutch": "niederländisch néerlandais holandés",
    "polish": "polnisch polonais polaco польском",
    "russian": "russisch russe ruso русском 俄文 俄语 ロシア語",
    "japanese": "japanisch japonais japonés японском 日文 日语 日本語",
    "chinese": "chinesisch chinois chino китайском 中文 汉语 中国語",
    "korean": "koreanisch coréen coreano корейском 韩文 韩语 韓国語",
}
_OPPOSITES = {
    "whitespace": {"tabs": "tabulatoren", "spaces": "leerzeichen"},
    "quotes": {
        "single quotes": "single-quotes|single quotation marks|einfache anführungszeichen",
        "double quotes": "double-quotes|double quotation marks|doppelte anführungszeichen",
    },
    "mood": {"imperative": "imperative mood|imperative form", "past tense": "past-tense"},
}
LANGUAGE = "language"


def _listed() -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for name, others in _LANGUAGES.items():
        found |= dict.fromkeys((name, *others.split()), (LANGUAGE, name))
    for kind, values in _OPPOSITES.items():
        for name, text in values.items():
            found |= dict.fromkeys((name, *text.split("|")), (kind, name))
    return found


_KNOWN = _listed()
_WITHOUT_BLANKS = tuple(word for word in _KNOWN if not word.isascii() and ord(word[0]) > 0x2E80)
_SPOKEN_IN = "|".join(
    w for w, (k, _) in _KNOWN.items() if k == LANGUAGE and w not in _WITHOUT_BLANKS
)
_OPPOSED = "|".join(
    sorted((w for w, (k, _) in _KNOWN.items() if k != LANGUAGE), key=len, reverse=True)
)

# An affix begins or ends with "_": `m_`, `_x`. A language is one where something is said in it: "the German
# office" is no value.
PLAIN = (
    r"(?<![\w`'\"./-])(_[A-Za-z]\w{0,15}|[A-Za-z]\w{0,15}_)(?![\w`])"
    rf"|(?:(?<=\bin )|(?<=\binto )|(?<=\bto )|(?<=\bnot )|(?<=\bauf )|(?<=\ben )|(?<=\bна ))(?i:({_SPOKEN_IN}))\b"
    rf"|({'|'.join(_WITHOUT_BLANKS)})"
    rf"|\b(?i:({_OPPOSED}))\b"
)


def known(value: str) -> tuple[str, str]:
    """The place a plain value stands in, and its usual name; ("", value) for any other."""
    return _KNOWN.get(value.lower(), ("", value))
