-- Claims are counted by shard (claim-limits.ts). Waiting claims end: their TVs make new ones.
DROP TABLE signage.claims;
CREATE UNLOGGED TABLE signage.claims (
  id text COLLATE "C" PRIMARY KEY,
  row text NOT NULL,
  shard text COLLATE "C"
);
CREATE INDEX ON signage.claims (shard, id);

-- As before, and with the new column.
CREATE OR REPLACE FUNCTION signage.put_row(place text, columns json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  CASE place
    WHEN 'tenants' THEN
      INSERT INTO signage.tenants SELECT * FROM json_populate_record(NULL::signage.tenants, columns)
        ON CONFLICT (id) DO UPDATE SET (row, key_name, folded) = (excluded.row, excluded.key_name, excluded.folded);
    WHEN 'tokens' THEN
      INSERT INTO signage.tokens SELECT * FROM json_populate_record(NULL::signage.tokens, columns)
        ON CONFLICT (id) DO UPDATE SET (row, key_name, key_hash, key_retiring, tenant_id, role, folded)
          = (excluded.row, excluded.key_name, excluded.key_hash, excluded.key_retiring, excluded.tenant_id, excluded.role, excluded.folded);
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
    WHEN 'creations' THEN
      INSERT INTO signage.creations SELECT * FROM json_populate_record(NULL::signage.creations, columns)
        ON CONFLICT (id) DO UPDATE SET (row, key_request, token_id) = (excluded.row, excluded.key_request, excluded.token_id);
    WHEN 'claims' THEN
      INSERT INTO signage.claims SELECT * FROM json_populate_record(NULL::signage.claims, columns)
        ON CONFLICT (id) DO UPDATE SET (row, shard) = (excluded.row, excluded.shard);
  END CASE;
END $$;
