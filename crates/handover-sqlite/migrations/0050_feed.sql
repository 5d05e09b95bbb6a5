-- The feed: what listeners are told. Written with the change itself, so that a change which is seen has
-- a number, and numbers are given in the order of the writes. Only the latest are kept.
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
