"""Memories that look real: what developers and agents say, seeded, with a long tail of words.

Words follow a Zipf-like distribution over a vocabulary of common words, technical words and made-up
identifiers, so that document frequencies, and so the cost of a lexical query, are like those of real
stores. Nothing here is anybody's data.
"""

import random
from collections.abc import Iterator

_COMMON = [
    "we",
    "the",
    "to",
    "and",
    "of",
    "in",
    "it",
    "is",
    "for",
    "on",
    "that",
    "with",
    "this",
    "be",
    "have",
    "not",
    "as",
    "you",
    "can",
    "are",
    "was",
    "but",
    "at",
    "if",
    "from",
    "will",
    "they",
    "should",
    "when",
    "there",
    "or",
    "one",
    "all",
    "do",
    "an",
    "so",
    "then",
    "now",
    "here",
    "what",
    "which",
    "need",
    "make",
    "use",
    "test",
    "fix",
    "add",
    "change",
    "run",
    "code",
    "file",
    "time",
    "error",
    "line",
    "call",
    "name",
    "set",
    "get",
    "new",
    "old",
    "first",
    "last",
    "next",
    "why",
    "how",
    "where",
]
_TECHNICAL = [
    "database",
    "index",
    "query",
    "migration",
    "schema",
    "deploy",
    "pipeline",
    "container",
    "socket",
    "thread",
    "lock",
    "cache",
    "queue",
    "worker",
    "token",
    "session",
    "cookie",
    "router",
    "handler",
    "parser",
    "lexer",
    "compiler",
    "linter",
    "formatter",
    "type",
    "interface",
    "protocol",
    "client",
    "server",
    "request",
    "response",
    "timeout",
    "retry",
    "backoff",
    "latency",
    "throughput",
    "memory",
    "leak",
    "garbage",
    "collector",
    "pointer",
    "buffer",
    "stream",
    "encoder",
    "decoder",
    "checksum",
    "signature",
    "certificate",
    "proxy",
    "gateway",
    "balancer",
    "shard",
    "replica",
    "leader",
    "follower",
    "quorum",
    "consensus",
    "snapshot",
    "journal",
    "ledger",
    "invoice",
    "customer",
    "order",
    "basket",
    "payment",
    "refund",
    "currency",
    "discount",
    "warehouse",
    "shipment",
    "tracking",
    "notification",
    "email",
    "template",
    "locale",
    "translation",
    "calendar",
    "reminder",
    "appointment",
    "chart",
    "dashboard",
    "report",
    "export",
    "import",
    "spreadsheet",
    "column",
    "row",
    "cell",
    "widget",
    "button",
    "dialog",
    "tooltip",
    "sidebar",
    "layout",
    "margin",
    "padding",
    "font",
    "colour",
    "theme",
    "icon",
    "avatar",
]
_SHAPES = (
    "{0} {1} {2} {3} {4} {5} {6} {7} {8}",
    "Please {0} the {1} so that {2} {3} {4} the {5} {6}.",
    "I {0} {1} in `{id}` because {2} {3} {4} {5}; {6} {7} now.",
    "The {0} {1} fails with {id}: {2} {3} {4}. We should {5} the {6} {7}.",
    "Done: {id} now {0} the {1} {2}, and the {3} {4} {5}. Next is the {6} {7} {8}.",
    "Why does the {0} {1} {2} when {3} {4}? It {5} {6} on {7}.",
)


class Corpus:
    """An endless supply of turns and cues, the same for the same seed."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        syllables = [
            "ka",
            "ro",
            "mi",
            "ten",
            "sol",
            "vex",
            "dra",
            "qui",
            "lo",
            "pra",
            "zen",
            "fu",
            "gar",
            "hil",
            "jo",
        ]
        self._rare = [
            "".join(self._random.choices(syllables, k=self._random.randint(2, 4)))
            for _ in range(20_000)
        ]

    def turns(
        self, count: int, session_length: int = 40
    ) -> Iterator[tuple[str, dict[str, object]]]:
        """(session id, event) pairs, in order of time."""
        for number in range(count):
            session, place = divmod(number, session_length)
            minute = number % 60
            event: dict[str, object] = {
                "id": f"t{number}",
                "role": "user" if place % 2 == 0 else "assistant",
                "ts": f"2026-{1 + number // 9000 % 9:02d}-{1 + number // 300 % 28:02d}T{number // 60 % 24:02d}:{minute:02d}:00Z",
                "text": self.text(),
            }
            yield f"session-{session}", event

    def text(self) -> str:
        return " ".join(self._sentence() for _ in range(self._random.randint(1, 5)))

    def cue(self) -> str:
        """A question that no other question equals."""
        words = [self._word() for _ in range(self._random.randint(4, 8))]
        return f"what did we say about {' '.join(words)} {self._random.choice(self._rare)}?"

    def _sentence(self) -> str:
        words = [self._word() for _ in range(9)]
        identity = "_".join(self._random.choices(self._rare, k=2))
        return self._random.choice(_SHAPES).format(*words, id=identity)

    def _word(self) -> str:
        luck = self._random.random()
        if luck < 0.55:
            return _COMMON[min(int(self._random.expovariate(0.08)), len(_COMMON) - 1)]
        if luck < 0.9:
            return _TECHNICAL[min(int(self._random.expovariate(0.03)), len(_TECHNICAL) - 1)]
        return self._random.choice(self._rare)
