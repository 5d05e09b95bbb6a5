-- What many records at once cost. The feed gets its lines once per statement instead of once per row,
-- and cuts its tail as often.
DROP TRIGGER change_kept ON change;
CREATE OR REPLACE FUNCTION keep_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM change WHERE id <= (SELECT max(id) FROM made) - 10000;
    RETURN NULL;
END $$;
CREATE TRIGGER change_kept AFTER INSERT ON change REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION keep_changes();

DROP TRIGGER package_registered ON package;
DROP TRIGGER reasoning_recorded ON reasoning;
DROP TRIGGER event_logged ON event;
DROP TRIGGER receipt_made ON receipt;
DROP FUNCTION record_made();

-- The arguments: the kind of change, and the column that says more.
CREATE FUNCTION records_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'INSERT INTO change (kind, project, session, subject, detail, at)
         SELECT %L, s.project, s.id, m.id::text, m.%I, m.created_at
         FROM made m JOIN session s ON s.key = m.session ORDER BY m.id',
        TG_ARGV[0], TG_ARGV[1]);
    RETURN NULL;
END $$;
CREATE TRIGGER packages_registered AFTER INSERT ON package REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION records_made('package', 'kind');
CREATE TRIGGER reasoning_recorded AFTER INSERT ON reasoning REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION records_made('reasoning', 'phase');
CREATE TRIGGER events_logged AFTER INSERT ON event REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION records_made('event', 'type');
CREATE TRIGGER receipts_made AFTER INSERT ON receipt REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION records_made('receipt', 'state');

-- A file is looked up by its path whenever an agent opens one. By its hash: an index entry has a length
-- limit, a path does not.
CREATE INDEX package_by_path ON package (session, md5(path));
