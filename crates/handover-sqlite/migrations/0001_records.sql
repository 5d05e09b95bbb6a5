-- Sessions. The integer key keeps the other tables and the terms of the text index short.
CREATE TABLE session (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    project    TEXT NOT NULL,
    status     TEXT NOT NULL CHECK (status IN ('active', 'completed', 'failed')),
    metadata   TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;
CREATE INDEX session_by_time ON session (created_at DESC, key DESC);
CREATE INDEX session_active ON session (created_at DESC, key DESC) WHERE status = 'active';

CREATE TABLE task_group (
    session         INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    id              TEXT NOT NULL,
    title           TEXT,
    status          TEXT NOT NULL DEFAULT 'pending' CHECK (status IN
        ('pending', 'in_progress', 'completed', 'failed', 'approved_pending_merge', 'merging')),
    specializations TEXT NOT NULL DEFAULT '[]',
    component       TEXT,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE group_counter (
    session  INTEGER NOT NULL,
    group_id TEXT NOT NULL,
    name     TEXT NOT NULL,
    value    INTEGER NOT NULL,
    PRIMARY KEY (session, group_id, name),
    FOREIGN KEY (session, group_id) REFERENCES task_group (session, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Packages. `superseded_by` repeats what `supersedes` says from the other side, so that the latest
-- versions have an index of their own; both are written in one transaction.
CREATE TABLE package (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    session       INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    group_id      TEXT,
    scope         TEXT NOT NULL CHECK (scope IN ('group', 'global')),
    kind          TEXT NOT NULL CHECK (kind IN
        ('research', 'failures', 'decisions', 'handoff', 'investigation')),
    path          TEXT NOT NULL,
    title         TEXT,
    summary       TEXT NOT NULL,
    files         TEXT NOT NULL,
    producer      TEXT NOT NULL,
    priority      TEXT NOT NULL CHECK (priority IN ('low', 'medium', 'high', 'critical')),
    iteration     INTEGER,
    version       INTEGER NOT NULL CHECK (version >= 1),
    supersedes    INTEGER UNIQUE REFERENCES package (id) DEFERRABLE INITIALLY DEFERRED,
    superseded_by INTEGER REFERENCES package (id) DEFERRABLE INITIALLY DEFERRED,
    size_bytes    INTEGER NOT NULL,
    tokens        INTEGER NOT NULL,
    content_hash  TEXT NOT NULL,
    -- Whether it is addressed to anybody; says in the index below what package_consumer says.
    restricted    INTEGER NOT NULL CHECK (restricted IN (0, 1)),
    created_at    INTEGER NOT NULL
) STRICT;
-- Everything that choosing packages for a prompt needs, so that their rows are not read.
CREATE INDEX package_candidate ON package
    (session, id, version, priority, group_id, scope, restricted, created_at)
    WHERE superseded_by IS NULL;
CREATE INDEX package_latest ON package (session, created_at DESC, id DESC)
    WHERE superseded_by IS NULL;
CREATE INDEX package_by_time ON package (session, created_at DESC, id DESC);
CREATE INDEX package_in_group ON package (session, ifnull(group_id, ''), created_at DESC, id DESC)
    WHERE superseded_by IS NULL;
CREATE UNIQUE INDEX package_identity ON package (session, ifnull(group_id, ''), kind, path)
    WHERE superseded_by IS NULL;
CREATE INDEX package_path ON package (session, path) WHERE superseded_by IS NULL;
CREATE INDEX package_superseded_by ON package (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE package_consumer (
    package INTEGER NOT NULL REFERENCES package (id) ON DELETE CASCADE,
    role    TEXT NOT NULL,
    PRIMARY KEY (package, role)
) STRICT, WITHOUT ROWID;

-- The registered text, apart from the row so that listings do not read it.
CREATE TABLE package_body (
    package INTEGER PRIMARY KEY REFERENCES package (id) ON DELETE CASCADE,
    body    TEXT NOT NULL
) STRICT;

CREATE TABLE group_reference (
    session  INTEGER NOT NULL,
    group_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    package  INTEGER NOT NULL REFERENCES package (id) ON DELETE CASCADE,
    PRIMARY KEY (session, group_id, position),
    FOREIGN KEY (session, group_id) REFERENCES task_group (session, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX group_reference_by_package ON group_reference (package);

-- The text index over latest versions. Terms are made by handover-text and carry the session's key
-- as a prefix, so that a search reads this session's postings and no others.
CREATE VIRTUAL TABLE package_term USING fts5 (
    title, summary, files, body, context,
    content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE package_posting USING fts5vocab (package_term, instance);

CREATE TABLE package_term_count (
    package INTEGER PRIMARY KEY REFERENCES package (id) ON DELETE CASCADE,
    title   INTEGER NOT NULL,
    summary INTEGER NOT NULL,
    files   INTEGER NOT NULL,
    body    INTEGER NOT NULL,
    context INTEGER NOT NULL
) STRICT;

-- Sums of package_term_count per session, kept by the writes that change them.
CREATE TABLE index_size (
    session  INTEGER PRIMARY KEY REFERENCES session (key) ON DELETE CASCADE,
    packages INTEGER NOT NULL,
    title    INTEGER NOT NULL,
    summary  INTEGER NOT NULL,
    files    INTEGER NOT NULL,
    body     INTEGER NOT NULL,
    context  INTEGER NOT NULL
) STRICT;

CREATE TABLE reasoning (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    session     INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    group_id    TEXT,
    role        TEXT NOT NULL,
    agent_id    TEXT,
    iteration   INTEGER NOT NULL,
    phase       TEXT NOT NULL CHECK (phase IN ('understanding', 'approach', 'decisions', 'risks',
        'blockers', 'pivot', 'completion')),
    confidence  TEXT CHECK (confidence IS NULL OR confidence IN ('high', 'medium', 'low')),
    content     TEXT NOT NULL,
    refs        TEXT NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX reasoning_by_time ON reasoning (session, created_at DESC, id DESC);

CREATE TABLE skill_output (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session    INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    skill      TEXT NOT NULL,
    role       TEXT,
    group_id   TEXT,
    iteration  INTEGER NOT NULL,
    output     TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX skill_output_iteration ON skill_output
    (session, skill, ifnull(role, ''), ifnull(group_id, ''), iteration);
CREATE INDEX skill_output_by_time ON skill_output (session, skill, created_at DESC, id DESC);

-- What the project learns. Confidence is in thousandths: steps must add up exactly.
CREATE TABLE error_pattern (
    project     TEXT NOT NULL,
    hash        TEXT NOT NULL,
    kind        TEXT NOT NULL,
    message     TEXT NOT NULL,
    hints       TEXT NOT NULL,
    solved      INTEGER NOT NULL DEFAULT 0 CHECK (solved IN (0, 1)),
    confidence  INTEGER NOT NULL CHECK (confidence BETWEEN 0 AND 1000),
    occurrences INTEGER NOT NULL CHECK (occurrences >= 1),
    language    TEXT,
    first_seen  INTEGER NOT NULL,
    last_seen   INTEGER NOT NULL,
    ttl_days    INTEGER NOT NULL CHECK (ttl_days > 0),
    PRIMARY KEY (project, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE error_solution (
    project   TEXT NOT NULL,
    hash      TEXT NOT NULL,
    solution  TEXT NOT NULL,
    uses      INTEGER NOT NULL,
    last_used INTEGER NOT NULL,
    PRIMARY KEY (project, hash, solution),
    FOREIGN KEY (project, hash) REFERENCES error_pattern (project, hash) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE error_incident (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    TEXT NOT NULL,
    hash       TEXT NOT NULL,
    session    INTEGER REFERENCES session (key) ON DELETE SET NULL,
    group_id   TEXT,
    role       TEXT,
    command    TEXT,
    created_at INTEGER NOT NULL,
    FOREIGN KEY (project, hash) REFERENCES error_pattern (project, hash) ON DELETE CASCADE
) STRICT;
CREATE INDEX error_incident_by_pattern ON error_incident (project, hash, created_at DESC, id DESC);
CREATE INDEX error_incident_by_session ON error_incident (session) WHERE session IS NOT NULL;

CREATE TABLE strategy (
    id          TEXT PRIMARY KEY,
    project     TEXT NOT NULL,
    topic       TEXT NOT NULL CHECK (topic IN ('implementation', 'architecture', 'methodology')),
    insight     TEXT NOT NULL,
    helpfulness INTEGER NOT NULL CHECK (helpfulness >= 0),
    language    TEXT,
    framework   TEXT,
    created_at  INTEGER NOT NULL,
    last_seen   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX strategy_by_help ON strategy (project, helpfulness DESC, last_seen DESC, id);

-- Where an insight came from. No foreign key: a purged session's reasoning must not count anew.
CREATE TABLE strategy_source (
    strategy  TEXT NOT NULL REFERENCES strategy (id) ON DELETE CASCADE,
    reasoning INTEGER NOT NULL,
    PRIMARY KEY (strategy, reasoning)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session    INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    group_id   TEXT,
    type       TEXT NOT NULL,
    payload    TEXT NOT NULL,
    key        TEXT,
    -- Keys are compared by their hash: what is shown of them has passed redaction.
    key_hash   TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX event_by_time ON event (session, created_at DESC, id DESC);
CREATE UNIQUE INDEX event_key ON event (session, type, ifnull(group_id, ''), key_hash)
    WHERE key_hash IS NOT NULL;

CREATE TABLE receipt (
    id              TEXT PRIMARY KEY,
    session         INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    group_id        TEXT,
    role            TEXT NOT NULL,
    iteration       INTEGER NOT NULL,
    model           TEXT,
    tokenizer       TEXT NOT NULL,
    zone            TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (state IN
        ('assembled', 'delivered', 'confirmed', 'failed')),
    host            TEXT,
    tokens          INTEGER NOT NULL,
    prompt_hash     TEXT NOT NULL,
    sections        TEXT NOT NULL,
    left_out        TEXT NOT NULL,
    left_out_counts TEXT NOT NULL,
    redactions      TEXT NOT NULL,
    failure         TEXT,
    created_at      INTEGER NOT NULL,
    -- Since when a delivery is under way: until it is done or given up, its packages are taken.
    claimed_at      INTEGER,
    delivered_at    INTEGER,
    confirmed_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX receipt_by_time ON receipt (created_at DESC, id DESC);
CREATE INDEX receipt_by_session ON receipt (session, role, created_at DESC, id DESC);

CREATE TABLE receipt_item (
    receipt  TEXT NOT NULL REFERENCES receipt (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    item     TEXT NOT NULL,
    version  INTEGER NOT NULL,
    form     TEXT NOT NULL,
    score    REAL NOT NULL,
    terms    TEXT NOT NULL,
    tokens   INTEGER NOT NULL,
    read_at  INTEGER,
    PRIMARY KEY (receipt, kind, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipt_item_by_item ON receipt_item (kind, item);

-- Who got which package in which version: delivery consumes, assembling does not.
CREATE VIEW consumption AS
SELECT r.session, r.group_id, r.role, r.iteration, CAST(i.item AS INTEGER) AS package, i.version,
       i.receipt, r.state, r.delivered_at, i.read_at
FROM receipt r JOIN receipt_item i ON i.receipt = r.id
WHERE i.kind = 'package' AND r.delivered_at IS NOT NULL AND r.state IN ('delivered', 'confirmed');
