-- Work of a run that other machines may do, and who would do some.
CREATE TABLE run_job (
    run        INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
    seq        INTEGER NOT NULL CHECK (seq >= 1),
    work       TEXT NOT NULL,
    taker      TEXT,
    expires_at INTEGER,
    result     TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_helper (
    run        INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
    helper     TEXT NOT NULL,
    slots      INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (run, helper)
) STRICT, WITHOUT ROWID;
