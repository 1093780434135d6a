-- How many tasks of which agents with a limit a node executes, as of its last claim or count: what claims of other nodes go by
-- while its lease holds.
ALTER TABLE holdfast.nodes ADD COLUMN executing jsonb NOT NULL DEFAULT '{}';
