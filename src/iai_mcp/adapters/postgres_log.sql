-- The place of circles in a PostgreSQL database. An administrator may run this once; whoever may
-- create a schema has it run by `iai-mcp share create`. Everything in it is sealed by the devices.
CREATE SCHEMA IF NOT EXISTS iai_share;

CREATE TABLE IF NOT EXISTS iai_share.version (version integer PRIMARY KEY);

CREATE TABLE IF NOT EXISTS iai_share.records (
  circle text NOT NULL,
  device text NOT NULL,
  number bigint NOT NULL,
  sealed bytea NOT NULL,
  writer text NOT NULL DEFAULT current_user,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (circle, device, number)
);

CREATE TABLE IF NOT EXISTS iai_share.offers (
  circle text NOT NULL,
  name text NOT NULL,
  sealed bytea NOT NULL,
  PRIMARY KEY (circle, name)
);

-- A second fence behind the seals and signatures: nobody writes or removes what another role wrote.
ALTER TABLE iai_share.records ENABLE ROW LEVEL SECURITY;
ALTER TABLE iai_share.records FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS read_all ON iai_share.records;
CREATE POLICY read_all ON iai_share.records FOR SELECT USING (true);
DROP POLICY IF EXISTS add_own ON iai_share.records;
CREATE POLICY add_own ON iai_share.records FOR INSERT WITH CHECK (writer = current_user);
DROP POLICY IF EXISTS change_own ON iai_share.records;
CREATE POLICY change_own ON iai_share.records FOR UPDATE USING (writer = current_user) WITH CHECK (writer = current_user);
DROP POLICY IF EXISTS remove_own ON iai_share.records;
CREATE POLICY remove_own ON iai_share.records FOR DELETE USING (writer = current_user);

INSERT INTO iai_share.version VALUES (1) ON CONFLICT DO NOTHING;
