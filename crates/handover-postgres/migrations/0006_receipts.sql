-- What a role got is found by state first: most receipts that were never handed over are not looked at.
DROP INDEX receipt_by_attempt;
CREATE INDEX receipt_by_attempt ON receipt
    (session, role, coalesce(group_id, ''), state, iteration, claimed_at);
