-- The text index and what ranking needs to know of each package, packed: a hundred packages to a
-- row. A prompt is chosen among all packages of a session, and a row per package and word costs
-- more than everything else together. Pages are numbered by package id, see src/index/.
DROP TABLE package_posting;
DROP TABLE package_term;
DROP TABLE package_term_count;
DROP TABLE index_size;
DROP INDEX package_candidate;
ALTER TABLE package DROP COLUMN restricted;

-- The latest versions of a session, as ranking sees them.
CREATE TABLE candidate_page (
    session    INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    page       INTEGER NOT NULL,
    candidates BLOB NOT NULL,
    PRIMARY KEY (session, page)
) STRICT, WITHOUT ROWID;

-- Which terms a package has, made by handover-text.
CREATE TABLE package_terms (
    package INTEGER PRIMARY KEY REFERENCES package (id) ON DELETE CASCADE,
    terms   BLOB NOT NULL
) STRICT;

-- Which packages have a term; without the fresh ones.
CREATE TABLE posting_page (
    session  INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    term     TEXT NOT NULL,
    page     INTEGER NOT NULL,
    postings BLOB NOT NULL,
    PRIMARY KEY (session, term, page)
) STRICT, WITHOUT ROWID;

-- Packages whose terms are not in posting_page yet: many go there at once, since each has words all
-- over it.
CREATE TABLE fresh_package (
    session INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    package INTEGER NOT NULL REFERENCES package (id) ON DELETE CASCADE,
    PRIMARY KEY (session, package)
) STRICT, WITHOUT ROWID;
CREATE INDEX fresh_package_by_package ON fresh_package (package);

-- What a role got in an attempt, without reading its other receipts.
CREATE INDEX receipt_by_attempt ON receipt
    (session, role, iteration, ifnull(group_id, ''), state, claimed_at);
