-- What a database of 0.1.0 lacks besides the tables of rows.

-- `BatchSums.offsets` as JSON. NULL: a batch of 0.1.0. `counts` then has its impressions, else its
-- impressions and plays (plays.ts).
ALTER TABLE signage.batches ADD COLUMN IF NOT EXISTS offsets text;

-- The plays of a screen on one UTC day, counted from 1 January 1970. `place` has its venue, itself,
-- the local day and whether the device is simulated, `cells` the counts by number of the key.
CREATE TABLE IF NOT EXISTS signage.plays (
  clock text COLLATE "C",
  tenant_id text COLLATE "C",
  day integer,
  place text COLLATE "C",
  cells text NOT NULL,
  PRIMARY KEY (clock, tenant_id, day, place)
);

CREATE TABLE IF NOT EXISTS signage.play_keys (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  creative_id text COLLATE "C" NOT NULL,
  campaign_id text COLLATE "C" NOT NULL,
  entry_id text COLLATE "C" NOT NULL,
  UNIQUE (creative_id, campaign_id, entry_id)
);

-- Stores batches, given as one JSON head per batch and one body per line. Returns an outcome for
-- each, in order: `stored`, `repeated` (known key, same bytes) or `reused` (known key, other
-- bytes). `store_ms` is the time of receipt. Default: the database's time. The time never goes
-- back.
CREATE OR REPLACE FUNCTION signage.append_batches(heads text, bodies text, store_ms bigint) RETURNS text LANGUAGE plpgsql AS $$
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
  FOR head IN SELECT * FROM json_to_recordset(heads::json) AS h (tenant text, venue text, screen text, device text, simulated boolean, device_time bigint, numbers json, types text[], offsets text, counts text, key text, sent text) LOOP
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
    INSERT INTO signage.batches (received_at, seq, tenant_id, venue_id, screen_id, device_id, simulated, offset_ms, offsets, types, counts, body)
      VALUES (at, last_seq, head.tenant, head.venue, head.screen, head.device, head.simulated, at - head.device_time, head.offsets, head.types, head.counts, body[place]);
    IF head.numbers IS NOT NULL THEN
      PERFORM signage.add_numbers(head.device, head.numbers);
    END IF;
    outcomes := outcomes || 'stored'::text;
  END LOOP;
  UPDATE signage.log_head SET seq = last_seq;
  RETURN array_to_string(outcomes, ',');
END $$;
