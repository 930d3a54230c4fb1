import type { Row } from './table-index.ts';

/** Of most rows. */
const noLabels = Object.freeze({});

/** Ids that rows name, beside their own. */
type Named = {
  -readonly [M in 'id' | 'tenantId' | 'venueId' | 'screenId' | 'deviceId']?: string | null;
} & Record<string, unknown>;

/**
 * Makes equal ids one string: rows that were parsed have copies of their own, and of the seven ids in what a screen, its device and their key say, but three
 * differ. So it makes of labels where there are none.
 */
export class SharedIds {
  /** Few, and named all over the fleet. */
  readonly #places = new Map<string, string>();

  /** Rows of one document, by table: what names a screen or a device lies in one with it. */
  share(tables: Partial<Record<string, readonly Row[]>>): void {
    const screens = (tables.screens ?? []) as readonly Named[];
    const own = new OwnIds(screens);
    for (const [table, rows] of Object.entries(tables)) {
      for (const [at, row] of ((rows ?? []) as readonly Named[]).entries()) {
        const likely = screens[at];
        if (row.id && table === 'devices') row.id = own.same(row.id, likely?.deviceId);
        if (row.screenId) row.screenId = own.same(row.screenId, likely?.id);
        if (row.deviceId) row.deviceId = own.same(row.deviceId, likely?.deviceId);
        if (row.tenantId) row.tenantId = sameOf(this.#places, row.tenantId);
        if (row.venueId) row.venueId = sameOf(this.#places, row.venueId);
        if (row.labels && isEmpty(row.labels)) row.labels = noLabels;
      }
    }
  }

  clear(): void {
    this.#places.clear();
  }
}

/** The ids of a document's screens and devices. */
class OwnIds {
  readonly #screens: readonly Named[];
  #known: Map<string, string> | undefined;

  constructor(screens: readonly Named[]) {
    this.#screens = screens;
  }

  /** `likely` is what it mostly is: of a screen, its device and its key the rows stand in one order. Then no map is needed. */
  same(id: string, likely: string | null | undefined): string {
    if (id === likely) return likely;
    this.#known ??= new Map(
      this.#screens.flatMap(({ id: screen, deviceId }) =>
        [screen ?? [], deviceId ?? []].flat().map((one) => [one, one]),
      ),
    );
    return sameOf(this.#known, id);
  }
}

function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

function sameOf(known: Map<string, string>, id: string): string {
  const same = known.get(id);
  if (same !== undefined) return same;
  known.set(id, id);
  return id;
}
