"""Words that say nothing about what is sought, per language.

Counted as a match they mislead: leaving them out is worth about five points to the words
leg. A word that could be code ("not", "with", "from") still counts when it is part of a
quoted identifier, which is matched on its own.
"""

from collections.abc import Collection

_ENGLISH = """
a about after again all also am an and any are aren't as at be because been before being between
both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during
each either ever every few for from further get gets getting give given go goes going gone got
had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him
himself his how how's i i'd i'll i'm i've if in into is isn't it it's its itself just let let's
like made make makes many may me might more most much must my myself need no nor not now of off
on once one only or other our ours ourselves out over own please same say says she she'd she'll
she's should shouldn't so some something such take takes tell than that that's the their theirs
them themselves then there there's these they they'd they'll they're they've this those through
to too under until up us very want wants was wasn't we we'd we'll we're we've were weren't what
what's when when's where where's which while who who's whom whose why why's will with won't
would wouldn't yes you you'd you'll you're you've your yours yourself yourselves know known use
used using does kind type thing things way ways lot time times mention mentioned remember remind
currently recently ago wondering
"""
_GERMAN = """
aber als am an auch auf aus bei bin bis das dass dein deine dem den der des dich die dies diese
dieser dieses dir doch du durch ein eine einem einen einer eines er es für gegen habe haben hat
hatte hatten ich ihr im in ist ja kann kannst man mein meine meinem meinen meiner mich mir mit
nach nicht noch nur oder ohne schon sehr sein seine sich sie sind so und uns unser unsere unter
vom von vor wann war waren warum was weil welche welchem welchen welcher welches wenn wer werden
wie wieder wir wird wo wohin wurde zu zum zur über
"""
_FRENCH = """
à ai as au aussi aux avait avec avez avoir avons ce ces cet cette comme comment dans de des du
elle elles en est et été être eu eux il ils je la le les leur leurs lui là ma mais me mes moi
mon même ne nos notre nous on ont ou où par pas plus pour pourquoi qu quand que quel quelle
quelles quels qui quoi sa sans se ses si son sont sur ta te tes toi ton tu un une vos votre vous
y était étaient
"""
_SPANISH = """
al algo ante antes aquí así aún cada como con cual cuales cuando cuándo cuál cuáles cómo de del
desde donde dónde dos el él ella ellas ellos en entre era es esa ese eso esta está estaba están
este esto estos fue ha había hace han hasta hay he la las le les lo los mas más me mi mis muy
nada ni no nos nosotros nuestra nuestro o otra otro para pero por porque qué que quien quién se
sea ser si sí sin sobre son su sus también te tiene todo tu tus un una uno unos usted y ya yo
"""
_RUSSIAN = """
а без более бы был была были было быть в вам вас ваш весь во вот все всё вы где да даже для до
его ее её если есть ещё еще же за здесь и из или им их к как какая какие какой когда кого
который кто ли либо меня мне может мой моя мои мы на над наш не него нее неё нет ни них но ну о
об он она они оно от очень по под после при про с сам свой себя со так также такой там тебя тем
то того тоже той только том ты у уже чего чей чем что чтобы эта эти это этот я
"""
_ARABIC = """
في من على إلى الى عن مع هذا هذه ذلك تلك التي الذي الذين ما ماذا متى أين اين كيف لماذا هل كم أي
اي أن ان إن كان كانت يكون هو هي هم نحن أنا انا أنت انت لا لم لن قد كل بعد قبل ثم أو او و يا عند
لكن
"""
_CHINESE = """
的 了 吗 呢 吧 我 你 他 她 它 们 是 在 有 和 就 不 都 也 很 这 那
什么 为什 怎么 哪里 哪个 哪种 哪些 哪天 哪次 我们 你们 他们 多少 这个 那个 这种 那种 那次 那块 那边 一下 来着 是什 是啥 有没 没有
是不 要不 能不 当初 时候
"""
# Of pairs of characters, those with one of these stand across two words.
_CHINESE_PARTICLES = frozenset("的了吗呢吧么们着啊呀嘛")
_JAPANESE = """
の は が を に で と も へ から まで です ます した する いる ある
この その あの どの 何 どこ いつ
"""

_BY_LANGUAGE: dict[str, frozenset[str]] = {
    "en": frozenset(_ENGLISH.split()),
    "de": frozenset(_GERMAN.split()),
    "fr": frozenset(_FRENCH.split()),
    "es": frozenset(_SPANISH.split()),
    "ru": frozenset(_RUSSIAN.split()),
    "ar": frozenset(_ARABIC.split()),
    "zh": frozenset(_CHINESE.split()),
    "ja": frozenset(_JAPANESE.split()),
}
_LANGUAGES_OF = {
    word: tuple(name for name, silent in _BY_LANGUAGE.items() if word in silent)
    for word in frozenset().union(*_BY_LANGUAGE.values())
}


def language_of(words: Collection[str]) -> str:
    """The language with most of its stop words among `words`; English when in doubt."""
    counts = dict.fromkeys(_BY_LANGUAGE, 0)
    for word in words:
        for name in _LANGUAGES_OF.get(word, ()):
            counts[name] += 1
    return max(counts, key=counts.__getitem__)


def tells_nothing(pair: str) -> bool:
    """Whether a pair of Chinese or Japanese characters is a stop word, or a piece of two words.

    A cue without blanks has no words by which its language could be known.
    """
    silent = pair in _BY_LANGUAGE["zh"] or pair in _BY_LANGUAGE["ja"]
    return silent or not _CHINESE_PARTICLES.isdisjoint(pair)


def stop_words(words: Collection[str], language: str | None = None) -> frozenset[str]:
    """The stop words of the language that `words` are in, or of the one given.

    Only of that one: German "war" and French "pour" are words that matter in an English cue.
    """
    if language not in _BY_LANGUAGE:
        language = language_of(words)
    return _BY_LANGUAGE[language]
