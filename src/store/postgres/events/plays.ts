import type { BatchSums } from '../../../domain/events/batch-counts.ts';
import {
  addCell,
  addCount,
  type PlayCell,
  type PlayCount,
  type PlayKey,
  textOfKey,
} from '../../../domain/events/plays.ts';
import type { ReportClock } from '../../../domain/records/report.ts';
import { maxSeconds, playCell, playRecord, type Records, shapeOf } from '../../dump/records.ts';
import {
  countPlays,
  parsePlace,
  placeText,
  readCells,
  sortedCells,
  textOfCells,
} from '../../plays.ts';
import type { PlayQuery, PlayVisitor } from '../../queries.ts';
import type { Query } from '../connection/query.ts';

/** Rows of `plays` that are read at a time. */
const rowsPerQuery = 2000;
/** After the last day that has a name, 9999-12-31. */
const maxDay = 3_000_000;

type StoredDay = [day: number, localDay: number, cells: Records['plays']['cells']];

/** Returns the plays of a batch as the JSON that is stored with it, or `null` if there are none. */
export function keptPlays({ plays }: BatchSums): string | null {
  if (plays.length === 0) return null;
  return JSON.stringify(
    plays.map(({ day, localDay, cells }): StoredDay => {
      const place = { clock: 'timestamp', tenantId: '', venueId: '', screenId: '' } as const;
      const record = playRecord({ ...place, day, shift: 0, simulated: false }, [...cells.values()]);
      return [day, localDay, record.cells];
    }),
  );
}

/** A stored batch whose plays are not folded yet. */
interface UnfoldedBatch {
  tenantId: string;
  venueId: string;
  screenId: string;
  simulated: boolean;
  receivedAt: number;
  offsets: string;
  counts: string;
}

/** Counts by place, each with its cells by the text of their keys. */
export type PlacesOfPlays = Map<
  string,
  { clock: ReportClock; place: string; cells: Map<string, PlayCell> }
>;

/** Adds the plays of a batch to those of their places. */
export function addPlays(places: PlacesOfPlays, batch: UnfoldedBatch): void {
  const { tenantId, venueId, screenId, simulated, receivedAt, offsets, counts } = batch;
  const plays = (JSON.parse(counts) as StoredDay[]).map(([day, localDay, cells]) => ({
    day,
    localDay,
    cells: new Map(cells.map(playCell).map((cell) => [textOfKey(cell), cell])),
  }));
  const sums = { plays, offsets: JSON.parse(offsets) } as unknown as BatchSums;
  for (const { clock, cells, ...days } of countPlays(sums, receivedAt)) {
    const place = placeText({ tenantId, venueId, screenId, simulated, ...days });
    const name = `${clock} ${place}`;
    const known = places.get(name) ?? { clock, place, cells: new Map<string, PlayCell>() };
    places.set(name, known);
    for (const [text, cell] of cells) addCell(known.cells, text, cell);
  }
}

interface PlaceRow {
  clock: ReportClock;
  tenant_id: string;
  day: number;
  place: string;
}

/** The columns of a place. The text of a place begins with the tenant and the day. */
function rowOf(clock: ReportClock, text: string): PlaceRow {
  const { tenantId, day } = parsePlace(text, clock);
  const opening = JSON.stringify([tenantId, String(day).padStart(7, '0')]).length;
  return { clock, tenant_id: tenantId, day, place: text.slice(opening) };
}

const textOf = ({ tenant_id, day, place }: PlaceRow) =>
  `${JSON.stringify([tenant_id, String(day).padStart(7, '0')]).slice(0, -1)},${place}`;

/** Returns the numbers of keys by their texts. Adds the keys that have none. */
async function numbersOf(
  query: Query,
  keys: ReadonlyMap<string, PlayKey>,
): Promise<Map<string, number>> {
  const given = Array.from(keys.values(), ({ creativeId, campaignId, entryId }) => ({
    creative_id: creativeId,
    campaign_id: campaignId,
    entry_id: entryId,
  }));
  const rows = await query<PlayKey & { number: number }>(
    `WITH given AS (SELECT * FROM json_to_recordset($1::text::json) AS g (creative_id text, campaign_id text, entry_id text)),
        added AS (INSERT INTO signage.play_keys (creative_id, campaign_id, entry_id)
          SELECT creative_id, campaign_id, entry_id FROM given
            WHERE NOT EXISTS (SELECT FROM signage.play_keys k WHERE (k.creative_id, k.campaign_id, k.entry_id) = (given.creative_id, given.campaign_id, given.entry_id))
          RETURNING *)
      SELECT number, creative_id AS "creativeId", campaign_id AS "campaignId", entry_id AS "entryId"
        FROM (SELECT * FROM added UNION ALL SELECT k.* FROM signage.play_keys k JOIN given USING (creative_id, campaign_id, entry_id)) AS found`,
    [JSON.stringify(given)],
  );
  return new Map(rows.map((row) => [textOfKey(row), row.number]));
}

const keysIn = (places: PlacesOfPlays) =>
  new Map(Array.from(places.values(), ({ cells }) => [...cells]).flat());

/** Adds the counts of places to the stored ones. One transaction at a time may. */
export async function storePlays(query: Query, places: PlacesOfPlays): Promise<void> {
  if (places.size === 0) return;
  const numbers = await numbersOf(query, keysIn(places));
  const rows = Array.from(places.values(), ({ clock, place }) => rowOf(clock, place));
  const stored = await query<PlaceRow & { cells: string }>(
    `SELECT p.* FROM signage.plays p
      JOIN json_to_recordset($1::text::json) AS r (clock text, tenant_id text, day integer, place text)
      USING (clock, tenant_id, day, place)`,
    [JSON.stringify(rows)],
  );
  const before = new Map(stored.map((row) => [`${row.clock} ${textOf(row)}`, row.cells]));
  const written = Array.from(places, ([name, { cells }], place) => {
    const sums = countsIn(before.get(name) ?? '');
    for (const [text, cell] of cells) {
      const number = numbers.get(text) as number;
      const sum = sums.get(number) ?? { events: 0, seconds: 0, partial: 0, unknown: 0 };
      addCount(sum, cell);
      sum.seconds = Math.min(sum.seconds, maxSeconds);
      sums.set(number, sum);
    }
    return { ...rows[place], cells: textOfCells(sums) };
  });
  await query(
    `INSERT INTO signage.plays SELECT * FROM json_populate_recordset(NULL::signage.plays, $1::text::json)
      ON CONFLICT (clock, tenant_id, day, place) DO UPDATE SET cells = excluded.cells`,
    [JSON.stringify(written)],
  );
}

function countsIn(text: string): Map<number, PlayCount> {
  const counts = new Map<number, PlayCount>();
  const keyOf = (number: number) => number;
  readCells(text, 0, text.length, keyOf, (number, events, seconds, partial, unknown) => {
    counts.set(number, { events, seconds, partial, unknown });
  });
  return counts;
}

/** The keys that a reader has met, by their numbers. */
class KnownKeys {
  readonly #query: Query;
  readonly #keys = new Map<number, PlayKey>();

  constructor(query: Query) {
    this.#query = query;
  }

  /** Reads the keys of rows. */
  async load(rows: readonly { cells: string }[]): Promise<void> {
    const missing = new Set<number>();
    const note = (number: number) => {
      if (!this.#keys.has(number)) missing.add(number);
    };
    for (const { cells } of rows) readCells(cells, 0, cells.length, (number) => number, note);
    if (missing.size === 0) return;
    const found = await this.#query<PlayKey & { number: number }>(
      `SELECT number, creative_id AS "creativeId", campaign_id AS "campaignId", entry_id AS "entryId"
        FROM signage.play_keys WHERE number = ANY ($1::integer[])`,
      [[...missing]],
    );
    for (const { number, creativeId, campaignId, entryId } of found)
      this.#keys.set(number, { creativeId, campaignId, entryId });
  }

  of = (number: number): PlayKey | undefined => this.#keys.get(number);
}

/** Gives all folded counts of a tenant between two UTC days to a visitor. */
export async function visitPlays(
  query: Query,
  { tenantId, by, from, to }: PlayQuery,
  visitor: PlayVisitor,
): Promise<void> {
  const keys = new KnownKeys(query);
  let after = { day: -1, place: '' };
  for (let found = rowsPerQuery; found === rowsPerQuery; ) {
    const rows = await query<PlaceRow & { cells: string }>(
      `SELECT clock, tenant_id, day, place, cells FROM signage.plays
        WHERE clock = $1 AND tenant_id = $2 AND day >= $3 AND day < $4 AND (day, place) > ($5, $6)
        ORDER BY day, place LIMIT ${rowsPerQuery}`,
      [by, tenantId, from ?? 0, to ?? maxDay, after.day, after.place],
    );
    await keys.load(rows);
    for (const row of rows) {
      if (visitor.place(parsePlace(textOf(row), row.clock)))
        readCells(row.cells, 0, row.cells.length, keys.of, visitor.cell);
    }
    after = rows.at(-1) ?? after;
    found = rows.length;
  }
}

/** Yields the records of rows in their order, and those of unfolded places in between. */
export async function* playRecords(
  query: Query,
  rows: AsyncIterable<readonly (PlaceRow & { cells: string })[]>,
  unfolded: PlacesOfPlays,
): AsyncGenerator<Records['plays']> {
  const keys = new KnownKeys(query);
  const keyOf = shapeOf('plays').keyOf as (record: Records['plays']) => string;
  const recordOf = (clock: ReportClock, text: string, cells: Map<string, PlayCell>) =>
    playRecord(parsePlace(text, clock), sortedCells(cells));
  const others = Array.from(unfolded.values(), ({ clock, place, cells }) => {
    const record = recordOf(clock, place, cells);
    return { name: `${clock} ${place}`, key: keyOf(record), record, cells };
  }).sort((one, other) => (one.key < other.key ? -1 : 1));
  let next = 0;
  for await (const page of rows) {
    await keys.load(page);
    for (const row of page) {
      const cells = new Map<string, PlayCell>();
      readCells(row.cells, 0, row.cells.length, keys.of, (key, events, seconds, ...rest) => {
        const [partial, unknown] = rest;
        cells.set(textOfKey(key), { ...key, events, seconds, partial, unknown });
      });
      const text = textOf(row);
      const more = unfolded.get(`${row.clock} ${text}`);
      for (const [name, cell] of more?.cells ?? []) addCell(cells, name, cell);
      const record = recordOf(row.clock, text, cells);
      const key = keyOf(record);
      for (; (others[next]?.key ?? key) < key; next++)
        yield others[next]?.record as Records['plays'];
      if (others[next]?.key === key) next++;
      yield record;
    }
  }
  for (; next < others.length; next++) yield others[next]?.record as Records['plays'];
}

/** Returns the places of records, for `storePlays`. */
export function placesOf(records: readonly Records['plays'][]): PlacesOfPlays {
  return new Map(
    records.map(({ cells, ...place }) => {
      const text = placeText({ ...place, simulated: place.simulated === true });
      const all = cells.map(playCell).map((cell) => [textOfKey(cell), cell] as const);
      return [`${place.clock} ${text}`, { clock: place.clock, place: text, cells: new Map(all) }];
    }),
  );
}
