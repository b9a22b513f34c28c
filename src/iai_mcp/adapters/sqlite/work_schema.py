"""The tables of what agents did."""

# `subject` is a command, or the path of an edit; `same` names a command's runs, an edit's file.
# `output` and `details` are what `work` holds beside that. Words of the output count less.
WORK = """
CREATE TABLE work (
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
CREATE INDEX work_by_session ON work (session, at, key);
CREATE INDEX work_by_project ON work (project, at, key);
CREATE INDEX work_by_time ON work (at, key);
CREATE INDEX work_by_same ON work (same) WHERE same IS NOT NULL;
CREATE VIRTUAL TABLE work_words USING fts5 (
    done, note, output, asked, content = '', contentless_delete = 1,
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TABLE work_errors (
    error BLOB NOT NULL,
    key INTEGER NOT NULL REFERENCES work (key) ON DELETE CASCADE,
    PRIMARY KEY (error, key)
) WITHOUT ROWID;
CREATE INDEX work_errors_by_key ON work_errors (key);
CREATE TABLE mendings (
    failure INTEGER PRIMARY KEY REFERENCES work (key) ON DELETE CASCADE,
    success INTEGER NOT NULL REFERENCES work (key) ON DELETE CASCADE,
    steps TEXT NOT NULL
);
CREATE INDEX mendings_by_success ON mendings (success);
"""
