import type {
  CopiedActivity,
  CopiedBatch,
  CopiedImpressions,
  DeviceKeys,
  Records,
  Section,
} from '../../copy/transfer.ts';
import { tableNames } from '../../tables.ts';
import { sealedRow } from '../audit/trail.ts';
import { tableSchemas } from '../rows/columns.ts';

/** The statements that read a section. */
export interface SectionReading<R> {
  /** Selects all records, in a stable order. */
  select: string;
  count: string;
  /** Rows fetched at a time, fewer for large rows to limit memory. */
  pageRows: number;
  // biome-ignore lint/suspicious/noExplicitAny: rows of every shape
  recordOf(row: any): R;
}

const countOf = (name: string) => `SELECT count(*) AS found FROM signage.${name}`;
const parsed = <R>({ text }: { text: string }): R => JSON.parse(text) as R;

const tableStatements = tableNames.map((table): [Section, SectionReading<unknown>] => {
  const { name } = tableSchemas[table];
  const pageRows = table === 'playlists' || table === 'pastPlaylists' ? 50 : 500;
  return [
    table,
    {
      select: `SELECT row AS text FROM ${name} ORDER BY id`,
      count: `SELECT count(*) AS found FROM ${name}`,
      pageRows,
      recordOf: parsed,
    },
  ];
});

/** Leaves out activity rows without values. */
const nonEmptyActivity = `FROM signage.marks WHERE marks <> '{}'`;

export const sectionReadings = {
  ...Object.fromEntries(tableStatements),
  batches: {
    select: `SELECT seq, received_at AS "receivedAt", tenant_id AS "tenantId", venue_id AS "venueId", screen_id AS "screenId",
      device_id AS "deviceId", body FROM signage.batches ORDER BY received_at, batches.seq`,
    count: countOf('batches'),
    pageRows: 50,
    recordOf: (row: CopiedBatch) => row,
  },
  audit: {
    select: 'SELECT seq, entry, writer, link, mac FROM signage.audit ORDER BY seq',
    count: countOf('audit'),
    pageRows: 500,
    recordOf: sealedRow,
  },
  idempotency: {
    select: `SELECT device_id AS "deviceId", string_agg(key || ' ' || sent, ',' ORDER BY n) AS keys
      FROM signage.batch_keys GROUP BY device_id ORDER BY device_id`,
    count: 'SELECT count(DISTINCT device_id) AS found FROM signage.batch_keys',
    pageRows: 500,
    recordOf: ({ deviceId, keys }: { deviceId: string; keys: string }): DeviceKeys => ({
      deviceId,
      keys: keys.split(',').map((pair) => pair.split(' ') as [string, string]),
    }),
  },
  impressions: {
    select: `SELECT scope, clock, grouped AS "group", day, key, impressions, seconds
      FROM signage.rollups ORDER BY clock, day, scope, grouped, key`,
    count: countOf('rollups'),
    pageRows: 500,
    recordOf: (row: CopiedImpressions) => row,
  },
  marks: {
    select: `SELECT kind, id, marks ${nonEmptyActivity} ORDER BY kind, id`,
    count: `SELECT count(*) AS found ${nonEmptyActivity}`,
    pageRows: 500,
    recordOf: ({
      kind,
      id,
      marks,
    }: {
      kind: CopiedActivity['kind'];
      id: string;
      marks: string;
    }): CopiedActivity => ({
      kind,
      id,
      marks: JSON.parse(marks),
    }),
  },
} as { [S in Section]: SectionReading<Records[S]> };
