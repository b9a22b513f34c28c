"""Words as the lexical index knows them: one form for the index and for the cue.

The index itself splits at anything that is no letter or digit, folds case and diacritics
and stems English. What it can not do is done here, the same way on both sides:

- Chinese and Japanese are written without spaces: their runs become overlapping pairs of
  characters, so that any substring of two or more can be found;
- camelCase is kept whole and also split, so that `getUserName` answers "user name";
- Arabic loses its vowel marks and spelling variants, Russian its `ё` and case endings.
"""

import re
import unicodedata
from collections.abc import Iterator

from iai_mcp.domain import pieces

# Han, kana and half-width kana; Hangul is written with spaces and stays as it is.
_CJK = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_HIRAGANA_ONLY = re.compile("[\u3040-\u309f]+")
_CAMEL = re.compile(r"\b[a-zA-Z]*[a-z][A-Z][a-zA-Z0-9]*\b|\b[A-Z]{2,}[a-z][a-zA-Z0-9]*\b")
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CYRILLIC_WORD = re.compile("[\u0400-\u04ff]{4,}")
_ARABIC_WORD = re.compile("[\u0600-\u06ff]+")
_ARABIC_MARKS = re.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670]")
_ARABIC_SAME = str.maketrans(
    {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه", "ؤ": "و", "ئ": "ي"}
)
_ARABIC_ARTICLES = ("وال", "بال", "كال", "فال", "لل", "ال")
# An ending is cut once, the longest that fits, and never leaves fewer than three letters.
_RUSSIAN_ENDING = re.compile(
    "(?<=...)(?:[иа]?ями|ами|иях|ях|ах|иям|ям|ам|ием|ем|ом|ов|ев|ей|ий|ый|ой|ая|яя|ое|ее|ие|ые|ую|юю"
    "|ого|его|ому|ему|ыми|ими|ых|их|ым|им|ться|тся|ешь|ишь|ете|ите|[аяу]?ют|ут|ят|ат|[аяу]ет"
    "|[иыая]л[аио]?|[иыаяе]?ть|л[аои]|и[яюи]|ь[яюе]|[аяоеиыуюьй])$"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LETTERS_OF_A_WORD = 2  # in Chinese and Japanese
_SHORTEST, _LONGEST = 3, 24  # letters of a word that means something by itself
_ASCII_FAST = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")


def indexed(text: str) -> str:
    """`text` as it goes into the index. Never shown to anybody."""
    return "".join(indexed_pieces(text))


def indexed_pieces(text: str) -> Iterator[str]:
    """The same in pieces, which cut no word."""
    camel: list[str] = []
    for piece in pieces.pieces(text):
        folded = _folded(piece)
        yield folded
        if parts := _camel_parts(folded):
            camel.append(parts)
    if camel:
        yield "\n" + " ".join(camel)


def words(text: str) -> list[str]:
    """The words of `text`, lower case, in order, not yet in the index's form."""
    if text.isascii():
        return _WORD.findall(text.lower())
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def index_terms(word: str) -> list[str]:
    """What to look for in the index to find `word` (as `words` gave it)."""
    if word.isascii():
        return [word]
    folded = unicodedata.normalize("NFKC", word)
    terms: list[str] = []
    for part in re.split(f"([{_CJK}]+)", folded):
        if not part:
            continue
        if _CJK_RUN.fullmatch(part):
            pairs = _pairs(part)
            telling = [pair for pair in pairs if not _HIRAGANA_ONLY.fullmatch(pair)]
            terms.extend(telling or pairs)
        else:
            terms.append(_stem(part))
    return terms


def may_mean(word: str) -> bool:
    """Whether a model could know the word; it knows no numbers, and few words of other scripts."""
    return word.isascii() and word.isalpha() and _SHORTEST <= len(word) <= _LONGEST


def is_cjk(text: str) -> bool:
    return _CJK_RUN.search(text) is not None


def count(text: str) -> int:
    """About how many words it has, also where no blanks stand between them."""
    blanks = len(text.split())
    return blanks if text.isascii() else blanks + _cjk_letters(text) // _LETTERS_OF_A_WORD


def width(text: str) -> int:
    """Its length, in letters of an alphabet: a Chinese character tells as much as several of them."""
    return len(text) if text.isascii() else len(text) + _cjk_letters(text)


def _cjk_letters(text: str) -> int:
    return sum(len(run[0]) for run in _CJK_RUN.finditer(text))


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _stem(word: str) -> str:
    if _CYRILLIC_WORD.fullmatch(word):
        return _russian_stem(word)
    return _arabic_stem(word) if _ARABIC_WORD.fullmatch(word) else word


def _folded(text: str) -> str:
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFKC", text)
    folded = _CJK_RUN.sub(lambda run: " " + " ".join(_pairs(run[0])) + " ", folded)
    folded = _CYRILLIC_WORD.sub(lambda word: _russian_stem(word[0]), folded)
    return _ARABIC_WORD.sub(lambda word: _arabic_stem(word[0]), folded)


def _camel_parts(text: str) -> str:
    if text.isascii() and not _ASCII_FAST.search(text):
        return ""
    return " ".join([part for whole in _CAMEL.findall(text) for part in _CAMEL_PART.findall(whole)])


def _russian_stem(word: str) -> str:
    return _RUSSIAN_ENDING.sub("", word.lower().replace("ё", "е"))


def _arabic_stem(word: str) -> str:
    plain = _ARABIC_MARKS.sub("", word).translate(_ARABIC_SAME)
    for article in _ARABIC_ARTICLES:
        if plain.startswith(article) and len(plain) - len(article) >= 3:
            return plain[len(article) :]
    return plain
