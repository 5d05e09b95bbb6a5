-- What is learned is told too. It belongs to the project, so its changes have no session.
CREATE FUNCTION error_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' OR (OLD.occurrences, OLD.solved, OLD.confidence)
            <> (NEW.occurrences, NEW.solved, NEW.confidence) THEN
        INSERT INTO change (kind, project, session, subject, detail, at) VALUES
            ('error_pattern', NEW.project, '', NEW.hash,
             CASE NEW.solved WHEN 1 THEN 'solved' ELSE 'unsolved' END, NEW.last_seen);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER error_changed AFTER INSERT OR UPDATE ON error_pattern
    FOR EACH ROW EXECUTE FUNCTION error_changed();

CREATE FUNCTION strategy_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' OR OLD.helpfulness <> NEW.helpfulness THEN
        INSERT INTO change (kind, project, session, subject, detail, at) VALUES
            ('strategy', NEW.project, '', NEW.id, NEW.topic, NEW.last_seen);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER strategy_changed AFTER INSERT OR UPDATE OF helpfulness ON strategy
    FOR EACH ROW EXECUTE FUNCTION strategy_changed();
