import { secondMs } from '../../domain/clock.ts';
import type { DeviceChanges, DeviceChangesQuery } from '../../domain/records/device-changes.ts';
import { checkKeyHolder } from '../auth/device-keys.ts';
import type { DeviceCaller, ServiceDependencies } from '../context.ts';
import { type HoldEnd, longPoll } from '../long-poll.ts';
import type { Playback } from './playback.ts';
import { Turns } from './turns.ts';

/** A further hold of the same device ends the oldest. */
const maxHoldsPerDevice = 2;
/** Shorter than the time for which a stopping service waits for its requests. */
const stopMs = 8 * secondMs;

/** A held request. */
interface Hold {
  end: HoldEnd;
  /** Whether a further hold of the device took its place. */
  isReplaced: boolean;
}

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
  const holdsOf = new Map<string, Hold[]>();
  let heldCount = 0;

  function addHold(deviceId: string, hold: Hold): void {
    const holds = [...(holdsOf.get(deviceId) ?? []), hold];
    const replaced = holds.length > maxHoldsPerDevice ? holds.shift() : undefined;
    holdsOf.set(deviceId, holds);
    heldCount++;
    if (!replaced) return;
    replaced.isReplaced = true;
    replaced.end.end();
  }

  function removeHold(deviceId: string, hold: Hold): void {
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
    const own: Hold = { end, isReplaced: false };
    let latest: DeviceChanges | undefined;
    const isOver = () => own.isReplaced || end.hasLeft();
    const look = async () => {
      if (latest && isOver()) return { value: latest, settled: true };
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
        if (isOver()) return;
        // The service stops.
        if (end.signal.aborted) turns.drainWithin(stopMs);
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
    addHold(device.id, own);
    try {
      const value = await longPoll(
        { store, clock },
        { topics, forMs, signal: end.signal, slot },
        look,
      );
      if (wokenAtMs !== undefined && value.cursor !== after) onHint(clock.now() - wokenAtMs);
      return value;
    } finally {
      removeHold(device.id, own);
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
