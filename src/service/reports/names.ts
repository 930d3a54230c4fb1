import type { ReportGroup } from '../../domain/records/report.ts';
import type { Reader } from '../../store/store.ts';
import { namedRowId } from '../versions/versions.ts';
import { makeTurnTaker } from './turns.ts';

/** Returns the name of a key of a group. `null`: nothing names it. */
export type NameOf = (group: ReportGroup, key: string) => Promise<string | null>;

/** Rows whose names are looked up at once. */
const rowsAtOnce = 100;

/** Makes a row of each total. Many rows take several turns of the event loop. */
export async function makeRows<T, R>(
  totals: readonly T[],
  rowOf: (total: T) => Promise<R>,
): Promise<R[]> {
  const takeTurns = makeTurnTaker();
  const rows: R[] = [];
  for (let start = 0; start < totals.length; start += rowsAtOnce) {
    await takeTurns();
    const some = totals.slice(start, start + rowsAtOnce).map(rowOf);
    for (const row of await Promise.all(some)) rows.push(row);
  }
  return rows;
}

/** Names are remembered as long as the function that this returns. */
export function makeNames(read: Pick<Reader, 'get'>, tenantId: string): NameOf {
  const known = new Map<string, Promise<string | null>>();

  async function find(group: ReportGroup, key: string): Promise<string | null> {
    if (group === 'entry') return key;
    if (group === 'day') return null;
    if (group === 'campaign' || group === 'creative') {
      const row = await read.get(`${group}s`, namedRowId(tenantId, key));
      return row?.name ?? null;
    }
    const row = await read.get(`${group}s`, key);
    if (row?.tenantId !== tenantId) return null;
    if (!('venueId' in row)) return row.name;
    const venue = await nameOf('venue', row.venueId);
    return `${venue ?? row.venueId}/${row.name}`;
  }

  const nameOf: NameOf = (group, key) => {
    const name = `${group} ${key}`;
    const found = known.get(name) ?? find(group, key);
    known.set(name, found);
    return found;
  };
  return nameOf;
}
