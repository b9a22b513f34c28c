"""The words that people rule with, and what rulings are about."""

import re
from functools import lru_cache

from iai_mcp.domain.nearness import terms
from iai_mcp.domain.plain_values import PLAIN

_LEAD = (
    r"^\W*(?:(?:good|great|ok(?:ay)?|yes|yeah|no|now|so|then|right|perfect|excellent|exactly|wonderful"
    r"|also|and|but|again|additionally|likewise|similarly|first(?:ly)?|second(?:ly)?|third(?:ly)?"
    r"|finally|lastly|one more thing|moving on|please|just|hmm?)\b[\s,.!:]*)*+"
)
_DOING = (
    r"(?:us(?:e|ing)|includ(?:e|ing)|add(?:ing)?|end(?:ing)?|start(?:ing)?|begin(?:ning)?|finish(?:ing)?"
    r"|nam(?:e|ing)|call(?:ing)?|writ(?:e|ing)|put(?:ting)?|keep(?:ing)?|prefix(?:ing)?|suffix(?:ing)?"
    r"|prefac(?:e|ing)|import(?:ing)?|annotat(?:e|ing)|document(?:ing)?|comment(?:ing)?|format(?:ting)?"
    r"|plac(?:e|ing)|stor(?:e|ing)|leav(?:e|ing)|run(?:ning)?|wrap(?:ping)?|return(?:ing)?|log(?:ging)?"
    r"|test(?:ing)?|commit(?:ting)?|push(?:ing)?|incorporat(?:e|ing)|utiliz(?:e|ing)|avoid(?:ing)?"
    r"|skip(?:ping)?|drop(?:ping)?|remov(?:e|ing)|delet(?:e|ing)|answer(?:ing)?|reply(?:ing)?)"
)
# What stands between the one who rules and what is to be done.
_BIDDING = (
    r"(?:(?:i|we)(?:['’]d| would|['’]ll be| will be|['’]re| are)?(?: also| really| now| always| all)*+ "
    r"(?:(?:want|need|expect|like|prefer|ask) (?:(?:you|us) )?to )?"
    r"|(?:it['’]?s|it is) (?:\w+ )?(?:important|essential|crucial|mandatory|required|necessary) "
    r"(?:that (?:you|we) |to |for (?:you|us) to )"
    r"|.{0,60}?\b(?:emphasi[sz]e|stress|highlight) (?:today |here |now )?(?:is )?(?:the )?"
    r"(?:importance |use |need )?(?:of |to |for |that )*+"
    r"|.{0,60}?\b(?:practice|convention|rule|thing|standard|guideline)s?\b.{0,30}? (?:is|are) (?:to |the use of )?"
    r"|please |always |never |just |consistently |also |then |ensure |make sure |be sure |that |you |to |we "
    r"|remember |don['’]t forget |do not forget |do not |don['’]t |stop |should |must |from now on,? "
    r"|(?:start|begin|starting|beginning|focus on) (?=\w+ing\b)|update .{3,40}? by )*+"
)
# Nobody says so of this once.
FOR_GOOD = re.compile(
    r"(?:^\W*|[,;:.] ?|\b(?:you|we|should|must|to|please|also|i|of) )(?:always|never)\b"
    r"|^\W*(?:please )?(?:no|don['’]t|do not)\b.{3,60}\b(?:without|unless)\b.{0,12}\b(?:ask(?:ing|ed)?|ok|permission|approval|review)\b"
    r"|\b(?:kein\w*|nicht)\b.{3,60}\bohne\b.{0,24}\b(?:zu fragen|rückfrage|absprache)\b",
    re.IGNORECASE,
)
# What holds for good, in words that say so.
STANDING = re.compile(
    r"\bwe (?:don['’]t|do not|only) (?!have|need|know|want|think|see|recall|care|mind)\w+"
    r"|\b(?:from now on|going forward|moving forward|from here on|henceforth|consistently"
    r"|in (?:the )?future|by default|as a rule|every time|whenever|each time)\b"
    r"|(?:(?<!\bto )|\b(?:you|need|have|us) to )\b(?:ensure|make sure|be sure|remember to|don['’]t forget|do not forget)\b"
    r"|\b(?:it['’]?s|it is) (?:important|essential|crucial|mandatory|required|necessary)\b"
    r"|\bimportant (?:practice|rule|thing|point)s?\b"
    r"|\b(?:emphasi[sz]e|stress|highlight|remind you)\b"
    r"|\b(?:i|we)(?:['’]d| would| really| also)* (?:want|need|expect|like|prefer|ask) (?:you|us|all|every\w*)\b"
    r"|\b(?:our|the|new|a|this|these|coding|naming|standard) (?:\w+ ){0,2}"
    r"(?:convention|guideline|standard|policy|house rule|practice)s?\b"
    r"|\b(?:all|every|each|any) (?:of )?(?:your|our|the|new )?(?:[\w-]+ ){1,4}(?:should|must|need to|has to|have to)\b",
    re.IGNORECASE,
)
# No such sentence is without one of these; looking for them first costs a tenth of the pattern.
STANDS_WITH = (
    "we don", "we do not", "we only", "now on", "forward", "here on", "henceforth", "consistently",
    "future", "default", "as a rule", "every time", "whenever", "each time", "ensure", "make sure",
    "be sure", "remember to", "forget", "important", "essential", "crucial", "mandatory", "required",
    "necessary", "emphasi", "stress", "highlight", "remind you", "want ", "need", "expect ", "like ",
    "prefer ", "ask ", "convention", "guideline", "standard", "policy", "house rule", "practice",
    "policies", "should", "must", "has to", "have to",
)  # fmt: skip
# Of oneself: it rules where it names what it wants to see, "we end the name with '_y'".
AS_WE_DO = re.compile(
    r"\bwe(?:['’]re| are|['’]ll be| will be)? (?:now |only |always )?(?:like to|don['’]t|do not|introducing"
    r"|adopting|requir\w+|start(?:ing)?|end(?:ing)?|use|using|updating|adhere)\b",
    re.IGNORECASE,
)
DOES = re.compile(_LEAD + _BIDDING + r"(?:" + _DOING + r"\b|(?:the )?use of\b)", re.IGNORECASE)
# "All function names should start with": what is to be is said of the thing itself.
IS_TO = re.compile(
    r"\b(?:all|every|each|any|your|our)\b[^,.;]{2,50}\b(?:should|must|need to|have to|has to|are to|ends?|starts?"
    r"|begins?|includes?|contains?|uses?|have|has)\b",
    re.IGNORECASE,
)
FOR_ALL = re.compile(
    _LEAD
    + _BIDDING
    + _DOING
    + r"\b(?=.*\b(?:all|every|each|any|your|our|them|names?|identifiers?)\b)",
    re.IGNORECASE,
)
FRONTED = re.compile(
    _LEAD
    + r"(?:for|when|whenever|while|as for|regarding|if)\b[^,.;]{3,60}, "
    + _BIDDING
    + _DOING
    + r"\b",
    re.IGNORECASE,
)
# What was ruled in passing: it may be meant for this once.
PASSING = re.compile(
    r"\b(?:should|shouldn['’]t|must|mustn['’]t|has to|have to|ought to|needs? to)\b(?! (?:i|we|you)\b)"
    r"|\b(?:do not|don['’]t|stop|avoid|no need|not necessary|no more|no longer|instead of|rather than|instead)\b"
    r"|\blet['’]?s (?:\w+ )?(?:only|not|keep|use|stick|go with|completely|drop|remove|leave|stay|do|have|make|just)\b"
    r"|\bonly\b.{0,40}\b(?:should|when|if|for|use|add)\b|"
    + _LEAD
    + r"(?:only|no|not)\b (?!idea|problem|worries)"
    r"|\b(?:i|we)(?:['’]d| would)? (?:rather|prefer|(?:want|like)(?! (?:to (?!see|keep|have|avoid|use|stay|leave)|option)))\b|\b(?:i|we) (?:don['’]t|do not) (?:want|need|like|use)\b"
    r"|\bwould need\b|\b(?:is|are) (?:fine|not (?:ok|allowed|correct|right))\b|\bi (?:did not|didn['’]t) (?:say|ask)\b"
    r"|\btoo (?:slow|long|much|verbose|complex|expensive)\b|\bdoesn['’]t work (?:since|because)\b"
    r"|\bi (?:removed|deleted|reverted)\b"
    r"|必须|只能|改用|改回|统一|禁止|不许",
    re.IGNORECASE,
)
PASSES_WITH = (
    "should", "must", "has to", "have to", "ought", "need", "do not", "don't", "don’t", "stop", "avoid",
    "necessary", "no ", "not", "longer", "instead", "rather", "let's", "lets", "let’s", "only", "prefer",
    "want", "like", "fine", "did", "too ", "doesn", "remove", "delete", "revert",
    "必须", "只能", "改", "统一", "禁止", "不许",
)  # fmt: skip
# A review's advice and its findings, and the reasons that somebody gives for a ruling.
EXPLAINS = re.compile(
    r"\b(?:unnecessarily|inconsistently|incorrectly|misleading|(?:is|are|was|were) (?:likely|probably)) "
    r"|^\W*in `?[\w.]+\(\)`?,|"  # "In open_till(), the error …"
    r"^\W*(?:consider\b|(?:this|that|these|it)(?: \w+){0,2}? (?:will|helps?|makes?|ensures?|improves?|allows?"
    r"|is (?:to|a|an|our|just)) )",
    re.IGNORECASE,
)
# Which of some options is taken, and what would follow from taking one.
PICKS = re.compile(
    _LEAD
    + r"(?:(?:let['’]?s|lets|i['’]?d|i would|i|we|we['’]?ll) )?(?:do|go (?:with|for)|take|use|try|pick|choose|prefer|want|like|have)?\s*"
    r"(?:(?:the )?(?:option|variant|number|approach|plan|idea|choice|no\.?|nr\.?|#)\s*)?"
    r"(?:#?\d{1,2}|[a-f]\b|(?:the )?(?:first|second|third|fourth|last|former|latter|other)(?: (?:one|option|approach|idea))?"
    r"|both|all(?: of (?:them|it|these))?|either)"
    r"(?:(?:,? (?:and|or|then|\+) |, ?)(?:#?\d{1,2}|[a-f])\b)*(?: (?:then|please|now|first|instead|for now))*\W*$",
    re.IGNORECASE,
)
SUPPOSES = re.compile(
    r"^\W*if (?:we|you|i|they) (?:do|did|go (?:with|for)|choose|keep|want|need|change|use) (?:this|that|so|it)\b[^,]{0,40},"
    r"|^\W*if (?:so|not|yes|that['’]?s the case),",
    re.IGNORECASE,
)
ASKED = re.compile(
    r"[?？؟][\"')\]]*\s*$|^\W*(?:can|could|would|do|does|did|is|are|should|shall|what|why|how|where|which) (?:you|we|i|it|the|this|that|there|they)\b",
    re.IGNORECASE,
)
CHANGED = re.compile(
    r"\b(?:from now on|no longer|not any ?more|anymore|instead|rather than|updat\w+|new (?:convention|rule|"
    r"standard|naming|prefix|suffix)|chang\w+|switch\w*|replac\w+|going forward|moving forward|henceforth|now)\b"
    r"|\b(?:ab jetzt|ab sofort|statt|nicht mehr|désormais|au lieu|ahora|ya no|теперь|больше не)\b|从现在|不再|改用|改回|换成|今後",
    re.IGNORECASE,
)
AGAINST = re.compile(
    r"\b(?:never|not(?! only| just)|no|(?:do not|don['’]t)(?! (?:forget|hesitate|worry|be afraid|just))|stop|avoid|without|shouldn['’]t|mustn['’]t|nie|niemals|kein\w*|jamais|pas|nunca|никогда|не)\b|不要|别",
    re.IGNORECASE,
)
# Quoted, in back ticks, a number, spelled like a name in code, or known as a value: what a later ruling
# may put in place of another.
VALUE = re.compile(
    r"(?<!\w)'([^'\n]{1,40})'(?!\w)|[\"“]([^\"“”\n]{1,40})(?:[\"”]|$)|`([^`\n]{1,60})`|\b(v?\d[\w.]*)\b"
    r"|\b(\w+_\w+|[A-Za-z]*[a-z][A-Z]\w*|(?i:(?:upper|lower|camel|snake|kebab|pascal)[- ]?case))\b"
    r"|" + PLAIN
)
# What stands right before a value that is not to be used, and what forbids the whole clause before one.
GIVEN_UP = re.compile(
    r"(?:\b(?:not|prefer\w*\s[^,;]{1,40}\sover|instead of|rather than|no longer|no more|nicht(?: mehr)?|statt|anstatt|keine?|pas|au lieu de|ya no|не)"
    r"(?: (?:in|with|to|use|using|the|auf|mit|en|на))*|不用|不要用?|不是|别用|而不是)\s*[`'\"“]?$",
    re.IGNORECASE,
)
FORBIDS = re.compile(
    r"\b(?:never|(?:do|does|should|must|may|can)(?: not|n['’]t)|cannot|stop|avoid|nie|niemals|jamais|nunca)\b"
    r"(?! (?:forget|hesitate|only|just|worry))|不要|禁止|不许|别|不懂|不会",
    re.IGNORECASE,
)
# A rule beside another, or for a part of what the other is about: the other goes on to hold.
BESIDE = re.compile(
    r"\b(?:also|as well|in addition|too|auch|zusätzlich|außerdem|aussi|también|также)\b(?!,)|也|另外",
    re.IGNORECASE,
)
IN_PART = re.compile(
    r"\b(?:except|unless|apart from|other than|aside from|but not|only (?:in|for|when|if|where)|außer|ausser|nur (?:in|für|bei)"
    r"|sauf|excepto|salvo|кроме)\b|除了|除非|例外",
    re.IGNORECASE,
)
_WHERE = re.compile(
    r"(?<!now )(?<!here )\b(?:in|for|on|within|inside|under|when|while|für|bei|im|dans|pour|en|para|для|в)\s+"
    r"(?:(?:the|all|our|your|my|every|each|any|new|public|private)\s+)*([\w.]+)",
    re.IGNORECASE,
)
# It settles which of a few known values holds, for good: it bids to use one, or says how it has to be.
BIDS = re.compile(
    _LEAD
    + _BIDDING
    + r"(?:us(?:e|ing)|indent|prefix|suffix|start|end|begin|verwende\w*|nutze\w*|benutze\w*)\b",
    re.IGNORECASE,
)
HAS_TO_BE = re.compile(
    r"\b(?:must|should|has to|have to|ought to|muss|müssen|soll|sollen|doit|doivent|debe|deben)\b|必须|应该",
    re.IGNORECASE,
)
THIS_ONCE = re.compile(r"\b(?:here|this|that|these|those|it)\b", re.IGNORECASE)
CHOOSES = re.compile(
    _LEAD
    + _BIDDING
    + r"us(?:e|ing) (?:the )?[`'\"]?[\w.+/@-]+[`'\"]?,? (?:and not|not|instead of|rather than) (?:the )?[`'\"]?[\w.+/@-]+[`'\"]?,? (?:for|in|when)\b",
    re.IGNORECASE,
)
USED_ALL_OVER = re.compile(
    _LEAD
    + _BIDDING
    + r"us(?:e|ing)\b.{2,60}\bin (?:this|the|our) (?:\w+ )?(?:repo(?:sitory)?|project|code ?base)\b",
    re.IGNORECASE,
)
DENIED = re.compile(
    r"\b(?:instead of|rather than|no longer|not|don['’]t use|do not use|stop using|drop|away from"
    r"|(?:switch|migrat|mov|chang)(?:e|ed|ing)? from|replac(?:e|es|ed|ing))\s+(?:the |a |an |using |use )?"
    r"[`'\"“]?([\w.+/@-]{2,40})",
    re.IGNORECASE,
)
USED = re.compile(
    r"\b(?:us(?:e|es|ing)|switch(?:ed|ing)? to|go with|prefer|stick (?:to|with)|run|call)\s+(?:the |a |an |only )?"
    r"[`'\"“]?([\w.+/@-]{2,40})",
    re.IGNORECASE,
)
# A sentence rules on each of its values by itself: "start with 'x_' and end with '_d'".
CLAUSE = re.compile(
    r"[,;:]\s+|[，；：。]|\s+(?:and|but|followed by|as an? \w+|regardless of|so that|in order to"
    r"|to (?:indicate|help|make|ensure|keep|maintain|improve))\s+",
    re.IGNORECASE,
)
TOPIC = re.compile(
    _LEAD + r"(?:for|when|whenever|while|as for|regarding|in|with)\b(?! (?:the )?future)",
    re.IGNORECASE,
)
_SAME_WORD = {
    "begin": "start", "prefix": "start", "preface": "start", "prefac": "start", "suffix": "end",
    "finish": "end", "identifier": "name", "contain": "include", "incorporate": "include",
    "incorporat": "include", "includ": "include", "nam": "name", "parameter": "argument",
    "indentation": "indent",
}  # fmt: skip
# Who speaks of the part need not name the whole: "function argument names", "argument names".
_PARTS = (
    ("argument", "function"), ("argument", "variable"), ("attribute", "class"), ("method", "class"),
)  # fmt: skip
# What names and code are to have: the next clause is not about that.
SAID_OF_THEM = frozenset(
    (
        "digit",
        "comment",
        "docstring",
        "annotation",
        "hint",
        "decorator",
        "statement",
        "assert",
        "try",
    )
)
# What work on a program is about. A ruling about one of them is not one about another.
_THINGS_TEXT = """
function method class variable attribute argument constant comment docstring annotation hint
decorator statement digit assert try exception error log logging message import module package library file
folder directory path test mock fixture commit branch push merge rebase pull request review
changelog readme doc documentation config setting flag option env environment script command hook
build lint format indent tab space line length api endpoint schema migration table query column index
dependency version release tag deploy server port database cache key secret token host url button page
component style color agent session prompt summary plan todo
issue ticket deadline meeting language answer reply
"""
_MADE_OF_TEXT = """
always never prefer preference please want like rather make sure use using stick avoid instead remember need
ensure rule convention default future usually generally normally everything now forward going moving new
update updated updating change changed standard guideline policy practice practices important emphasize
importance consistently consistent consistency code coding codebase base team help helps identify easily
improve readability readable maintain clarity also additionally great good excellent perfect exactly
wonderful indeed oh secondly firstly first second third lastly likewise similarly follow following adopt
implement regard specific specifically previous instruction remind forget string regardless purpose across
project thing another one said say topic point related separate come key must should
ab jetzt sofort künftig immer nie bitte nicht mehr statt verwende verwenden benutze benutzen nutze nutzen
"""
# What rulings are made of in a script without blanks: alone between values, or wherever it stands.
_MADE_OF_SIGNS = re.compile(
    r"对了|就行|就好|以后|今后|从现在(?:开始|起)?|现在|还是|改回|改用|改成|换成|换回|一律|统一|全部|总是|必须|务必|使用|不要|不再|别再"
    r"|(?<![\u4e00-\u9fff])[用写成为吧了都请要的](?![\u4e00-\u9fff])"
)

_REMEMBERED = 8192  # words: the same few thousand come again and again


@lru_cache(_REMEMBERED)
def stem(word: str) -> str:
    """English endings off, so that one thing in two forms is one thing."""
    for ending in ("ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            cut = word[: -len(ending)]
            if ending == "ies":
                return cut + "y"
            if ending == "es" and not cut.endswith(("s", "x", "ch", "sh")):
                return cut + "e"
            if ending in ("ing", "ed") and len(cut) > 3 and cut[-1] == cut[-2]:
                return cut[:-1]
            return cut
    return word


THINGS = frozenset(stem(word) for word in _THINGS_TEXT.split())
_MADE_OF = frozenset(stem(word) for word in _MADE_OF_TEXT.split())
PLACES = frozenset(("start", "end", "include"))
EXAMPLE = re.compile(r"[,(]?\s(?:as in|such as|for example|e\.g\.)\s.*$", re.IGNORECASE)
ADDS = re.compile(r"\b(?:add|import|includ|incorporat|install|mention|decorat)\w*\b", re.IGNORECASE)
ITS = re.compile(r"\b(?:them|it|its|the (?:\w+ )?(?:names?|identifiers?))\b", re.IGNORECASE)
_AUXILIARY = re.compile(r"\bstart(?:ed|ing)? (?=\w+ing\b)", re.IGNORECASE)


def about(sentence: str) -> frozenset[str]:
    """What a sentence is about: its telling words without those that every ruling is made of."""
    plain = VALUE.sub(" ", _AUXILIARY.sub(" ", sentence))
    if not plain.isascii():
        plain = _MADE_OF_SIGNS.sub(" ", _MADE_OF_SIGNS.sub(" ", plain))
    found = frozenset(stem(term) for term in terms(plain))
    named = frozenset(_SAME_WORD.get(term, term) for term in found) - _MADE_OF
    return named - {whole for part, whole in _PARTS if part in named}


def where(clause: str) -> frozenset[str]:
    """Where or when a clause is to hold: "in yaml", "for tests"."""
    plain = VALUE.sub(" ", clause)
    return frozenset(word for found in _WHERE.finditer(plain) for word in about(found[1]))
