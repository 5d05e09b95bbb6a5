-- The stories of a run that several runners share. One without an owner is free, unless it is closed.
CREATE TABLE run_story (
    run        INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    story      TEXT NOT NULL,
    closed     INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)),
    fence      INTEGER NOT NULL DEFAULT 0,
    owner      TEXT,
    expires_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, story)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_story_open ON run_story (run, position) WHERE closed = 0;
