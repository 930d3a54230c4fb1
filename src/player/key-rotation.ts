import { secondMs } from '../domain/clock.ts';
import { hasCode } from '../domain/error.ts';
import { withJitter } from './backoff.ts';
import { callWithKey, type PlayerCall } from './call.ts';
import type { PlayerCore } from './core.ts';

const rotateCall: PlayerCall<string> = { operation: 'rotateDeviceKey', statusOf: () => 201 };

/**
 * Returns the delay until the next key rotation. Returns 0 if a rotation is pending, and
 * `undefined` if keys are never rotated. Tolerates a clock that was set back.
 */
export function rotationDelayMs(core: PlayerCore): number | undefined {
  const { rotateEveryMs } = core.options;
  if (rotateEveryMs === undefined) return undefined;
  const { rotating, keySinceMs } = core.state;
  if (rotating) return 0;
  const now = core.clock.now();
  const ageMs = Math.max(0, now - (keySinceMs ?? now));
  return Math.max(0, withJitter(core, Math.max(secondMs, rotateEveryMs)) - ageMs);
}

/** Switches to a new key and keeps the previous key. Undoes the switch if it cannot be saved. */
async function switchKey(core: PlayerCore, apiKey: string): Promise<void> {
  const { binding, rotating, formerKey, keySinceMs } = core.state;
  if (!binding) return;
  const { id } = core.bound;
  core.rebind({ ...binding, apiKey }, id);
  core.record.change({
    rotating: undefined,
    formerKey: { apiKey: binding.apiKey },
    keySinceMs: core.clock.now(),
  });
  try {
    await core.record.save();
  } catch (error) {
    core.rebind(binding, id);
    core.record.change({ rotating, formerKey, keySinceMs });
    throw error;
  }
  core.observer.onRotated?.();
}

/**
 * Makes one attempt to rotate the key (docs/protocol.md §2.8). The `Idempotency-Key` is saved
 * before the first attempt and reused until the response arrives, also after a power cut. The new
 * key is saved beside the old key before its first use. So the TV always has a working key.
 */
export async function rotateOnce(core: PlayerCore): Promise<void> {
  const rotating = core.state.rotating ?? { idempotencyKey: core.makeIdempotencyKey() };
  core.record.change({ rotating });
  await core.record.save();
  const { idempotencyKey } = rotating;
  try {
    const apiKey = await callWithKey(core, rotateCall, (client, id, signal) =>
      client.rotateKey(id, { idempotencyKey, signal, attempts: 1 }),
    );
    await switchKey(core, apiKey);
  } catch (error) {
    // A later rotation has replaced the requested key. The next attempt requests a new key.
    if (hasCode(error, 'idempotency_key_reused')) core.record.change({ rotating: undefined });
    throw error;
  }
}
