"""What is so now and was otherwise before: whether a cue asks for it, and whether a turn tells it.

"On which port does it listen now?" is answered where the port was changed, not where it was first
chosen, though that is where its words are. Told by words alone, in eight languages.
"""

import re
from collections.abc import Sequence

from iai_mcp.domain.words import indexed

_ASKS_PRESENT = re.compile(
    r"\b(?:now|nowadays|currently|still|these days|at the moment|at present|presently|any ?more"
    r"|no longer|by now|up[- ]to[- ]date"
    r"|jetzt|derzeit|aktuell|momentan|zurzeit|zur zeit|heutzutage|inzwischen|mittlerweile"
    r"|immer noch|nicht mehr"
    r"|maintenant|actuellement|en ce moment|désormais|de nos jours|ne \w+ plus"
    r"|ahora|actualmente|hoy en día|en este momento|todavía|ya no"
    r"|сейчас|теперь|в настоящее время|на данный момент|по-прежнему|вс[её] ещ[её]|до сих пор)\b"
    r"|الآن|حاليا|حاليًا|لا يزال|ما زال|لم يعد"
    r"|现在|目前|如今|当前|仍然|还在|不再"
    r"|現在|今は|今の|今でも|いまは|まだ",
    re.IGNORECASE,
)
# "Where is it kept today?" asks how things are; "what did I ask today?" and "what do I have to do
# today?" ask about a day.
_TODAY = re.compile(r"\btoday\b(?!['’]s)", re.IGNORECASE)
_OF_A_DAY = re.compile(
    r"\b(?:did|was|were|had|have|has|been|i|i['’]m|my|me|today['’]s)\b", re.IGNORECASE
)
_IS = re.compile(r"\b(?:do|does|is|are)\b", re.IGNORECASE)
# "Which port does it use?" asks how things are as well, though less surely.
_ASKS_HOW_IT_IS = re.compile(
    r"\s*(?:(?:on|in|at|for|from|to|with|as|by|of|under) )?(?:which|what|where|how|who)\b",
    re.IGNORECASE,
)
_OF_THE_PAST = re.compile(r"\b(?:did|was|were|had|been|when|ago|last|yesterday)\b", re.IGNORECASE)
# Looked up word by word, as the kinds of answers are.
_WORDS = frozenset(indexed(word) for word in (
    "now", "instead", "anymore", "changed", "switch", "switched", "switching", "replace",
    "replaces", "replaced", "replacing", "migrate", "migrated", "moved", "removed", "deleted",
    "drop", "dropped", "supersedes", "superseded", "rewrite", "rewritten", "rewrote", "upgraded",
    "raised", "increased", "lowered", "reduced", "revised", "revert", "reverted", "cancel",
    "cancelled", "canceled", "renamed", "retired", "deprecated", "meanwhile",
    "jetzt", "statt", "stattdessen", "inzwischen", "mittlerweile", "neuerdings", "umgestellt",
    "gewechselt", "ersetzt", "geändert", "abgeschafft", "abgelöst", "umgezogen", "künftig",
    "maintenant", "désormais", "dorénavant", "remplacé", "remplace", "changé", "abandonné",
    "supprimé", "plutôt", "migré",
    "ahora", "cambiado", "cambiamos", "cambió", "reemplazado", "sustituido", "eliminado", "migrado",
    "теперь", "вместо", "заменили", "заменен", "перешли", "сменили", "изменили", "отказались",
    "убрали", "перенесли",
))  # fmt: skip
_PHRASES = (
    "no longer", "any more", "any longer", "gave up", "give up", "as of ", "from today", "now on",
    "rather than", "move to", "moving to", "goes out", "has to go", "is gone", "are gone",
    "was a mistake", "change to", "change it to", "nicht mehr", "ab sofort", "ab heute",
    "au lieu", "à la place", "ya no", "en lugar", "en vez", "a partir de", "больше не",
)  # fmt: skip
_SIGNS = (
    "الآن", "بدلا من", "بدلًا من", "بدل ", "لم يعد", "لم نعد", "غيرنا", "استبدل",
    "现在", "改为", "改成", "改用", "换成", "不再", "取代", "替换", "而不是", "已迁移",
    "変更", "変え", "代わりに", "ではなく", "切り替え", "移行", "置き換え", "廃止", "今は",
)  # fmt: skip
# Who tells a change does so soon; somewhere in a long text there is always a "now".
_READ, _READ_WORDS = 1_000, 160  # characters, words
_READ_OF_A_CUE = 1_000


def spoken_plainly(cue: str) -> str:
    """The cue with "now" for a "today" that means these days, not this day."""
    of_these_days = _TODAY.search(cue) and _IS.search(cue) and not _OF_A_DAY.search(cue)
    return _TODAY.sub("now", cue) if of_these_days else cue


def asks_for_the_present(cue: str) -> bool:
    return _ASKS_PRESENT.search(cue[:_READ_OF_A_CUE]) is not None


def speaks_in_the_present(cue: str) -> bool:
    asks = _ASKS_HOW_IT_IS.match(cue) and _IS.search(cue)
    return bool(asks) and not _OF_THE_PAST.search(cue)


def tells_a_change(text: str, said: Sequence[str]) -> bool:
    """Whether `text` says that something is otherwise than before; `said` are its words."""
    text = text[:_READ]
    if not _WORDS.isdisjoint(said[:_READ_WORDS]):
        return True
    lowered = text.lower()
    if any(phrase in lowered for phrase in _PHRASES):
        return True
    return not text.isascii() and any(sign in text for sign in _SIGNS)
