import type { Row } from './table-index.ts';

/** Ids that rows name, beside their own. */
type Named = { -readonly [M in 'id' | 'tenantId' | 'venueId' | 'screenId' | 'deviceId']?: string | null } & Record<string, unknown>;

/**
 * Makes equal ids one string: rows that were parsed have copies of their own, and of the seven ids in what a screen, its device and their key say, but three
 * differ.
 */
export class SharedIds {
  /** Few, and named all over the fleet. */
  readonly #places = new Map<string, string>();

  /** Rows of one document, by table: what names a screen or a device lies in one with it. */
  share(tables: Partial<Record<string, readonly Row[]>>): void {
    const own = new Map<string, string>();
    for (const rows of Object.values(tables)) {
      for (const row of (rows ?? []) as readonly Named[]) {
        if (row.id) row.id = sameOf(own, row.id);
        if (row.screenId) row.screenId = sameOf(own, row.screenId);
        if (row.deviceId) row.deviceId = sameOf(own, row.deviceId);
        if (row.tenantId) row.tenantId = sameOf(this.#places, row.tenantId);
        if (row.venueId) row.venueId = sameOf(this.#places, row.venueId);
      }
    }
  }

  clear(): void {
    this.#places.clear();
  }
}

function sameOf(known: Map<string, string>, id: string): string {
  const same = known.get(id);
  if (same !== undefined) return same;
  known.set(id, id);
  return id;
}
