import type { DeviceChanges } from '../../domain/records/device-changes.ts';

/** One of its methods is called once, when the hold ends. */
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
  /** The address at which the TV reaches the service. */
  readonly baseUrl: string;
  readonly listener: HoldListener;
  /** Step of `SharedTimers` at which the hold ends. */
  readonly endStep: number;
  /** Step of `SharedTimers` at which the next look-up begins, even without a change. */
  dueStep: number;
  /** `deferred`: queued because of a signal, which other changes overtake. */
  state: 'looking' | 'waiting' | 'queued' | 'deferred';
  /** Whether to repeat the look-up in progress. */
  hasChanged: boolean;
  /** Whether the next look-up answers the hold, even without a change. */
  isOver: boolean;
  /**
   * Time at which a change, the end of the playlist or the stop of the service triggered the
   * look-up.
   */
  wokenAtMs: number | undefined;
}

/** Ids that a hold is found by. Few changes concern a venue or a tenant. */
const indexed = ['deviceId', 'screenId'] as const;
/** Members of a hold by the kind of the topic that concerns it. */
const members = {
  devices: 'deviceId',
  screens: 'screenId',
  venues: 'venueId',
  tenants: 'tenantId',
} as const;

export type HoldOwner = keyof typeof members;

export const isHoldOwner = (kind: string): kind is HoldOwner => Object.hasOwn(members, kind);

/**
 * Index of the holds by the ids of their device and screen. Most have one hold, which is stored
 * without a set.
 */
export class HoldTable {
  readonly all = new Set<Hold>();
  readonly #byId = new Map<string, Hold | Set<Hold>>();

  add(hold: Hold): void {
    this.all.add(hold);
    for (const member of indexed) {
      const present = this.#byId.get(hold[member]);
      if (present === undefined) this.#byId.set(hold[member], hold);
      else if (present instanceof Set) present.add(hold);
      else this.#byId.set(hold[member], new Set([present, hold]));
    }
  }

  delete(hold: Hold): boolean {
    if (!this.all.delete(hold)) return false;
    for (const member of indexed) {
      const present = this.#byId.get(hold[member]);
      if (present instanceof Set && present.delete(hold) && present.size > 0) continue;
      this.#byId.delete(hold[member]);
    }
    return true;
  }

  /** Returns the holds of a device, screen, venue or tenant, oldest first. */
  of(owner: HoldOwner, id: string): readonly Hold[] {
    if (owner === 'venues' || owner === 'tenants')
      return [...this.all].filter((hold) => hold[members[owner]] === id);
    const present = this.#byId.get(id);
    if (present === undefined) return [];
    return present instanceof Set ? [...present] : [present];
  }
}
