"""The tables, and the steps that bring an older file up to date. Steps are only ever added."""

import secrets

import apsw

from iai_mcp.adapters.sqlite import belonging, held, packing, shared_tables
from iai_mcp.adapters.sqlite.work_schema import FORKED_WORK, WORK, WORK_BY_TURN
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

# The tables of sleep. Everything in them is derived and goes with the memories it was derived from.
# A derived memory is in no index: recall reaches it through its sources, so that it can neither
# push them out nor change how they score. Rows that hold words, or digests of words, hang on their
# memory by a foreign key: forgetting it takes them along.
SLEEP = """
ALTER TABLE memories ADD COLUMN derived INTEGER NOT NULL DEFAULT 0;
CREATE INDEX memories_derived ON memories (key) WHERE derived = 1;

CREATE TABLE sleep_steps (
    step TEXT PRIMARY KEY,
    cursor TEXT NOT NULL,
    done INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    micros INTEGER NOT NULL,
    counts TEXT NOT NULL,
    failed TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE derivations (
    key INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    home INTEGER NOT NULL
);
CREATE INDEX derivations_by_home ON derivations (kind, home);
CREATE TABLE sources (
    derived INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    source INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    PRIMARY KEY (derived, source)
) WITHOUT ROWID;
CREATE INDEX sources_backwards ON sources (source);

CREATE TABLE folds (
    key INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
    digest INTEGER NOT NULL,
    fold INTEGER
);
CREATE INDEX folds_by_digest ON folds (digest);
CREATE INDEX folds_by_fold ON folds (fold) WHERE fold IS NOT NULL;
CREATE TABLE fold_bands (
    band INTEGER NOT NULL,
    key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    PRIMARY KEY (band, key)
) WITHOUT ROWID;
CREATE INDEX fold_bands_by_key ON fold_bands (key);

CREATE TABLE windows (
    id INTEGER PRIMARY KEY,
    project INTEGER,
    size INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'changed'
);
CREATE INDEX windows_by_project ON windows (project, id);
CREATE INDEX windows_by_state ON windows (state, id) WHERE state <> 'written';
CREATE TABLE topic_members (
    key INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
    window INTEGER NOT NULL,
    topic INTEGER,
    ties INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX topic_members_by_window ON topic_members (window, topic);
CREATE INDEX topic_members_by_ties ON topic_members (ties) WHERE ties > 0;

CREATE TABLE suggestions (
    older INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    newer INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    reason TEXT NOT NULL,
    score REAL NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (older, newer)
) WITHOUT ROWID;
CREATE INDEX suggestions_by_newer ON suggestions (newer);

CREATE TABLE habits (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, changed INTEGER NOT NULL DEFAULT 1);
CREATE INDEX habits_changed ON habits (id) WHERE changed = 1;
CREATE TABLE observations (
    id INTEGER PRIMARY KEY,
    habit INTEGER NOT NULL REFERENCES habits (id) ON DELETE CASCADE,
    key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    terms TEXT NOT NULL,
    sentence TEXT NOT NULL
);
CREATE INDEX observations_by_habit ON observations (habit, id);
CREATE INDEX observations_by_key ON observations (key);

CREATE TABLE uses (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    weight INTEGER NOT NULL
);
CREATE INDEX uses_by_key ON uses (key);
CREATE TABLE strengths (
    key INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
    stability REAL NOT NULL,
    difficulty REAL NOT NULL,
    used_at INTEGER NOT NULL,
    strength REAL NOT NULL
);

CREATE TRIGGER forgotten_sources BEFORE DELETE ON memories WHEN OLD.derived = 0 BEGIN
    DELETE FROM memories WHERE key IN (SELECT derived FROM sources WHERE source = OLD.key);
END;
CREATE TRIGGER superseded_sources AFTER UPDATE OF valid_to ON memories
WHEN OLD.derived = 0 AND NEW.valid_to IS NOT OLD.valid_to BEGIN
    DELETE FROM memories WHERE key IN (SELECT derived FROM sources WHERE source = NEW.key);
    DELETE FROM suggestions WHERE older = NEW.key;
    UPDATE windows SET state = 'changed'
        WHERE id IN (SELECT window FROM topic_members WHERE key = NEW.key);
    UPDATE habits SET changed = 1
        WHERE id IN (SELECT habit FROM observations WHERE key = NEW.key);
END;
-- What holds in several projects is told in all of them: not what a private one had a share in.
CREATE TRIGGER project_closed AFTER UPDATE OF private ON projects WHEN NEW.private BEGIN
    DELETE FROM memories WHERE derived = 1 AND project IS NULL AND key IN (
        SELECT s.derived FROM sources AS s JOIN memories AS m ON m.key = s.source
        WHERE m.project = NEW.id);
    UPDATE habits SET changed = 1 WHERE id IN (
        SELECT o.habit FROM observations AS o JOIN memories AS m ON m.key = o.key
        WHERE m.project = NEW.id);
END;
CREATE TRIGGER member_gone AFTER DELETE ON topic_members BEGIN
    UPDATE windows SET state = 'changed' WHERE id = OLD.window;
END;
CREATE TRIGGER observation_gone AFTER DELETE ON observations BEGIN
    UPDATE habits SET changed = 1 WHERE id = OLD.habit;
    DELETE FROM habits WHERE id = OLD.habit
        AND NOT EXISTS (SELECT 1 FROM observations WHERE habit = OLD.habit);
END;
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

# Habits, digests, suggestions and strengths were inferred from what was said. They go; no memory does.
NO_INFERENCE = """
DROP TRIGGER IF EXISTS forgotten_sources;
DROP TRIGGER IF EXISTS superseded_sources;
DROP TRIGGER IF EXISTS project_closed;
DROP TRIGGER IF EXISTS observation_gone;
DELETE FROM memories WHERE derived = 1;
DROP TABLE IF EXISTS suggestions;
DROP TABLE IF EXISTS observations;
DROP TABLE IF EXISTS habits;
DROP TABLE IF EXISTS uses;
DROP TABLE IF EXISTS strengths;
DROP TABLE IF EXISTS sources;
DROP TABLE IF EXISTS derivations;
UPDATE windows SET state = 'written' WHERE state = 'grouped';
CREATE TRIGGER IF NOT EXISTS superseded_members AFTER UPDATE OF valid_to ON memories
WHEN NEW.valid_to IS NOT OLD.valid_to BEGIN
    UPDATE windows SET state = 'changed'
        WHERE id IN (SELECT window FROM topic_members WHERE key = NEW.key);
END;
"""

# What people pinned is told at every session's start, however old it is.
PINNED = "CREATE INDEX IF NOT EXISTS memories_pinned ON memories (at, key) WHERE pinned = 1;"

# Words that stood in for others were inferred from vectors of single words.
NO_WORD_VECTORS = """
DROP TABLE IF EXISTS word_pairs;
DROP TABLE IF EXISTS word_vectors;
"""

STEPS: tuple[str, ...] = (
    _FIRST,
    _PASSAGES,
    SLEEP,
    _UNREACHED,
    belonging.TABLES,
    _WORD_VECTORS,
    WORK,
    shared_tables.TABLES,
    packing.TABLES,
    FORKED_WORK,
    WORK_BY_TURN,
    held.TABLES,
    NO_INFERENCE,
    PINNED,
    shared_tables.CHAINS,
    NO_WORD_VECTORS,
)


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
