-- The newest refused requests of TVs. Unlogged: a crash of the database may empty the table.
CREATE UNLOGGED TABLE signage.refused_requests (
  id text COLLATE "C" PRIMARY KEY,
  at bigint NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  venue_id text COLLATE "C" NOT NULL,
  screen_id text COLLATE "C" NOT NULL,
  device_id text COLLATE "C",
  request text NOT NULL
);
CREATE INDEX ON signage.refused_requests (tenant_id, id);
