import { secondMs } from '../../domain/clock.ts';
import type { DeviceChanges, DeviceChangesQuery } from '../../domain/records/device-changes.ts';
import { checkKeyHolder } from '../auth/device-keys.ts';
import type { DeviceCaller, ServiceDependencies } from '../context.ts';
import { longPoll } from '../long-poll.ts';
import type { Playback } from './playback.ts';
import { Turns } from './turns.ts';

/** How a hold ends early. */
export interface HoldEnd {
  signal: AbortSignal;
  /** Aborts the signal. */
  end(): void;
  /** Returns whether nobody reads the answer any more. */
  hasLeft(): boolean;
}

/** A further hold of the same device ends the oldest. */
const maxHoldsPerDevice = 2;

/**
 * Tells TVs what they would be given now, and holds the answer until that changes (docs/protocol.md
 * §2.9). The cursor is a hash of the answer, not a position, so no change can be missed.
 *
 * @param onHint receives the milliseconds from a change to its hint
 */
export function makeDeviceChanges(
  { store, clock, random }: Pick<ServiceDependencies, 'store' | 'clock' | 'random'>,
  { current }: Pick<Playback, 'current'>,
  onHint: (ms: number) => void = () => {},
) {
  const turns = new Turns(clock);
  const holdsOf = new Map<string, HoldEnd[]>();
  let heldCount = 0;

  function addHold(deviceId: string, hold: HoldEnd): void {
    const holds = [...(holdsOf.get(deviceId) ?? []), hold];
    if (holds.length > maxHoldsPerDevice) holds.shift()?.end();
    holdsOf.set(deviceId, holds);
    heldCount++;
  }

  function removeHold(deviceId: string, hold: HoldEnd): void {
    const others = holdsOf.get(deviceId)?.filter((other) => other !== hold) ?? [];
    if (others.length > 0) holdsOf.set(deviceId, others);
    else holdsOf.delete(deviceId);
    heldCount--;
  }

  /** Spreads the ends of holds, so that a fleet does not come back at the same moment. */
  const drawnWaitMs = (waitSeconds: number) =>
    Math.round(waitSeconds * secondMs * (0.8 + (0.2 * (random(1)[0] ?? 0)) / 255));

  async function hold(
    { key, device, screen }: DeviceCaller,
    { after, waitSeconds }: { after: string; waitSeconds: number },
    end: HoldEnd,
  ): Promise<DeviceChanges> {
    let latest: DeviceChanges | undefined;
    const look = async () => {
      if (latest && end.hasLeft()) return { value: latest, settled: true };
      const holder = await store.read.findByKeyHash(key.hash);
      checkKeyHolder(holder);
      const { changes, endsAtMs } = await current(holder);
      latest = changes;
      return { value: changes, settled: changes.cursor !== after, againAtMs: endsAtMs };
    };
    let wokenAtMs: number | undefined;
    const endTurn = () => {
      if (wokenAtMs !== undefined) turns.end();
      wokenAtMs = undefined;
    };
    const slot = {
      pause: endTurn,
      async resume() {
        if (end.hasLeft()) return;
        const nowMs = clock.now();
        await turns.begin();
        wokenAtMs = nowMs;
      },
    };
    const { tenantId, venueId } = device;
    const topics = [
      `devices/${device.id}`,
      `screens/${screen.id}`,
      `venues/${venueId}`,
      `tenants/${tenantId}`,
    ];
    const forMs = drawnWaitMs(waitSeconds);
    addHold(device.id, end);
    try {
      const value = await longPoll(
        { store, clock },
        { topics, forMs, signal: end.signal, slot },
        look,
      );
      if (wokenAtMs !== undefined && value.cursor !== after) onHint(clock.now() - wokenAtMs);
      return value;
    } finally {
      removeHold(device.id, end);
      endTurn();
    }
  }

  return {
    /** Number of held answers. */
    heldCount: () => heldCount,

    /**
     * Answers at once, or when the cursor is no longer `after`. Throws the errors of a device key
     * that is revoked meanwhile.
     */
    async get(
      caller: DeviceCaller,
      { after, waitSeconds }: DeviceChangesQuery,
      end: HoldEnd,
    ): Promise<DeviceChanges> {
      if (after === undefined || waitSeconds === undefined) return (await current(caller)).changes;
      return hold(caller, { after, waitSeconds }, end);
    },
  };
}
