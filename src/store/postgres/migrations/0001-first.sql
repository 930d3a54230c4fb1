-- The first schema. Rows are stored as JSON text. jsonb rejects \u0000 and lone surrogates, and
-- reorders members. Separate columns, computed by columns.ts, serve look-ups; unique keys are
-- hashed. Text is compared bytewise, like ids and keys everywhere. Times are Unix epoch
-- milliseconds.
-- Columns that changes look up only by equality have hash indexes. PostgreSQL detects conflicts per
-- index page, and a B-tree puts related keys on the same page.

-- The server's secret, shared by all instances: one row.
CREATE TABLE signage.server (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  secret text NOT NULL
);

-- Locked in shared mode by every change. A change with too many conflicts locks it exclusively
-- (writer.ts).
CREATE TABLE signage.turn ();

CREATE TABLE signage.tenants (
  id text COLLATE "C" PRIMARY KEY,
  row text NOT NULL,
  key_name text COLLATE "C" UNIQUE,
  folded text COLLATE "C"
);

CREATE TABLE signage.tokens (
  id text COLLATE "C" PRIMARY KEY,
  row text NOT NULL,
  key_name text COLLATE "C" UNIQUE,
  key_hash text COLLATE "C" UNIQUE,
  tenant_id text COLLATE "C",
  role text COLLATE "C",
  folded text COLLATE "C"
);
CREATE INDEX ON signage.tokens (tenant_id, id);
CREATE INDEX ON signage.tokens USING hash (role);

CREATE TABLE signage.venues (
  id text COLLATE "C" PRIMARY KEY,
  row text NOT NULL,
  key_name text COLLATE "C" UNIQUE,
  tenant_id text COLLATE "C",
  folded text COLLATE "C",
  labels jsonb
);
CREATE INDEX ON signage.venues (tenant_id, id);
CREATE INDEX ON signage.venues USING gin (labels jsonb_path_ops);

CREATE TABLE signage.screens (
  id text COLLATE "C" PRIMARY KEY,
  row text NOT NULL,
  key_name text COLLATE "C" UNIQUE,
  tenant_id text COLLATE "C",
  venue_id text COLLATE "C",
  folded text COLLATE "C",
  labels jsonb,
  state text COLLATE "C"
);
CREATE INDEX ON signage.screens (tenant_id, state, id);
CREATE INDEX ON signage.screens (tenant_id, id);
CREATE INDEX ON signage.screens (venue_id, id);
CREATE INDEX ON signage.screens USING gin (labels jsonb_path_ops);

CREATE TABLE signage.devices (
  id text COLLATE "C" PRIMARY KEY,
  row text NOT NULL,
  key_bound text COLLATE "C" UNIQUE,
  tenant_id text COLLATE "C",
  venue_id text COLLATE "C",
  screen_id text COLLATE "C",
  state text COLLATE "C"
);
CREATE INDEX ON signage.devices (tenant_id, state, id);
CREATE INDEX ON signage.devices (tenant_id, id);
CREATE INDEX ON signage.devices (venue_id, id);
CREATE INDEX ON signage.devices USING hash (screen_id);

CREATE TABLE signage.device_keys (
  id text COLLATE "C" PRIMARY KEY,
  row text NOT NULL,
  key_hash text COLLATE "C" UNIQUE,
  device_id text COLLATE "C",
  screen_id text COLLATE "C"
);
CREATE INDEX ON signage.device_keys USING hash (device_id);

CREATE TABLE signage.codes (
  id text COLLATE "C" PRIMARY KEY,
  row text NOT NULL,
  screen_id text COLLATE "C",
  finished_at bigint
);
CREATE INDEX ON signage.codes USING hash (screen_id);
CREATE INDEX ON signage.codes (finished_at);

CREATE TABLE signage.playlists (
  id text COLLATE "C" PRIMARY KEY,
  row text NOT NULL
);

CREATE TABLE signage.past_playlists (
  id text COLLATE "C" PRIMARY KEY,
  row text NOT NULL,
  screen_id text COLLATE "C"
);
CREATE INDEX ON signage.past_playlists USING hash (screen_id);

CREATE TABLE signage.configs (
  id text COLLATE "C" PRIMARY KEY,
  row text NOT NULL,
  sync_minutes double precision,
  heartbeat_minutes double precision
);

CREATE TABLE signage.mirror_pending (
  id text COLLATE "C" PRIMARY KEY,
  row text NOT NULL
);

CREATE TABLE signage.mirror_targets (
  id text COLLATE "C" PRIMARY KEY,
  row text NOT NULL
);

-- The audit trail. `tenant_id` is '' for entries that belong to no tenant.
CREATE TABLE signage.audit (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  subject_id text COLLATE "C",
  venue_ids text[] NOT NULL,
  entry text NOT NULL
);
CREATE INDEX ON signage.audit (tenant_id, seq);
CREATE INDEX ON signage.audit (subject_id, seq);
CREATE INDEX ON signage.audit (at);

-- The latest activity of devices and tokens, as JSON.
CREATE TABLE signage.marks (
  kind text COLLATE "C",
  id text COLLATE "C",
  marks text NOT NULL,
  last_seen_at bigint,
  PRIMARY KEY (kind, id)
) WITH (fillfactor = 70);

-- Guess counters: attempts with unknown codes, by source.
CREATE TABLE signage.attempts (
  source text COLLATE "C" PRIMARY KEY,
  state text NOT NULL,
  forget_at bigint NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX ON signage.attempts (forget_at);

-- Telemetry: one row per batch, partitioned by the UTC day of receipt. `body` holds the events as
-- sent, `types` the types of the events. `counts` holds the impressions by day (batch-counts.ts),
-- which are folded into the roll-ups.
CREATE TABLE signage.batches (
  received_at bigint NOT NULL,
  seq bigint NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  venue_id text COLLATE "C" NOT NULL,
  screen_id text COLLATE "C" NOT NULL,
  device_id text COLLATE "C" NOT NULL,
  types text[] NOT NULL,
  counts text,
  body text NOT NULL,
  PRIMARY KEY (received_at, seq)
) PARTITION BY RANGE (received_at);
CREATE INDEX ON signage.batches (tenant_id, received_at, seq);
CREATE INDEX ON signage.batches (screen_id, received_at, seq);
CREATE INDEX ON signage.batches (device_id, received_at, seq);

DO $$
BEGIN
  -- Five times as fast as the default, if the server supports it.
  IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
    ALTER TABLE signage.batches ALTER COLUMN body SET COMPRESSION lz4;
  END IF;
END $$;

-- The end of the log. An append locks this row until its commit, so batches of all instances become
-- visible in the order of their ids. A reader that has seen a batch can see all earlier ones.
CREATE TABLE signage.log_head (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  received_at bigint NOT NULL,
  seq bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO signage.log_head (received_at, seq) VALUES (0, 0);

-- The last idempotency keys of each device, numbered: hashes of the key and of the bytes sent.
CREATE TABLE signage.batch_keys (
  device_id text COLLATE "C",
  n bigint,
  key text COLLATE "C" NOT NULL,
  sent text COLLATE "C" NOT NULL,
  PRIMARY KEY (device_id, n),
  UNIQUE (device_id, key)
);

-- Daily impressions. `scope` is a tenant or a venue.
CREATE TABLE signage.rollups (
  scope text COLLATE "C",
  clock text COLLATE "C",
  grouped text COLLATE "C",
  day text COLLATE "C",
  key text COLLATE "C",
  impressions bigint NOT NULL,
  seconds double precision NOT NULL,
  PRIMARY KEY (scope, clock, grouped, day, key)
);

-- Position of the last batch folded into the roll-ups.
CREATE TABLE signage.rollup_mark (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  received_at bigint NOT NULL,
  seq bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO signage.rollup_mark (received_at, seq) VALUES (0, 0);

CREATE FUNCTION signage.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

CREATE FUNCTION signage.has_day(partition text) RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'signage'::regnamespace AND relname = partition)
$$;

-- Creates the partitions of some days. ATTACH does not wait for readers of the log, as CREATE TABLE
-- … PARTITION OF would.
CREATE FUNCTION signage.add_days(first_ms bigint, days integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  day bigint;
  partition text;
BEGIN
  FOR day IN SELECT generate_series(first_ms / 86400000, first_ms / 86400000 + days - 1) LOOP
    partition := 'batches_' || to_char(to_timestamp(day * 86400) AT TIME ZONE 'UTC', 'YYYYMMDD');
    CONTINUE WHEN signage.has_day(partition);
    PERFORM pg_advisory_xact_lock(hashtext('signage.add_days'));
    CONTINUE WHEN signage.has_day(partition);
    EXECUTE format('CREATE TABLE signage.%I (LIKE signage.batches INCLUDING ALL)', partition);
    EXECUTE format(
      'ALTER TABLE signage.batches ATTACH PARTITION signage.%I FOR VALUES FROM (%s) TO (%s)',
      partition, day * 86400000, (day + 1) * 86400000
    );
  END LOOP;
END $$;

-- Stores batches, given as one JSON head per batch and one body per line. Returns an outcome for
-- each, in order: `stored`, `repeated` (known key, same bytes) or `reused` (known key, other
-- bytes). `store_ms` is the time of receipt. Default: the database's time. The time never goes
-- back.
CREATE FUNCTION signage.append_batches(heads text, bodies text, store_ms bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  body text[] := string_to_array(bodies, E'\n');
  place integer := 0;
  head record;
  number bigint;
  last_seq bigint;
  at bigint;
  sent_before text;
  outcomes text[] := '{}';
BEGIN
  UPDATE signage.log_head SET received_at = greatest(received_at, coalesce(store_ms, signage.now_ms()))
    RETURNING received_at, seq INTO at, last_seq;
  FOR head IN SELECT * FROM json_to_recordset(heads::json) AS h (tenant text, venue text, screen text, device text, types text[], counts text, key text, sent text) LOOP
    place := place + 1;
    IF head.key IS NOT NULL THEN
      SELECT k.sent INTO sent_before FROM signage.batch_keys k WHERE k.device_id = head.device AND k.key = head.key;
      IF FOUND THEN
        outcomes := outcomes || CASE WHEN sent_before = head.sent THEN 'repeated' ELSE 'reused' END;
        CONTINUE;
      END IF;
      INSERT INTO signage.batch_keys (device_id, n, key, sent)
        SELECT head.device, coalesce(max(k.n), 0) + 1, head.key, head.sent FROM signage.batch_keys k WHERE k.device_id = head.device
        RETURNING n INTO number;
      DELETE FROM signage.batch_keys k WHERE k.device_id = head.device AND k.n <= number - 128;
    END IF;
    last_seq := last_seq + 1;
    INSERT INTO signage.batches (received_at, seq, tenant_id, venue_id, screen_id, device_id, types, counts, body)
      VALUES (at, last_seq, head.tenant, head.venue, head.screen, head.device, head.types, head.counts, body[place]);
    outcomes := outcomes || 'stored'::text;
  END LOOP;
  UPDATE signage.log_head SET seq = last_seq;
  RETURN array_to_string(outcomes, ',');
END $$;
