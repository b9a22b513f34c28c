"""Which cues share no word with what answers them: words find nothing there, or only what misleads."""

from datetime import UTC, datetime

import apsw

from bench.quality.datasets import Conversation
from iai_mcp.domain.words import indexed
from iai_mcp.recall.query import parse_query


def sharing_none(talk: Conversation) -> frozenset[str]:
    """The ids of the questions none of whose telling words, in whatever form, stands in the evidence.

    Who speaks is no word of the cue: that is found by who spoke.
    """
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5 (body, tokenize = 'porter unicode61')")
    with db:
        rows = ((n, indexed(turn.text)) for n, turn in enumerate(talk.turns))
        db.executemany("INSERT INTO t (rowid, body) VALUES (?, ?)", rows)
    speakers = sorted({turn.speaker for turn in talk.turns} - {""})
    found: set[str] = set()
    for asked in talk.questions:
        query_of_cue = parse_query(asked.cue, now=datetime.now(UTC), speakers=speakers)
        terms = query_of_cue.wordings[0].terms
        query = " OR ".join(f'"{term}"' for term in terms)
        holding = {row[0] for row in db.execute("SELECT rowid FROM t WHERE t MATCH ?", (query,))}
        said = (talk.turns[row] for row in holding)
        if not asked.evidence & {turn.session if asked.by_session else turn.id for turn in said}:
            found.add(asked.id)
    return frozenset(found)
