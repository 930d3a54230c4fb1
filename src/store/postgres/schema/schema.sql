-- The schema. Increase the format below and in migrate.ts with each change.
-- Text is compared bytewise, like ids and keys everywhere. Times are Unix epoch milliseconds.

-- The format of this schema: one row.
CREATE TABLE signage.schema (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  format integer NOT NULL
);
INSERT INTO signage.schema (format) VALUES (8);

-- The server's secret, shared by all instances: one row.
CREATE TABLE signage.server (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  secret text NOT NULL,
  -- The audit chain's key, derived from the secret: the inner and outer pads of HMAC.
  audit_inner bytea,
  audit_outer bytea
);

-- Locked in shared mode by every change. A change with too many conflicts locks it exclusively
-- (writer.ts).
CREATE TABLE signage.turn ();

-- The tables of rows (store/sections.ts), with the statements that row-tables.ts created them with.
CREATE TABLE signage.row_tables (
  name text COLLATE "C" PRIMARY KEY,
  statements text NOT NULL
);

-- The audit trail. `tenant_id` is '' for entries that belong to no tenant.
CREATE TABLE signage.audit (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  subject_id text COLLATE "C",
  venue_ids text[] NOT NULL,
  entry text NOT NULL,
  writer text,
  link bigint,
  mac text
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
  -- Whether the device is simulated. NULL: no. The impressions of simulated devices are folded into
  -- scopes of their own (impression-counts.ts).
  simulated boolean,
  offset_ms bigint,
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

-- Daily impressions of batches of 0.1.0. `scope` is a tenant or a venue.
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

-- The hash chain over the audit trail (store/audit/audit-chain.ts). make_changes links the entries,
-- because it applies the changes of all instances one at a time.

-- The writer of the next link, and the signed head: one row.
CREATE TABLE signage.audit_chain (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  writer text,
  head_writer text,
  head_link bigint NOT NULL DEFAULT 0,
  head_mac text NOT NULL DEFAULT '',
  head_sig text
) WITH (fillfactor = 10);

-- The signed start after retention, and the gaps recorded by repairs, as JSON: one row.
CREATE TABLE signage.audit_bounds (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  bounds text NOT NULL
);

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

-- Sequence numbers of the devices that number their events.
CREATE TABLE signage.sequences (
  device_id text COLLATE "C" PRIMARY KEY,
  -- Numbers up to here are settled.
  floor bigint NOT NULL,
  -- How many numbers up to `floor` never arrived.
  missing bigint NOT NULL,
  conflicts bigint NOT NULL,
  -- Numbers above `floor` that arrived.
  received int8multirange NOT NULL
);

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

CREATE FUNCTION signage.size_of(numbers int8multirange) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(sum(upper(r) - lower(r)), 0)::bigint FROM unnest(numbers) AS r
$$;

-- Adds the numbers of a batch, as JSON: an array of pairs of the first and the last number of a
-- range.
-- `log_head` is locked, so no other batch changes the row. As in domain/events/sequence.ts.
CREATE FUNCTION signage.add_numbers(device text, numbers json) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  floor bigint := 0;
  missing bigint := 0;
  conflicts bigint := 0;
  received int8multirange := '{}';
  pair json;
  fresh int8multirange;
  oldest int8range;
BEGIN
  SELECT s.floor, s.missing, s.conflicts, s.received INTO floor, missing, conflicts, received
    FROM signage.sequences s WHERE s.device_id = device;
  IF NOT FOUND THEN
    floor := 0; missing := 0; conflicts := 0; received := '{}';
  END IF;
  FOR pair IN SELECT * FROM json_array_elements(numbers) LOOP
    CONTINUE WHEN (pair->>1)::bigint <= floor;
    fresh := int8multirange(int8range(greatest((pair->>0)::bigint, floor + 1), (pair->>1)::bigint, '[]'));
    conflicts := conflicts + signage.size_of(received * fresh);
    received := received + fresh;
  END LOOP;
  WHILE (SELECT count(*) FROM unnest(received)) > 100 LOOP
    SELECT r INTO oldest FROM unnest(received) AS r ORDER BY r LIMIT 1;
    missing := missing + lower(oldest) - floor - 1;
    floor := upper(oldest) - 1;
    received := received - int8multirange(oldest);
  END LOOP;
  INSERT INTO signage.sequences VALUES (device, floor, missing, conflicts, received)
    ON CONFLICT (device_id) DO UPDATE SET (floor, missing, conflicts, received)
      = (excluded.floor, excluded.missing, excluded.conflicts, excluded.received);
END $$;

-- Optimistic concurrency control. An instance reads committed rows and records their versions. It
-- passes the versions to check and the writes to make_changes, which locks the table `turn`
-- exclusively, so changes are applied one at a time. row-tables.ts creates the functions `versions`
-- and `put_row`.

CREATE FUNCTION signage.counted(place text, col text, vals text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  those text;
BEGIN
  EXECUTE format('SELECT count(*)::text FROM signage.%I WHERE %I = ANY ($1)', place, col) INTO those USING vals;
  RETURN those;
END $$;

-- Deletes a row and the data that depend on it.
CREATE FUNCTION signage.delete_row(place text, row_id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('DELETE FROM signage.%I WHERE id = $1', place) USING row_id;
  IF place = 'devices' THEN
    DELETE FROM signage.batch_keys WHERE device_id = row_id;
    DELETE FROM signage.sequences WHERE device_id = row_id;
    DELETE FROM signage.marks WHERE kind = 'device' AND id = row_id;
  ELSIF place = 'tokens' THEN
    DELETE FROM signage.marks WHERE kind = 'token' AND id = row_id;
  END IF;
END $$;

CREATE FUNCTION signage.audit_mac(inner_pad bytea, outer_pad bytea, message text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN encode(sha256(outer_pad || sha256(inner_pad || convert_to(message, 'UTF8'))), 'hex');
END $$;

-- Applies changes: a JSON array of arrays of steps (change-steps.ts), one change at a time. Returns
-- the numbers, from 1, of changes with a failed check, which are not applied. Sequential scans are
-- disabled, because a plan cached while a table is empty is kept when the table grows.
CREATE FUNCTION signage.make_changes(changes text) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  step record;
  those text;
  clashed bigint[] := '{}';
  asked boolean := false;
  -- The state of the chain: writer, last link and key. Without a writer, entries are not linked.
  writer_id text;
  head_by text;
  sig text;
  last_link bigint;
  last_mac text;
  inner_pad bytea;
  outer_pad bytea;
BEGIN
  -- A transaction-wide snapshot would not include rows committed while this waits.
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'changes are made in READ COMMITTED: set default_transaction_isolation back';
  END IF;
  LOCK TABLE signage.turn IN EXCLUSIVE MODE;
  FOR step IN
    SELECT c.n, s.* FROM json_array_elements(changes::json) WITH ORDINALITY AS c (steps, n),
      json_to_recordset(c.steps) AS s (what text, place text, col text, vals text[], but text[], seen text, columns json)
  LOOP
    CONTINUE WHEN step.n = ANY (clashed);
    CASE step.what
      WHEN 'seen' THEN
        those := signage.versions(step.place, step.col, step.vals, step.but);
        IF those IS DISTINCT FROM step.seen THEN
          clashed := clashed || step.n;
        END IF;
      WHEN 'counted' THEN
        those := signage.counted(step.place, step.col, step.vals);
        IF those IS DISTINCT FROM step.seen THEN
          clashed := clashed || step.n;
        END IF;
      WHEN 'put' THEN
        PERFORM signage.put_row(step.place, step.columns);
      WHEN 'delete' THEN
        PERFORM signage.delete_row(step.place, step.vals[1]);
      WHEN 'audit' THEN
        IF NOT asked THEN
          asked := true;
          SELECT c.writer, c.head_writer, c.head_link, c.head_mac, c.head_sig, s.audit_inner, s.audit_outer
            INTO writer_id, head_by, last_link, last_mac, sig, inner_pad, outer_pad
            FROM signage.audit_chain c, signage.server s WHERE c.one AND s.one AND s.audit_inner IS NOT NULL;
          -- A head with an invalid signature was modified from outside. Skipping one link number
          -- leaves a permanent, detectable gap.
          IF writer_id IS NOT NULL AND NOT (last_link = 0 AND sig IS NULL)
            AND sig IS DISTINCT FROM signage.audit_mac(inner_pad, outer_pad, concat_ws(E'\n', 'head', head_by, last_link, last_mac)) THEN
            last_link := last_link + 1;
            last_mac := '';
          END IF;
        END IF;
        IF writer_id IS NULL THEN
          last_link := NULL;
          last_mac := NULL;
        ELSE
          last_link := last_link + 1;
          last_mac := signage.audit_mac(inner_pad, outer_pad,
            concat_ws(E'\n', 'entry', writer_id, last_link, last_mac, step.columns ->> 'entry'));
        END IF;
        INSERT INTO signage.audit (at, tenant_id, action, subject_id, venue_ids, entry, writer, link, mac)
          SELECT at, tenant_id, action, subject_id, venue_ids, entry, writer_id, last_link, last_mac
            FROM json_populate_record(NULL::signage.audit, step.columns);
    END CASE;
  END LOOP;
  -- `WHERE one` uses the index. With sequential scans disabled, a plan that needs one is expensive,
  -- and is compiled each time.
  IF writer_id IS NOT NULL THEN
    UPDATE signage.audit_chain SET head_writer = writer_id, head_link = last_link, head_mac = last_mac,
      head_sig = signage.audit_mac(inner_pad, outer_pad, concat_ws(E'\n', 'head', writer_id, last_link, last_mac))
      WHERE one;
  END IF;
  RETURN array_to_string(clashed, ',');
END $$;
