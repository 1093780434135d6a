-- The channel of the notices between nodes. Whoever may connect to the database may listen to any channel and send to it, so only
-- who may read this knows its name.
ALTER TABLE holdfast.meta ADD COLUMN channel text NOT NULL
  DEFAULT 'holdfast_' || replace(gen_random_uuid()::text, '-', '');
