-- The hash chain over the audit trail (store/audit/audit-chain.ts). make_changes links the entries,
-- because it applies the changes of all instances one at a time. So entries of instances of the
-- previous version are linked, too. Entries have no links until an instance of this version has
-- started.

ALTER TABLE signage.audit ADD COLUMN writer text, ADD COLUMN link bigint, ADD COLUMN mac text;

-- The chain's key, derived from the secret: the inner and outer pads of HMAC. NULL until the next
-- start.
ALTER TABLE signage.server ADD COLUMN audit_inner bytea, ADD COLUMN audit_outer bytea;

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

CREATE FUNCTION signage.audit_mac(inner_pad bytea, outer_pad bytea, message text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN encode(sha256(outer_pad || sha256(inner_pad || convert_to(message, 'UTF8'))), 'hex');
END $$;

-- As in 0003, and links audit entries.
CREATE OR REPLACE FUNCTION signage.make_changes(changes text) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off AS $$
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
