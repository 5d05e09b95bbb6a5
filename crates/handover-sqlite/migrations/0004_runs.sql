-- Runs, their journals, and the lock of each epic.
CREATE TABLE run (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    epic       TEXT NOT NULL,
    session    TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN
        ('running', 'interrupted', 'budget', 'environment', 'done', 'failed', 'blocked')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX run_by_time ON run (created_at DESC, key DESC);
CREATE INDEX run_by_epic ON run (epic, created_at DESC, key DESC);

CREATE TABLE run_journal (
    run        INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
    seq        INTEGER NOT NULL CHECK (seq >= 1),
    kind       TEXT NOT NULL CHECK (kind IN ('intent', 'result', 'note')),
    entry      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- The fence grows with every owner and is never reused; a lock without an owner is free.
CREATE TABLE epic_lock (
    epic       TEXT PRIMARY KEY,
    fence      INTEGER NOT NULL,
    owner      TEXT,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
