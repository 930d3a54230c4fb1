-- Sequence numbers of the devices that number their events, and the clocks of TVs.
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

ALTER TABLE signage.batches ADD COLUMN offset_ms bigint;

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

-- As before, and with sequence numbers and the TV's clock.
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
  FOR head IN SELECT * FROM json_to_recordset(heads::json) AS h (tenant text, venue text, screen text, device text, simulated boolean, device_time bigint, numbers json, types text[], counts text, key text, sent text) LOOP
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
    INSERT INTO signage.batches (received_at, seq, tenant_id, venue_id, screen_id, device_id, simulated, offset_ms, types, counts, body)
      VALUES (at, last_seq, head.tenant, head.venue, head.screen, head.device, head.simulated, at - head.device_time, head.types, head.counts, body[place]);
    IF head.numbers IS NOT NULL THEN
      PERFORM signage.add_numbers(head.device, head.numbers);
    END IF;
    outcomes := outcomes || 'stored'::text;
  END LOOP;
  UPDATE signage.log_head SET seq = last_seq;
  RETURN array_to_string(outcomes, ',');
END $$;

-- As before, and with sequence numbers.
CREATE OR REPLACE FUNCTION signage.delete_row(place text, row_id text) RETURNS void LANGUAGE plpgsql AS $$
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
