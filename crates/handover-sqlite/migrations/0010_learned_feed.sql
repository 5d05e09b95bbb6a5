-- What is learned is told too. It belongs to the project, so its changes have no session.
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
