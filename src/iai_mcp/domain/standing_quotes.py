"""Sentences of a person that may apply beyond the task at hand: "always …", "from now on …".

One small list for all languages. It claims little: the sentences are quoted with their dates, and the
reader judges. Five true lines are better than fifteen guesses.
"""

import re

LONGEST_PROMPT = 600  # characters: a longer one was pasted, or is a task with all its details
_SHORTEST, _LONGEST = 12, 240  # characters of a sentence
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_BEGINNING = r"(?:^|please |[,;:] )"
_MARKS = re.compile(
    # Said for good. At the beginning of a clause: "they were never called" asks for nothing.
    r"\b(?:from now on|going forward|in (?:the )?future,|as a rule|every time|remember to|remember that)\b"
    rf"|{_BEGINNING}(?:always|never)\b|\b(?:we|i) (?:always|never|prefer)\b"
    r"|\b(?:should|must) (?:always|never)\b|\bwe (?:do(?:n['’]?t| not) )?want\b"
    r"|\b(?:immer|niemals|ab jetzt|künftig|toujours|jamais|désormais|siempre|nunca|de ahora en adelante"
    r"|sempre|всегда|никогда|впредь|отныне)\b"
    r"|(?:总是|始终|一律|永远|从现在开始|以后|今后|常に|必ず|今後は|これからは|دائما|دائمًا|أبدا|أبدًا|من الآن)",
    re.IGNORECASE,
)
# A wish about everything of a kind: "we should add the agent name to any logging".
_WISHES = re.compile(
    r"\b(?:should|must|(?:we|i) want|i['’]?d like|prefer|ensure|make sure)\b", re.IGNORECASE
)
_ALL = re.compile(r"\b(?:any|every|each|all) (?!of |those|these|this|that\b)", re.IGNORECASE)
# Quoted or listed by somebody else: reviews, logs, code.
_PASTED = ("```", ">", "|", "- ", "* ", "#")
_REMEMBER = re.compile(
    r"\s*(?:please )?(?:remember|merk dir|retiens|recuerda|lembre(?:-se)?|запомни|记住|覚えて|تذكر)(?:[:：,]| (?:that|to|dass|que|что)\b)?\s*\S",
    re.IGNORECASE,
)


def standing_quotes(prompt: str) -> list[str]:
    """The sentences of a person's prompt that may still apply, verbatim."""
    if len(prompt) > LONGEST_PROMPT:
        return []
    sentences = (one.strip() for one in _SENTENCE.split(prompt) if not one.startswith(_PASTED))
    return [one for one in sentences if _may_apply(one)]


def asks_to_remember(prompt: str) -> bool:
    """Whether a person says "remember: …"."""
    return len(prompt) <= LONGEST_PROMPT and _REMEMBER.match(prompt) is not None


def _may_apply(sentence: str) -> bool:
    if not _SHORTEST <= len(sentence) <= _LONGEST and (sentence.isascii() or len(sentence) < 4):
        return False
    if sentence.endswith(("?", "？", ":", "：")) or len(sentence) > _LONGEST:
        return False
    if _MARKS.search(sentence):
        return True
    return _WISHES.search(sentence) is not None and _ALL.search(sentence) is not None
