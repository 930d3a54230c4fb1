import { secondMs } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import { about } from './backoff.ts';
import { callWithKey, type PlayerCall } from './call.ts';
import type { PlayerCore } from './core.ts';

const rotateCall: PlayerCall<string> = { operation: 'rotateDeviceKey', statusOf: () => 201 };

/** When the key is due to change, from now on: at once, if a change is under way. `undefined`: never. The clock may have been set meanwhile. */
export function rotationDelayMs(core: PlayerCore): number | undefined {
  const { rotateEveryMs } = core.options;
  if (rotateEveryMs === undefined) return undefined;
  const { rotating, keySinceMs } = core.state;
  if (rotating) return 0;
  const now = core.clock.now();
  const ageMs = Math.max(0, now - (keySinceMs ?? now));
  return Math.max(0, about(core, Math.max(secondMs, rotateEveryMs)) - ageMs);
}

/** Goes by another key from now on, once that is saved; the one before it is kept. When it cannot be saved, nothing has changed. */
async function takeKey(core: PlayerCore, apiKey: string): Promise<void> {
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
 * One try to change the key (docs/protocol.md §2.8). Its `Idempotency-Key` is saved before the first, and repeated until the answer is there, after
 * a power cut too; the new key is saved beside the old one before it is used. So there is a key that works, whatever is lost.
 */
export async function rotateOnce(core: PlayerCore): Promise<void> {
  const rotating = core.state.rotating ?? { idempotencyKey: core.makeKey() };
  core.record.change({ rotating });
  await core.record.save();
  const { idempotencyKey } = rotating;
  try {
    const apiKey = await callWithKey(core, rotateCall, (client, id, signal) =>
      client.rotateKey(id, { idempotencyKey, signal, attempts: 1 }),
    );
    await takeKey(core, apiKey);
  } catch (error) {
    // Another new key has replaced the one that this was for: the next try asks for another.
    if (hasCode(error, 'idempotency_key_reused')) core.record.change({ rotating: undefined });
    throw error;
  }
}
