-- What ranking needs to know of packages, packed closer and fewer to a row: a row of candidate_page was
-- longer than a quarter of a leaf, so most of it was elsewhere and read twice. Its rows are moved here
-- before it goes.
CREATE TABLE candidate_sheet (
    session    INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    sheet      INTEGER NOT NULL,
    candidates BLOB NOT NULL,
    PRIMARY KEY (session, sheet)
) STRICT, WITHOUT ROWID;
