"""The tables of what agents did."""

# The further sessions that repeat it because they were forked, and, with `gone`, those that it was taken
# out of, so that it does not come back to them.
FORKED_WORK = """
CREATE TABLE IF NOT EXISTS further_work_sessions (
    key INTEGER NOT NULL REFERENCES work (key) ON DELETE CASCADE,
    session TEXT NOT NULL,
    gone INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (key, session)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS further_work_by_session ON further_work_sessions (session, key) WHERE gone = 0;
"""

# What served a prompt is looked for when that is forgotten.
WORK_BY_TURN = """
CREATE INDEX IF NOT EXISTS work_by_turn ON work (turn) WHERE turn IS NOT NULL;
"""

# `subject` is a command, or the path of an edit; `same` names all runs of one command. `output` and
# `details` are what an event's `work` holds beside that.
WORK = """
CREATE TABLE IF NOT EXISTS work (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    session TEXT NOT NULL,
    project INTEGER REFERENCES projects (id),
    host TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    branch TEXT NOT NULL,
    kind INTEGER NOT NULL,
    turn BLOB,
    same BLOB,
    failed INTEGER NOT NULL,
    note TEXT NOT NULL,
    subject TEXT NOT NULL,
    output TEXT NOT NULL,
    details TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS work_by_session ON work (session, at, key);
CREATE INDEX IF NOT EXISTS work_by_project ON work (project, at, key);
CREATE INDEX IF NOT EXISTS work_by_time ON work (at, key);
CREATE INDEX IF NOT EXISTS work_by_same ON work (same) WHERE same IS NOT NULL;
CREATE VIRTUAL TABLE IF NOT EXISTS work_words USING fts5 (
    done, note, output, asked, content = '', contentless_delete = 1,
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TABLE IF NOT EXISTS work_errors (
    error BLOB NOT NULL,
    key INTEGER NOT NULL REFERENCES work (key) ON DELETE CASCADE,
    PRIMARY KEY (error, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS work_errors_by_key ON work_errors (key);
CREATE TABLE IF NOT EXISTS mendings (
    failure INTEGER PRIMARY KEY REFERENCES work (key) ON DELETE CASCADE,
    success INTEGER NOT NULL REFERENCES work (key) ON DELETE CASCADE,
    steps TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS mendings_by_success ON mendings (success);
"""
