-- Tokens of the service. The secret itself is nowhere: a hash is enough to know it again.
CREATE TABLE token (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    name       TEXT,
    kind       TEXT NOT NULL CHECK (kind IN ('bearer', 'login')),
    scope      TEXT NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    project    TEXT,
    hash       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    ended_at   INTEGER
) STRICT;
