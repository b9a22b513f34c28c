"""The tables of sleep. Everything in them is derived and goes with the memories it was derived from."""

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
