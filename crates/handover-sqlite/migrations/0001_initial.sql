-- `sum` is the checksum over the other columns of a record, in their order in the archive; `record_sum` is a
-- function of Handover (src/sums.rs).

-- The integer key keeps the rows of other tables short.
CREATE TABLE session (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    project    TEXT NOT NULL,
    status     TEXT NOT NULL CHECK (status IN ('active', 'completed', 'failed')),
    metadata   TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER,
    sum INTEGER AS (record_sum(key, id, project, status, metadata, created_at, ended_at)) STORED
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
    sum INTEGER AS (record_sum(session, id, title, status, specializations, component, created_at)) STORED,
    PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE group_counter (
    session  INTEGER NOT NULL,
    group_id TEXT NOT NULL,
    name     TEXT NOT NULL,
    value    INTEGER NOT NULL,
    sum INTEGER AS (record_sum(session, group_id, name, value)) STORED,
    PRIMARY KEY (session, group_id, name),
    FOREIGN KEY (session, group_id) REFERENCES task_group (session, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- `superseded_by` is the inverse of `supersedes`, so that partial indexes can cover the latest versions
-- only; both are written in one transaction.
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
    created_at    INTEGER NOT NULL,
    trust         TEXT NOT NULL CHECK (trust IN ('outside', 'agent', 'project', 'person')),
    -- A retired package is in no index and in no brief.
    state         TEXT NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'retired')),
    reason        TEXT,
    sum INTEGER AS (record_sum(
        id, session, group_id, scope, kind, path, title, summary, files, producer, priority,
        iteration, version, supersedes, superseded_by, size_bytes, tokens, content_hash,
        created_at, trust, state, reason)) STORED
) STRICT;
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
    sum INTEGER AS (record_sum(package, role)) STORED,
    PRIMARY KEY (package, role)
) STRICT, WITHOUT ROWID;

-- In a table of its own so that listings do not read it.
CREATE TABLE package_body (
    package INTEGER PRIMARY KEY REFERENCES package (id) ON DELETE CASCADE,
    body    TEXT NOT NULL,
    sum INTEGER AS (record_sum(package, body)) STORED
) STRICT;

CREATE TABLE group_reference (
    session  INTEGER NOT NULL,
    group_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    package  INTEGER NOT NULL REFERENCES package (id) ON DELETE CASCADE,
    sum INTEGER AS (record_sum(session, group_id, position, package)) STORED,
    PRIMARY KEY (session, group_id, position),
    FOREIGN KEY (session, group_id) REFERENCES task_group (session, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX group_reference_by_package ON group_reference (package);

-- The text index over the latest versions, packed: many packages to a row, because an assembly reads
-- all candidates of a session and the postings of every word of the task. See src/index/.

-- What ranking needs to know about each package. Sheets are numbered by package id.
CREATE TABLE candidate_sheet (
    session    INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    sheet      INTEGER NOT NULL,
    candidates BLOB NOT NULL,
    sum INTEGER AS (record_sum(session, sheet, candidates)) STORED,
    PRIMARY KEY (session, sheet)
) STRICT, WITHOUT ROWID;

-- The distinct terms of a package, with their counts.
CREATE TABLE package_terms (
    package INTEGER PRIMARY KEY REFERENCES package (id) ON DELETE CASCADE,
    terms   BLOB NOT NULL,
    sum INTEGER AS (record_sum(package, terms)) STORED
) STRICT;

-- The packages that have a term, except the fresh ones. Pages are numbered by package id.
CREATE TABLE posting_page (
    session  INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    term     TEXT NOT NULL,
    page     INTEGER NOT NULL,
    postings BLOB NOT NULL,
    sum INTEGER AS (record_sum(session, term, page, postings)) STORED,
    PRIMARY KEY (session, term, page)
) STRICT, WITHOUT ROWID;

-- Packages whose terms are not in posting_page yet. They are merged in batches: the words of one package
-- are spread over the whole index, and those of many touch little more of it.
CREATE TABLE fresh_package (
    session INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    package INTEGER NOT NULL REFERENCES package (id) ON DELETE CASCADE,
    PRIMARY KEY (session, package)
) STRICT, WITHOUT ROWID;
CREATE INDEX fresh_package_by_package ON fresh_package (package);

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
    created_at  INTEGER NOT NULL,
    trust       TEXT NOT NULL CHECK (trust IN ('outside', 'agent', 'project', 'person')),
    sum INTEGER AS (record_sum(
        id, session, group_id, role, agent_id, iteration, phase, confidence, content, refs,
        created_at, trust)) STORED
) STRICT;
CREATE INDEX reasoning_by_time ON reasoning (session, created_at DESC, id DESC);

-- How agents ended. The newest verdict of a judge tells those who repair why work came back.
CREATE TABLE verdict (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session    INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    group_id   TEXT,
    role       TEXT NOT NULL,
    agent_id   TEXT,
    iteration  INTEGER NOT NULL,
    receipt    TEXT,
    verdict    TEXT NOT NULL,
    summary    TEXT,
    findings   TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    trust      TEXT NOT NULL CHECK (trust IN ('outside', 'agent', 'project', 'person')),
    sum INTEGER AS (record_sum(
        id, session, group_id, role, agent_id, iteration, receipt, verdict, summary, findings,
        created_at, trust)) STORED
) STRICT;
CREATE INDEX verdict_by_time ON verdict (session, created_at DESC, id DESC);

CREATE TABLE skill_output (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session    INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    skill      TEXT NOT NULL,
    role       TEXT,
    group_id   TEXT,
    iteration  INTEGER NOT NULL,
    output     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    sum INTEGER AS (record_sum(id, session, skill, role, group_id, iteration, output, created_at)) STORED
) STRICT;
CREATE UNIQUE INDEX skill_output_iteration ON skill_output
    (session, skill, ifnull(role, ''), ifnull(group_id, ''), iteration);
CREATE INDEX skill_output_by_time ON skill_output (session, skill, created_at DESC, id DESC);

-- Confidence is in thousandths, so that steps of 0.1 add up exactly.
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
    example     TEXT,
    -- The lowest class of everything that it was learned from.
    trust       TEXT NOT NULL CHECK (trust IN ('outside', 'agent', 'project', 'person')),
    state       TEXT NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'retired')),
    reason      TEXT,
    sum INTEGER AS (record_sum(
        project, hash, kind, message, hints, solved, confidence, occurrences, language,
        first_seen, last_seen, ttl_days, example, trust, state, reason)) STORED,
    PRIMARY KEY (project, hash)
) STRICT, WITHOUT ROWID;

-- The confidence of a pattern after every change, so that its history can be shown.
CREATE TABLE error_trust (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    TEXT NOT NULL,
    hash       TEXT NOT NULL,
    confidence INTEGER NOT NULL CHECK (confidence BETWEEN 0 AND 1000),
    changed_at INTEGER NOT NULL,
    sum INTEGER AS (record_sum(id, project, hash, confidence, changed_at)) STORED,
    FOREIGN KEY (project, hash) REFERENCES error_pattern (project, hash) ON DELETE CASCADE
) STRICT;
CREATE INDEX error_trust_by_pattern ON error_trust (project, hash, id);

CREATE TABLE error_solution (
    project   TEXT NOT NULL,
    hash      TEXT NOT NULL,
    solution  TEXT NOT NULL,
    uses      INTEGER NOT NULL,
    last_used INTEGER NOT NULL,
    sum INTEGER AS (record_sum(project, hash, solution, uses, last_used)) STORED,
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
    sum INTEGER AS (record_sum(id, project, hash, session, group_id, role, command, created_at)) STORED,
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
    last_seen   INTEGER NOT NULL,
    -- The lowest class of everything that it was extracted from.
    trust       TEXT NOT NULL CHECK (trust IN ('outside', 'agent', 'project', 'person')),
    state       TEXT NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'retired')),
    reason      TEXT,
    sum INTEGER AS (record_sum(
        id, project, topic, insight, helpfulness, language, framework, created_at, last_seen,
        trust, state, reason)) STORED
) STRICT, WITHOUT ROWID;
CREATE INDEX strategy_by_help ON strategy (project, helpfulness DESC, last_seen DESC, id);

-- The reasoning that an insight was extracted from. No foreign key: reasoning of a purged session must
-- not be counted a second time.
CREATE TABLE strategy_source (
    strategy  TEXT NOT NULL REFERENCES strategy (id) ON DELETE CASCADE,
    reasoning INTEGER NOT NULL,
    sum INTEGER AS (record_sum(strategy, reasoning)) STORED,
    PRIMARY KEY (strategy, reasoning)
) STRICT, WITHOUT ROWID;

-- What the project already knows. The number names a note in the index and is never reused.
CREATE TABLE note (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL,
    project    TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('doc', 'commit', 'conversation', 'memory', 'manual')),
    origin     TEXT NOT NULL,
    source     TEXT NOT NULL,
    title      TEXT NOT NULL,
    text       TEXT NOT NULL,
    trust      TEXT NOT NULL CHECK (trust IN ('outside', 'agent', 'project', 'person')),
    paths      TEXT NOT NULL,
    symbols    TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('live', 'stale', 'amended', 'retired')),
    reason     TEXT,
    hash       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    sum INTEGER AS (record_sum(
        key, id, project, kind, origin, source, title, text, trust, paths, symbols, state, reason,
        hash, created_at)) STORED
) STRICT;
CREATE UNIQUE INDEX note_by_id ON note (project, id);
CREATE INDEX note_by_source ON note (project, kind, source);
CREATE INDEX note_by_time ON note (project, created_at DESC, id);

-- The documents, commits, transcripts and foreign records that were learned, and what they were like.
CREATE TABLE note_unit (
    project     TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('doc', 'commit', 'conversation', 'memory', 'manual')),
    source      TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    learned_at  INTEGER NOT NULL,
    sum INTEGER AS (record_sum(project, kind, source, fingerprint, learned_at)) STORED,
    PRIMARY KEY (project, kind, source)
) STRICT, WITHOUT ROWID;

-- The text index over notes: the notes that have a term, by number. See src/index/notes.rs.
CREATE TABLE note_page (
    project  TEXT NOT NULL,
    term     TEXT NOT NULL,
    page     INTEGER NOT NULL,
    postings BLOB NOT NULL,
    sum INTEGER AS (record_sum(project, term, page, postings)) STORED,
    PRIMARY KEY (project, term, page)
) STRICT, WITHOUT ROWID;

-- How many notes are in the index, and when any of them changed.
CREATE TABLE note_index (
    project    TEXT PRIMARY KEY,
    notes      INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    sum INTEGER AS (record_sum(project, notes, changed_at)) STORED
) STRICT, WITHOUT ROWID;

-- What was changed by hand, and what it was before.
CREATE TABLE operation (
    id         TEXT PRIMARY KEY,
    project    TEXT NOT NULL,
    session    INTEGER REFERENCES session (key) ON DELETE CASCADE,
    action     TEXT NOT NULL CHECK (action IN ('retire', 'restore', 'expire', 'add', 'supersede',
        'confirm', 'reject', 'close', 'reopen', 'undo')),
    changes    TEXT NOT NULL,
    undoes     TEXT,
    trust      TEXT NOT NULL CHECK (trust IN ('outside', 'agent', 'project', 'person')),
    -- Through what, and with whose token.
    author     TEXT,
    created_at INTEGER NOT NULL,
    sum INTEGER AS (record_sum(id, project, session, action, changes, undoes, trust, author,
        created_at)) STORED
) STRICT, WITHOUT ROWID;
CREATE INDEX operation_by_time ON operation (project, created_at DESC, id DESC);
CREATE INDEX operation_by_session ON operation (session) WHERE session IS NOT NULL;

-- What people decided about replacements: the later statement amends the earlier one, or does not.
CREATE TABLE amendment (
    project      TEXT NOT NULL,
    earlier_kind TEXT NOT NULL CHECK (earlier_kind IN ('note', 'package')),
    earlier      TEXT NOT NULL,
    later_kind   TEXT NOT NULL CHECK (later_kind IN ('note', 'package')),
    later        TEXT NOT NULL,
    decision     TEXT NOT NULL CHECK (decision IN ('confirmed', 'rejected', 'open')),
    decided_at   INTEGER NOT NULL,
    sum INTEGER AS (record_sum(
        project, earlier_kind, earlier, later_kind, later, decision, decided_at)) STORED,
    PRIMARY KEY (project, earlier_kind, earlier, later_kind, later)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session    INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    group_id   TEXT,
    type       TEXT NOT NULL,
    payload    TEXT NOT NULL,
    key        TEXT,
    -- Keys are compared by hash, because the visible text has passed redaction.
    key_hash   TEXT,
    created_at INTEGER NOT NULL,
    sum INTEGER AS (record_sum(id, session, group_id, type, payload, key, key_hash, created_at)) STORED
) STRICT;
CREATE INDEX event_by_time ON event (session, created_at DESC, id DESC);
CREATE UNIQUE INDEX event_key ON event (session, type, ifnull(group_id, ''), key_hash)
    WHERE key_hash IS NOT NULL;

-- Receipts are long, so they have row numbers: in a table without them every comparison on the way to a
-- row reads the whole of another one.
CREATE TABLE receipt (
    id              TEXT PRIMARY KEY NOT NULL,
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
    -- Set while a delivery is in progress; until it ends, its packages count as consumed.
    claimed_at      INTEGER,
    delivered_at    INTEGER,
    confirmed_at    INTEGER,
    trimmed         TEXT NOT NULL,
    provided        TEXT NOT NULL,
    text            TEXT,
    task            TEXT,
    sum INTEGER AS (record_sum(
        id, session, group_id, role, iteration, model, tokenizer, zone, state, host, tokens,
        prompt_hash, sections, left_out, left_out_counts, redactions, failure, created_at,
        claimed_at, delivered_at, confirmed_at, trimmed, provided, text, task)) STORED
) STRICT;
CREATE INDEX receipt_by_time ON receipt (created_at DESC, id DESC);
CREATE INDEX receipt_by_session ON receipt (session, role, created_at DESC, id DESC);
-- Covers every question about what a role got.
CREATE INDEX receipt_by_attempt ON receipt
    (session, role, group_id, state, iteration, claimed_at, id);

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
    trust    TEXT NOT NULL CHECK (trust IN ('outside', 'agent', 'project', 'person')),
    flags    TEXT NOT NULL,
    stale    TEXT NOT NULL,
    -- What replaced it, if it was shown as outdated.
    outdated TEXT,
    -- What became of it, once its agent has ended.
    used     TEXT CHECK (used IN ('unused', 'echoed', 'named', 'opened')),
    sum INTEGER AS (record_sum(
        receipt, kind, item, position, version, form, score, terms, tokens, read_at, trust,
        flags, stale, outdated, used)) STORED,
    PRIMARY KEY (receipt, kind, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipt_item_by_item ON receipt_item (kind, item);

-- How often items were used of the times that an agent was seen to its end; derived from receipts. Both numbers are
-- faded to a time. An empty item is the whole kind.
CREATE TABLE item_use (
    project TEXT NOT NULL,
    kind    TEXT NOT NULL,
    item    TEXT NOT NULL,
    used    REAL NOT NULL,
    judged  REAL NOT NULL,
    at      INTEGER NOT NULL,
    sum INTEGER AS (record_sum(project, kind, item, used, judged, at)) STORED,
    PRIMARY KEY (project, kind, item)
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    epic       TEXT NOT NULL,
    session    TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN
        ('running', 'interrupted', 'budget', 'environment', 'done', 'failed', 'blocked')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    sum INTEGER AS (record_sum(key, id, epic, session, state, created_at, updated_at)) STORED
) STRICT;
CREATE INDEX run_by_time ON run (created_at DESC, key DESC);
CREATE INDEX run_by_epic ON run (epic, created_at DESC, key DESC);

CREATE TABLE run_journal (
    run        INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
    seq        INTEGER NOT NULL CHECK (seq >= 1),
    kind       TEXT NOT NULL CHECK (kind IN ('intent', 'result', 'note')),
    entry      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    sum INTEGER AS (record_sum(run, seq, kind, entry, created_at)) STORED,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- The fence increases with every owner and is never reused; a lock without an owner is free.
CREATE TABLE epic_lock (
    epic       TEXT PRIMARY KEY,
    fence      INTEGER NOT NULL,
    owner      TEXT,
    expires_at INTEGER NOT NULL,
    sum INTEGER AS (record_sum(epic, fence, owner, expires_at)) STORED
) STRICT, WITHOUT ROWID;

-- Hook hosts: which conversation belongs to which session, which subagents were briefed, and which host
-- versions drop a prompt that a hook has rewritten.
CREATE TABLE host_binding (
    host         TEXT NOT NULL,
    host_session TEXT NOT NULL,
    session      INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    created_at   INTEGER NOT NULL,
    sum INTEGER AS (record_sum(host, host_session, session, created_at)) STORED,
    PRIMARY KEY (host, host_session)
) STRICT, WITHOUT ROWID;
CREATE INDEX host_binding_by_session ON host_binding (session);

CREATE TABLE ticket (
    receipt      TEXT PRIMARY KEY REFERENCES receipt (id) ON DELETE CASCADE,
    host         TEXT NOT NULL,
    host_session TEXT NOT NULL,
    agent_type   TEXT NOT NULL,
    name         TEXT,
    tool_use     TEXT,
    task_hash    TEXT NOT NULL,
    task         TEXT,
    way          TEXT NOT NULL CHECK (way IN ('rewrite', 'start', 'hold_back')),
    agent        TEXT,
    asked        INTEGER NOT NULL DEFAULT 0,
    ending       TEXT,
    created_at   INTEGER NOT NULL,
    closed_at    INTEGER,
    sum INTEGER AS (record_sum(
        receipt, host, host_session, agent_type, name, tool_use, task_hash, task, way, agent, asked,
        ending, created_at, closed_at)) STORED
) STRICT, WITHOUT ROWID;
CREATE INDEX ticket_open ON ticket (host, host_session, created_at, receipt) WHERE closed_at IS NULL;
CREATE INDEX ticket_by_conversation ON ticket (host, host_session, created_at, receipt);
CREATE INDEX ticket_by_agent ON ticket (agent) WHERE agent IS NOT NULL;

CREATE TABLE host_version (
    host           TEXT NOT NULL,
    version        TEXT NOT NULL,
    drops_rewrites INTEGER NOT NULL,
    seen_at        INTEGER NOT NULL,
    sum INTEGER AS (record_sum(host, version, drops_rewrites, seen_at)) STORED,
    PRIMARY KEY (host, version)
) STRICT, WITHOUT ROWID;

-- Jobs of a run that other machines may take, and the helpers that offer to.
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

-- API tokens of the service, by the hash of their secret.
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
    ended_at   INTEGER,
    sum INTEGER AS (record_sum(
        key, id, name, kind, scope, project, hash, created_at, expires_at, ended_at)) STORED
) STRICT;

-- The change feed. Triggers write it in the transaction of the change, so ids follow the order of the
-- writes. Only the latest 10,000 are kept.
CREATE TABLE change (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    kind    TEXT NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail  TEXT NOT NULL,
    at      INTEGER NOT NULL
) STRICT;

CREATE TRIGGER change_kept AFTER INSERT ON change BEGIN
    DELETE FROM change WHERE id <= NEW.id - 10000;
END;

CREATE TRIGGER session_opened AFTER INSERT ON session BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    VALUES ('session', NEW.project, NEW.id, NEW.id, NEW.status, NEW.created_at);
END;

CREATE TRIGGER session_moved AFTER UPDATE OF status ON session
WHEN OLD.status <> NEW.status BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    VALUES ('session', NEW.project, NEW.id, NEW.id, NEW.status, ifnull(NEW.ended_at, OLD.ended_at));
END;

CREATE TRIGGER session_purged AFTER DELETE ON session BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    VALUES ('session', OLD.project, OLD.id, OLD.id, 'purged', ifnull(OLD.ended_at, OLD.created_at));
END;

CREATE TRIGGER package_registered AFTER INSERT ON package BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    SELECT 'package', project, id, NEW.id, NEW.kind, NEW.created_at
    FROM session WHERE key = NEW.session;
END;

CREATE TRIGGER reasoning_recorded AFTER INSERT ON reasoning BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    SELECT 'reasoning', project, id, NEW.id, NEW.phase, NEW.created_at
    FROM session WHERE key = NEW.session;
END;

CREATE TRIGGER event_logged AFTER INSERT ON event BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    SELECT 'event', project, id, NEW.id, NEW.type, NEW.created_at
    FROM session WHERE key = NEW.session;
END;

CREATE TRIGGER receipt_made AFTER INSERT ON receipt BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    SELECT 'receipt', project, id, NEW.id, NEW.state, NEW.created_at
    FROM session WHERE key = NEW.session;
END;

CREATE TRIGGER receipt_moved AFTER UPDATE OF state ON receipt
WHEN OLD.state <> NEW.state BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    SELECT 'receipt', project, id, NEW.id, NEW.state,
        ifnull(NEW.confirmed_at, ifnull(NEW.delivered_at, NEW.created_at))
    FROM session WHERE key = NEW.session;
END;

CREATE TRIGGER run_started AFTER INSERT ON run BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    SELECT 'run', project, id, NEW.id, NEW.state, NEW.created_at
    FROM session WHERE id = NEW.session;
END;

CREATE TRIGGER run_moved AFTER UPDATE OF state ON run
WHEN OLD.state <> NEW.state BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    SELECT 'run', project, id, NEW.id, NEW.state, NEW.updated_at
    FROM session WHERE id = NEW.session;
END;

CREATE TRIGGER journal_written AFTER INSERT ON run_journal BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    SELECT 'journal', s.project, s.id, r.id || '/' || NEW.seq, NEW.kind, NEW.created_at
    FROM run r JOIN session s ON s.id = r.session WHERE r.key = NEW.run;
END;

-- Errors, strategies and notes belong to the project, so their changes have no session.
CREATE TRIGGER error_met AFTER INSERT ON error_pattern BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    VALUES ('error_pattern', NEW.project, '', NEW.hash,
        CASE NEW.solved WHEN 1 THEN 'solved' ELSE 'unsolved' END, NEW.last_seen);
END;

CREATE TRIGGER error_moved AFTER UPDATE ON error_pattern
WHEN (OLD.occurrences, OLD.solved, OLD.confidence) <> (NEW.occurrences, NEW.solved, NEW.confidence) BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    VALUES ('error_pattern', NEW.project, '', NEW.hash,
        CASE NEW.solved WHEN 1 THEN 'solved' ELSE 'unsolved' END, NEW.last_seen);
END;

CREATE TRIGGER strategy_learned AFTER INSERT ON strategy BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    VALUES ('strategy', NEW.project, '', NEW.id, NEW.topic, NEW.last_seen);
END;

CREATE TRIGGER strategy_moved AFTER UPDATE OF helpfulness ON strategy
WHEN OLD.helpfulness <> NEW.helpfulness BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    VALUES ('strategy', NEW.project, '', NEW.id, NEW.topic, NEW.last_seen);
END;

-- Notes change by the thousand: one change for all that were written together.
CREATE TRIGGER notes_learned AFTER INSERT ON note_index BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    VALUES ('note', NEW.project, '', NEW.project, NEW.notes, NEW.changed_at);
END;

CREATE TRIGGER amendment_decided AFTER INSERT ON amendment BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    VALUES ('note', NEW.project, '', NEW.earlier, NEW.decision, NEW.decided_at);
END;

CREATE TRIGGER amendment_changed AFTER UPDATE ON amendment BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    VALUES ('note', NEW.project, '', NEW.earlier, NEW.decision, NEW.decided_at);
END;

CREATE TRIGGER notes_moved AFTER UPDATE ON note_index BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    VALUES ('note', NEW.project, '', NEW.project, NEW.notes, NEW.changed_at);
END;

CREATE TRIGGER operation_logged AFTER INSERT ON operation BEGIN
    INSERT INTO change (kind, project, session, subject, detail, at)
    VALUES ('operation', NEW.project, ifnull((SELECT id FROM session WHERE key = NEW.session), ''),
        NEW.id, NEW.action, NEW.created_at);
END;
