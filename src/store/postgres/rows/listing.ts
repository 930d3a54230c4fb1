import { foldName } from '../../../domain/fold-name.ts';
import { PageItems } from '../../../domain/page-items.ts';
import { defaultConfig } from '../../../domain/records/config.ts';
import type { Playlist } from '../../../domain/records/rows.ts';
import type { Selector } from '../../../domain/selector.ts';
import type { ListQuery, PastPlaylistQuery, PlaylistSummary, Slice } from '../../queries.ts';
import { hasMembersAndLabels } from '../../row-filter.ts';
import type { ListedTable, Rows } from '../../sections.ts';
import { Conditions, type Query } from '../connection/query.ts';
import {
  memberColumn,
  storableLabels,
  storableText,
  type TableSchema,
  tableSchema,
} from './columns.ts';
import { rowOf } from './row-reader.ts';

/**
 * Returns one page of a table. Filters without a column are applied to the fetched rows. So it may
 * fetch several pages until enough rows match.
 */
export async function listRows<T extends ListedTable>(
  query: Query,
  table: T,
  pageQuery: ListQuery<T>,
): Promise<Slice<Rows[T]>> {
  const page = new PageItems<Rows[T]>(pageQuery.limit);
  for (let after = pageQuery.after; ; ) {
    pageQuery.signal?.throwIfAborted();
    const { text, parameters } = pageStatement(tableSchema(table), pageQuery, after);
    const found = await query<{ row: string }>(text, parameters);
    for (const stored of found) {
      const row = rowOf<T>(stored);
      after = row.id;
      // The statement applies these filters only approximately, or not at all.
      if (!hasMembersAndLabels(row as unknown as Record<string, unknown>, pageQuery)) continue;
      if (!page.add(row, Buffer.byteLength(stored.row)))
        return { items: page.items, next: (page.items.at(-1) as Rows[T]).id };
    }
    if (found.length <= pageQuery.limit) return { items: page.items, next: null };
  }
}

/** Returns the summary of the newest playlist of each of these screens, in their order. */
export async function readPlaylistSummaries(
  query: Query,
  screenIds: readonly string[],
): Promise<(PlaylistSummary | undefined)[]> {
  const ids = screenIds.map(storableText);
  const found = await query<PlaylistSummary & { id: string }>(playlistSummaries, [ids]);
  const byId = new Map(found.map(({ id, ...summary }) => [id, summary]));
  return ids.map((id) => byId.get(id));
}

/** The database parses the rows. */
const playlistSummaries = `SELECT id, summary.* FROM signage.playlists,
  json_to_record(row::json) AS summary ("playlistId" text, version double precision, state text,
    "publishedAt" double precision, "validUntil" double precision, "hasMedia" boolean,
    "contentId" text, origin text)
  WHERE id = ANY ($1::text[])`;

/** Returns one page of a screen's past versions, newest first. */
export async function listPastPlaylists(
  query: Query,
  { screenId, below, limit }: PastPlaylistQuery,
): Promise<Slice<Playlist>> {
  const found = await query<{ row: string }>(pastPlaylists, [
    storableText(screenId),
    below,
    limit + 1,
  ]);
  const items = found.slice(0, limit).map((stored) => rowOf<'pastPlaylists'>(stored));
  return { items, next: found.length > limit ? String(items.at(-1)?.version) : null };
}

const pastPlaylists = `SELECT row FROM signage.past_playlists
  WHERE screen_id = $1 AND split_part(id, '/', 2)::bigint < $2::double precision
  ORDER BY split_part(id, '/', 2)::bigint DESC LIMIT $3`;

/** Returns the contents that neither newest versions nor layers name. */
export const supersededContents = (query: Query) => unnamedIn(query, 'contents', ['playlists']);

/** Returns the past contents that no version and no layers name. */
export const unnamedContents = (query: Query) =>
  unnamedIn(query, 'past_contents', ['playlists', 'past_playlists']);

/** Contents of entries and takeovers, and of switches, whose contents are among them. */
const namedByLayers = `SELECT jsonb_path_query(row::jsonb, 'strict $.**.contentId ? (@ != null)')
  #>> '{}' FROM signage.layers`;

async function unnamedIn(
  query: Query,
  contents: string,
  versions: readonly string[],
): Promise<string[]> {
  const isUnnamed = versions.map(
    (table) => `NOT EXISTS (SELECT FROM signage.${table} WHERE content_id = c.id)`,
  );
  const text = `SELECT id FROM signage.${contents} c WHERE ${isUnnamed.join(' AND ')}
    AND id NOT IN (${namedByLayers}) ORDER BY id`;
  return (await query<{ id: string }>(text, [])).map(({ id }) => id);
}

export async function endedRows(
  query: Query,
  table: 'pastInputs' | 'loops',
  timeMs: number,
): Promise<string[]> {
  const { name } = tableSchema(table);
  const text = `SELECT id FROM ${name} WHERE until < $1::double precision ORDER BY id`;
  return (await query<{ id: string }>(text, [timeMs])).map(({ id }) => id);
}

function pageStatement<T extends ListedTable>(
  shape: TableSchema,
  pageQuery: ListQuery<T>,
  after: string | undefined,
): { text: string; parameters: readonly unknown[] } {
  const { where = {}, labels = {}, selector, name, search, online } = pageQuery;
  const conditions = new Conditions();
  conditions.add('t.id > $', after && storableText(after));
  for (const [member, value] of Object.entries(where)) addMember(conditions, shape, member, value);
  if (Object.keys(labels).length > 0)
    conditions.add('t.labels @> $::jsonb', storableLabels(labels));
  conditions.add('t.folded = $', name && storableText(foldName(name)));
  conditions.add('strpos(t.folded, $) > 0', search && storableText(foldName(search)));
  const joins = online ? addOnline(conditions, online) : '';
  const placeJoins = selector ? addSelector(conditions, shape, selector) : '';
  const limit = conditions.parameter(pageQuery.limit + 1);
  const text = `SELECT t.row FROM ${shape.name} t ${joins} ${placeJoins} WHERE ${conditions.text} ORDER BY t.id LIMIT ${limit}`;
  return { text, parameters: conditions.parameters };
}

function addMember(
  conditions: Conditions,
  { columns }: TableSchema,
  member: string,
  value: unknown,
): void {
  const column =
    member === 'id'
      ? 'id'
      : columns.find(({ name, type }) => type === 'text' && name === memberColumn(member))?.name;
  if (column === undefined || value === undefined) return;
  const values = [value].flat();
  const texts = values.filter((one) => typeof one === 'string').map(storableText);
  const orNull = values.includes(null) ? ` OR t.${column} IS NULL` : '';
  conditions.add(`(t.${column} = ANY ($::text[])${orNull})`, texts);
}

const configJoins = `LEFT JOIN signage.marks m ON m.kind = 'device' AND m.id = t.id
    LEFT JOIN signage.configs sc ON sc.id = 'screen/' || t.screen_id
    LEFT JOIN signage.configs vc ON vc.id = 'venue/' || t.venue_id
    LEFT JOIN signage.configs tc ON tc.id = 'tenant/' || t.tenant_id`;

/**
 * Returns the condition for online devices, by the rule of `isOnline` in domain/records/config.ts
 * and the effective config. It needs `configJoins`. `now` is the parameter with the time.
 */
function onlineCondition(now: string): string {
  const effective = (column: string, fallback: number) =>
    `coalesce(sc.${column}, vc.${column}, tc.${column}, ${fallback})`;
  const sync = effective('sync_minutes', defaultConfig.syncIntervalMinutes);
  const heartbeat = effective('heartbeat_minutes', defaultConfig.heartbeatIntervalMinutes);
  const seen = `abs(${now}::bigint - m.last_seen_at) <= 120000 * greatest(${sync}, ${heartbeat})`;
  return `coalesce(t.state = 'bound' AND ${seen}, false)`;
}

/** Filters devices by whether they are online. */
function addOnline(conditions: Conditions, { is, now }: { is: boolean; now: number }): string {
  conditions.add(`${onlineCondition(conditions.parameter(now))} = $::boolean`, is);
  return configJoins;
}

/**
 * Filters screens and devices as `matchesSelector` in domain/selector.ts does. The text is the same
 * for all selectors, because each text is prepared once on every connection.
 */
function addSelector(conditions: Conditions, { columns }: TableSchema, selector: Selector): string {
  const isDevice = columns.some(({ name }) => name === 'screen_id');
  const labels = `CASE wanted."of" WHEN 'venue' THEN venue.labels ELSE ${isDevice ? 'screen' : 't'}.labels END`;
  conditions.add(
    `NOT EXISTS (
      SELECT FROM jsonb_to_recordset($::jsonb)
        AS wanted ("of" text, key text, "values" jsonb, negated boolean),
        LATERAL (SELECT ${labels} AS labels) place
      WHERE coalesce(CASE WHEN wanted."values" IS NULL THEN place.labels ? wanted.key
        ELSE wanted."values" ? (place.labels ->> wanted.key) END, false) = wanted.negated)`,
    JSON.stringify(selector.map(storableRequirement)),
  );
  const screens = isDevice ? 'LEFT JOIN signage.screens screen ON screen.id = t.screen_id' : '';
  return `${screens} LEFT JOIN signage.venues venue ON venue.id = t.venue_id`;
}

function storableRequirement({ key, values, ...others }: Selector[number]): object {
  return { ...others, key: storableText(key), values: values?.map(storableText) };
}

/** Returns the ids of codes that ended before a time, oldest first. */
export async function listFinishedCodes(
  query: Query,
  timeMs: number,
  limit: number,
): Promise<string[]> {
  const text =
    'SELECT id FROM signage.codes WHERE finished_at < $1 ORDER BY finished_at, id LIMIT $2';
  return (await query<{ id: string }>(text, [timeMs, limit])).map(({ id }) => id);
}
