import type { Row } from './table-index.ts';

/** The labels of most rows. */
const noLabels = Object.freeze({});

/** A row, and the ids that it may hold. */
type RowWithIds = {
  -readonly [M in 'id' | 'tenantId' | 'venueId' | 'screenId' | 'deviceId']?: string | null;
} & Record<string, unknown>;

/**
 * Interns ids: parsed rows have separate copies of equal ids. A screen, its device and its key hold
 * seven ids, of which only three differ. Empty labels share one object, too.
 */
export class SharedIds {
  /** Tenant and venue ids, which recur in all documents. */
  readonly #tenantAndVenueIds = new Map<string, string>();

  /**
   * Interns the ids of one document's rows, given by table. Rows that refer to a screen or device
   * lie in its document.
   */
  share(tables: Partial<Record<string, readonly Row[]>>): void {
    const screens = (tables.screens ?? []) as readonly RowWithIds[];
    const own = new DocumentIds(screens);
    for (const [table, rows] of Object.entries(tables)) {
      for (const [at, row] of ((rows ?? []) as readonly RowWithIds[]).entries()) {
        const likely = screens[at];
        if (row.id && table === 'devices') row.id = own.shared(row.id, likely?.deviceId);
        if (row.screenId) row.screenId = own.shared(row.screenId, likely?.id);
        if (row.deviceId) row.deviceId = own.shared(row.deviceId, likely?.deviceId);
        if (row.tenantId) row.tenantId = intern(this.#tenantAndVenueIds, row.tenantId);
        if (row.venueId) row.venueId = intern(this.#tenantAndVenueIds, row.venueId);
        if (row.labels && isEmpty(row.labels)) row.labels = noLabels;
      }
    }
  }

  clear(): void {
    this.#tenantAndVenueIds.clear();
  }
}

/** Interns the ids of one document's screens and devices. */
class DocumentIds {
  readonly #screens: readonly RowWithIds[];
  #known: Map<string, string> | undefined;

  constructor(screens: readonly RowWithIds[]) {
    this.#screens = screens;
  }

  /**
   * Returns the shared copy of an id. `likely` is the expected copy: rows of a screen, its device
   * and its key usually stand in the same order. A match needs no map.
   */
  shared(id: string, likely: string | null | undefined): string {
    if (id === likely) return likely;
    this.#known ??= new Map(
      this.#screens.flatMap(({ id: screen, deviceId }) =>
        [screen ?? [], deviceId ?? []].flat().map((one) => [one, one]),
      ),
    );
    return intern(this.#known, id);
  }
}

function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

function intern(known: Map<string, string>, id: string): string {
  const shared = known.get(id);
  if (shared !== undefined) return shared;
  known.set(id, id);
  return id;
}
