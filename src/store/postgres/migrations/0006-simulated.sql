-- Batches of simulated devices. NULL: of others. Their impressions are folded into scopes of their
-- own (impression-counts.ts).
ALTER TABLE signage.batches ADD COLUMN simulated boolean;

-- As before, and with the new column.
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
  FOR head IN SELECT * FROM json_to_recordset(heads::json) AS h (tenant text, venue text, screen text, device text, simulated boolean, types text[], counts text, key text, sent text) LOOP
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
    INSERT INTO signage.batches (received_at, seq, tenant_id, venue_id, screen_id, device_id, simulated, types, counts, body)
      VALUES (at, last_seq, head.tenant, head.venue, head.screen, head.device, head.simulated, head.types, head.counts, body[place]);
    outcomes := outcomes || 'stored'::text;
  END LOOP;
  UPDATE signage.log_head SET seq = last_seq;
  RETURN array_to_string(outcomes, ',');
END $$;
