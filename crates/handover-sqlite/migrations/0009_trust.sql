-- How the trust in a solution came to be what it is: its value after every change.
CREATE TABLE error_trust (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    TEXT NOT NULL,
    hash       TEXT NOT NULL,
    confidence INTEGER NOT NULL CHECK (confidence BETWEEN 0 AND 1000),
    changed_at INTEGER NOT NULL,
    FOREIGN KEY (project, hash) REFERENCES error_pattern (project, hash) ON DELETE CASCADE
) STRICT;
CREATE INDEX error_trust_by_pattern ON error_trust (project, hash, id);

-- Of older patterns only the last value is known.
INSERT INTO error_trust (project, hash, confidence, changed_at)
    SELECT project, hash, confidence, last_seen FROM error_pattern ORDER BY project, hash;
