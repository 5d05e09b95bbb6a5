-- What a receipt says about a whole prompt: what was trimmed, which parts are there and if not why,
-- and the text itself as the agent got it, without the task.
ALTER TABLE receipt ADD COLUMN trimmed TEXT NOT NULL DEFAULT '[]';
ALTER TABLE receipt ADD COLUMN provided TEXT NOT NULL
    DEFAULT '{"context":{"state":"present"},"specialization":{"state":"missing"}}';
ALTER TABLE receipt ADD COLUMN text TEXT;
