-- Receipts are long. In a table without row numbers, each comparison on the way to one reads the whole of
-- another, and with thousands of them that took longer than everything else. The copy keeps the name, for
-- the view over it; nothing refers to it meanwhile, because foreign keys are off.
CREATE TABLE receipt_copy AS SELECT * FROM receipt;
DROP TABLE receipt;
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
    -- Since when a delivery is under way: until it is done or given up, its packages are taken.
    claimed_at      INTEGER,
    delivered_at    INTEGER,
    confirmed_at    INTEGER,
    trimmed         TEXT NOT NULL,
    provided        TEXT NOT NULL,
    text            TEXT
) STRICT;
INSERT INTO receipt SELECT * FROM receipt_copy ORDER BY created_at, id;
DROP TABLE receipt_copy;
CREATE INDEX receipt_by_time ON receipt (created_at DESC, id DESC);
CREATE INDEX receipt_by_session ON receipt (session, role, created_at DESC, id DESC);
-- All that is asked about what a role got, without the receipts themselves.
CREATE INDEX receipt_by_attempt ON receipt
    (session, role, group_id, state, iteration, claimed_at, id);

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
