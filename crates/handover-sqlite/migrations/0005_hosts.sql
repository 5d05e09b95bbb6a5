-- Agent programs whose hooks call us: which of their conversations is which session, which subagents
-- were given a brief, and which versions lose a prompt that a hook has rewritten.
CREATE TABLE host_binding (
    host         TEXT NOT NULL,
    host_session TEXT NOT NULL,
    session      INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (host, host_session)
) STRICT, WITHOUT ROWID;
CREATE INDEX host_binding_by_session ON host_binding (session);

CREATE TABLE ticket (
    receipt      TEXT PRIMARY KEY REFERENCES receipt (id) ON DELETE CASCADE,
    host         TEXT NOT NULL,
    host_session TEXT NOT NULL,
    agent_type   TEXT NOT NULL,
    task_hash    TEXT NOT NULL,
    way          TEXT NOT NULL CHECK (way IN ('rewrite', 'start')),
    agent        TEXT,
    asked        INTEGER NOT NULL DEFAULT 0,
    created_at   INTEGER NOT NULL,
    closed_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX ticket_open ON ticket (host, host_session, created_at, receipt) WHERE closed_at IS NULL;
CREATE INDEX ticket_by_agent ON ticket (agent) WHERE agent IS NOT NULL;

CREATE TABLE host_version (
    host           TEXT NOT NULL,
    version        TEXT NOT NULL,
    drops_rewrites INTEGER NOT NULL,
    seen_at        INTEGER NOT NULL,
    PRIMARY KEY (host, version)
) STRICT, WITHOUT ROWID;
