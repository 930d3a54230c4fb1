import type { DeviceChanges } from '../../domain/records/device-changes.ts';

/** Receives the end of a hold, once. */
export interface HoldListener {
  answer(changes: DeviceChanges): void;
  fail(error: unknown): void;
}

/** A held request. Thousands are kept for a minute, so it has no promise and few members. */
export interface Hold {
  readonly keyHash: string;
  readonly deviceId: string;
  readonly screenId: string;
  readonly venueId: string;
  readonly tenantId: string;
  readonly after: string;
  readonly listener: HoldListener;
  /** Step of `SharedTimers` in which the hold ends. */
  readonly endStep: number;
  /** Step in which the hold looks again, even without a change. */
  dueStep: number;
  state: 'looking' | 'waiting' | 'queued';
  /** Whether to look again after the look in progress. */
  hasChanged: boolean;
  /** Whether the next look gives the answer, even without a change. */
  isOver: boolean;
  /** Time of the change or of the end that the hold was woken for. */
  wokenAtMs: number | undefined;
}

const concernedIds = ({ deviceId, screenId, venueId, tenantId }: Hold) => [
  deviceId,
  screenId,
  venueId,
  tenantId,
];

/** The holds, by the ids of the records that concern them. */
export class HoldTable {
  readonly all = new Set<Hold>();
  readonly #byId = new Map<string, Set<Hold>>();

  add(hold: Hold): void {
    this.all.add(hold);
    for (const id of concernedIds(hold)) {
      const holds = this.#byId.get(id) ?? new Set();
      this.#byId.set(id, holds.add(hold));
    }
  }

  /** Returns whether the hold was in the table. */
  delete(hold: Hold): boolean {
    if (!this.all.delete(hold)) return false;
    for (const id of concernedIds(hold)) {
      const holds = this.#byId.get(id);
      holds?.delete(hold);
      if (holds?.size === 0) this.#byId.delete(id);
    }
    return true;
  }

  /** Returns the holds that a device, screen, venue or tenant concerns, oldest first. */
  concernedBy(id: string): Iterable<Hold> & { readonly size: number } {
    return this.#byId.get(id) ?? noHolds;
  }
}

const noHolds: ReadonlySet<Hold> = new Set();
