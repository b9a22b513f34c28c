"""The tables, and the steps that bring an older file up to date. Steps are only ever added."""

import secrets

import apsw

from iai_mcp.adapters.sqlite.sleep_schema import SLEEP
from iai_mcp.domain.errors import StoreTooNew

# `memories.key` is arrival order and is never reused (AUTOINCREMENT): indexes outside the
# table name memories by it. `ts` is the time as it was given; `at` the same in microseconds.
_FIRST = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE projects (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    private INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE memories (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    session TEXT NOT NULL,
    project INTEGER REFERENCES projects (id),
    role TEXT NOT NULL,
    tier TEXT NOT NULL,
    ts TEXT NOT NULL,
    speaker TEXT NOT NULL,
    host TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    branch TEXT NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER,
    successor INTEGER,
    pinned INTEGER NOT NULL DEFAULT 0,
    cue TEXT NOT NULL,
    meta TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX memories_by_session ON memories (session, at, key);
CREATE INDEX memories_by_project ON memories (project, at, key);
CREATE INDEX memories_by_time ON memories (at, key);
CREATE INDEX memories_by_successor ON memories (successor) WHERE successor IS NOT NULL;

CREATE VIRTUAL TABLE words USING fts5 (
    body, content = '', contentless_delete = 1,
    tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TABLE spaces (id INTEGER PRIMARY KEY, model TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL);
CREATE TABLE vectors (
    key INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
    space INTEGER NOT NULL REFERENCES spaces (id),
    scale REAL NOT NULL,
    code BLOB NOT NULL
);
CREATE TABLE pending_vectors (key INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE);

CREATE TABLE links (
    a INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    b INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    weight REAL NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (a, b, kind)
) WITHOUT ROWID;
CREATE INDEX links_backwards ON links (b, kind);

CREATE TABLE tombstones (id BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE events (key INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL);
CREATE INDEX events_by_kind ON events (kind, at);
"""

# What recall measures beside words and the turn's vector. `passages` holds, per memory, one int8
# row and scale per vector: topics of standing wishes, passages, and the turn in its context.
_PASSAGES = """
CREATE TABLE traits (
    key INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    length INTEGER NOT NULL,
    flags INTEGER NOT NULL
);
CREATE INDEX traits_by_version ON traits (version);
INSERT INTO traits SELECT key, 0, 20, 0 FROM memories;
CREATE TABLE passages (
    key INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
    space INTEGER NOT NULL REFERENCES spaces (id),
    topics INTEGER NOT NULL,
    context INTEGER NOT NULL,
    scales BLOB NOT NULL,
    codes BLOB NOT NULL
);
CREATE INDEX passages_with_topics ON passages (space, key) WHERE topics > 0;
CREATE VIRTUAL TABLE word_places USING fts5vocab (words, instance);
CREATE VIRTUAL TABLE word_counts USING fts5vocab (words, row);
INSERT OR IGNORE INTO pending_vectors SELECT key FROM memories;
"""

# What was forgotten and may still stand in copies of the store.
_UNREACHED = """
CREATE TABLE unreached (id BLOB PRIMARY KEY) WITHOUT ROWID;
"""

# What words mean, so that one can stand in for another: nearness holds both ways, so each pair is
# there twice. An id is never reused: vectors in memory are known by it.
_WORD_VECTORS = """
CREATE TABLE word_vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces (id),
    token TEXT NOT NULL,
    scale REAL NOT NULL,
    code BLOB NOT NULL,
    UNIQUE (space, token)
);
CREATE TABLE word_pairs (
    a INTEGER NOT NULL REFERENCES word_vectors (id) ON DELETE CASCADE,
    b INTEGER NOT NULL REFERENCES word_vectors (id) ON DELETE CASCADE,
    cosine REAL NOT NULL,
    PRIMARY KEY (a, b)
) WITHOUT ROWID;
CREATE INDEX word_pairs_backwards ON word_pairs (b);
"""

STEPS: tuple[str, ...] = (_FIRST, _PASSAGES, SLEEP, _UNREACHED, _WORD_VECTORS)


def upgrade(db: apsw.Connection) -> None:
    """Bring the file up to this version, inside the caller's transaction.

    Raises:
        StoreTooNew: a newer iai-mcp wrote it.
    """
    version = int(db.pragma("user_version"))
    if version > len(STEPS):
        raise StoreTooNew(
            f"this store was written by a newer iai-mcp (format {version}, this one knows "
            f"{len(STEPS)}): upgrade iai-mcp; nothing was changed"
        )
    for number in range(version, len(STEPS)):
        db.execute(STEPS[number])
    if version == 0:
        db.execute("INSERT INTO meta VALUES ('salt', ?)", (secrets.token_bytes(32),))
    if version < len(STEPS):
        db.pragma("user_version", len(STEPS))
