-- Optimistic concurrency control. An instance reads committed rows and records their versions. It
-- passes the versions to check and the writes to make_changes, which locks the table `turn`
-- exclusively, so changes are applied one at a time. Instances of the previous version lock the
-- table in shared mode, and are excluded meanwhile.

-- Returns the versions of the rows with one of the values in a column, except the rows `but`.
-- Static statements keep the plans of the most frequent look-ups cached.
CREATE FUNCTION signage.versions(place text, col text, vals text[], but text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  those text[];
BEGIN
  CASE place || '.' || col
    WHEN 'codes.id' THEN those := ARRAY(SELECT xmin::text || ctid::text FROM signage.codes WHERE id = ANY (vals) AND id <> ALL (but));
    WHEN 'codes.screen_id' THEN those := ARRAY(SELECT xmin::text || ctid::text FROM signage.codes WHERE screen_id = ANY (vals) AND id <> ALL (but));
    WHEN 'screens.id' THEN those := ARRAY(SELECT xmin::text || ctid::text FROM signage.screens WHERE id = ANY (vals) AND id <> ALL (but));
    WHEN 'screens.key_name' THEN those := ARRAY(SELECT xmin::text || ctid::text FROM signage.screens WHERE key_name = ANY (vals) AND id <> ALL (but));
    WHEN 'devices.id' THEN those := ARRAY(SELECT xmin::text || ctid::text FROM signage.devices WHERE id = ANY (vals) AND id <> ALL (but));
    WHEN 'devices.key_bound' THEN those := ARRAY(SELECT xmin::text || ctid::text FROM signage.devices WHERE key_bound = ANY (vals) AND id <> ALL (but));
    WHEN 'device_keys.id' THEN those := ARRAY(SELECT xmin::text || ctid::text FROM signage.device_keys WHERE id = ANY (vals) AND id <> ALL (but));
    WHEN 'device_keys.key_hash' THEN those := ARRAY(SELECT xmin::text || ctid::text FROM signage.device_keys WHERE key_hash = ANY (vals) AND id <> ALL (but));
    WHEN 'device_keys.device_id' THEN those := ARRAY(SELECT xmin::text || ctid::text FROM signage.device_keys WHERE device_id = ANY (vals) AND id <> ALL (but));
    WHEN 'configs.id' THEN those := ARRAY(SELECT xmin::text || ctid::text FROM signage.configs WHERE id = ANY (vals) AND id <> ALL (but));
    WHEN 'playlists.id' THEN those := ARRAY(SELECT xmin::text || ctid::text FROM signage.playlists WHERE id = ANY (vals) AND id <> ALL (but));
    WHEN 'venues.id' THEN those := ARRAY(SELECT xmin::text || ctid::text FROM signage.venues WHERE id = ANY (vals) AND id <> ALL (but));
    ELSE
      EXECUTE format('SELECT ARRAY(SELECT xmin::text || ctid::text FROM signage.%I WHERE %I = ANY ($1) AND id <> ALL ($2))', place, col)
        INTO those USING vals, but;
  END CASE;
  IF cardinality(those) < 2 THEN
    RETURN those[1];
  END IF;
  RETURN (SELECT string_agg(one, ',' ORDER BY one COLLATE "C") FROM unnest(those) AS one);
END $$;

CREATE FUNCTION signage.counted(place text, col text, vals text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  those text;
BEGIN
  EXECUTE format('SELECT count(*)::text FROM signage.%I WHERE %I = ANY ($1)', place, col) INTO those USING vals;
  RETURN those;
END $$;

CREATE FUNCTION signage.put_row(place text, columns json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  CASE place
    WHEN 'tenants' THEN
      INSERT INTO signage.tenants SELECT * FROM json_populate_record(NULL::signage.tenants, columns)
        ON CONFLICT (id) DO UPDATE SET (row, key_name, folded) = (excluded.row, excluded.key_name, excluded.folded);
    WHEN 'tokens' THEN
      INSERT INTO signage.tokens SELECT * FROM json_populate_record(NULL::signage.tokens, columns)
        ON CONFLICT (id) DO UPDATE SET (row, key_name, key_hash, tenant_id, role, folded)
          = (excluded.row, excluded.key_name, excluded.key_hash, excluded.tenant_id, excluded.role, excluded.folded);
    WHEN 'venues' THEN
      INSERT INTO signage.venues SELECT * FROM json_populate_record(NULL::signage.venues, columns)
        ON CONFLICT (id) DO UPDATE SET (row, key_name, tenant_id, folded, labels)
          = (excluded.row, excluded.key_name, excluded.tenant_id, excluded.folded, excluded.labels);
    WHEN 'screens' THEN
      INSERT INTO signage.screens SELECT * FROM json_populate_record(NULL::signage.screens, columns)
        ON CONFLICT (id) DO UPDATE SET (row, key_name, tenant_id, venue_id, folded, labels, state)
          = (excluded.row, excluded.key_name, excluded.tenant_id, excluded.venue_id, excluded.folded, excluded.labels, excluded.state);
    WHEN 'devices' THEN
      INSERT INTO signage.devices SELECT * FROM json_populate_record(NULL::signage.devices, columns)
        ON CONFLICT (id) DO UPDATE SET (row, key_bound, tenant_id, venue_id, screen_id, state)
          = (excluded.row, excluded.key_bound, excluded.tenant_id, excluded.venue_id, excluded.screen_id, excluded.state);
    WHEN 'device_keys' THEN
      INSERT INTO signage.device_keys SELECT * FROM json_populate_record(NULL::signage.device_keys, columns)
        ON CONFLICT (id) DO UPDATE SET (row, key_hash, device_id, screen_id)
          = (excluded.row, excluded.key_hash, excluded.device_id, excluded.screen_id);
    WHEN 'codes' THEN
      INSERT INTO signage.codes SELECT * FROM json_populate_record(NULL::signage.codes, columns)
        ON CONFLICT (id) DO UPDATE SET (row, screen_id, finished_at) = (excluded.row, excluded.screen_id, excluded.finished_at);
    WHEN 'playlists' THEN
      INSERT INTO signage.playlists SELECT * FROM json_populate_record(NULL::signage.playlists, columns)
        ON CONFLICT (id) DO UPDATE SET row = excluded.row;
    WHEN 'past_playlists' THEN
      INSERT INTO signage.past_playlists SELECT * FROM json_populate_record(NULL::signage.past_playlists, columns)
        ON CONFLICT (id) DO UPDATE SET (row, screen_id) = (excluded.row, excluded.screen_id);
    WHEN 'configs' THEN
      INSERT INTO signage.configs SELECT * FROM json_populate_record(NULL::signage.configs, columns)
        ON CONFLICT (id) DO UPDATE SET (row, sync_minutes, heartbeat_minutes) = (excluded.row, excluded.sync_minutes, excluded.heartbeat_minutes);
    WHEN 'mirror_pending' THEN
      INSERT INTO signage.mirror_pending SELECT * FROM json_populate_record(NULL::signage.mirror_pending, columns)
        ON CONFLICT (id) DO UPDATE SET row = excluded.row;
    WHEN 'mirror_targets' THEN
      INSERT INTO signage.mirror_targets SELECT * FROM json_populate_record(NULL::signage.mirror_targets, columns)
        ON CONFLICT (id) DO UPDATE SET row = excluded.row;
  END CASE;
END $$;

-- Deletes a row and the data that depend on it.
CREATE FUNCTION signage.delete_row(place text, row_id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('DELETE FROM signage.%I WHERE id = $1', place) USING row_id;
  IF place = 'devices' THEN
    DELETE FROM signage.batch_keys WHERE device_id = row_id;
    DELETE FROM signage.marks WHERE kind = 'device' AND id = row_id;
  ELSIF place = 'tokens' THEN
    DELETE FROM signage.marks WHERE kind = 'token' AND id = row_id;
  END IF;
END $$;

-- Applies changes: a JSON array of arrays of steps (change-steps.ts), one change at a time. Returns
-- the numbers, from 1, of changes with a failed check, which are not applied. Sequential scans are
-- disabled, because a plan cached while a table is empty is kept when the table grows.
CREATE FUNCTION signage.make_changes(changes text) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  step record;
  those text;
  clashed bigint[] := '{}';
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
        INSERT INTO signage.audit (at, tenant_id, action, subject_id, venue_ids, entry)
          SELECT at, tenant_id, action, subject_id, venue_ids, entry FROM json_populate_record(NULL::signage.audit, step.columns);
    END CASE;
  END LOOP;
  RETURN array_to_string(clashed, ',');
END $$;
