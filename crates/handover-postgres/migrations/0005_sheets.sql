-- What ranking needs to know of packages, packed closer and fewer to a row. The rows of candidate_page are
-- moved here before it goes: whoever is writing there is waited for, and nobody begins.
LOCK TABLE candidate_page IN ACCESS EXCLUSIVE MODE;
CREATE TABLE candidate_sheet (
    session    BIGINT NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    sheet      BIGINT NOT NULL,
    candidates BYTEA NOT NULL,
    PRIMARY KEY (session, sheet)
);
