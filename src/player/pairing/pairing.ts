import type { Registered } from '../../client/entities.ts';
import { SignageError } from '../../domain/error.ts';
import { retryDelayMs } from '../backoff.ts';
import { callOnce, type PlayerCall } from '../call.ts';
import type { PlayerCore } from '../core.ts';
import type { PlayerEnd } from '../options.ts';

const registerCall: PlayerCall<Registered> = { operation: 'registerDevice', statusOf: () => 201 };

/**
 * Saves the key before its first use. If saving fails, the TV stays unpaired. A repeated
 * registration returns the same key.
 */
async function bind(
  core: PlayerCore,
  { deviceId, screenId, tenantId, apiKey, config }: Registered,
): Promise<void> {
  const { head: before, queue } = core.record;
  const queued = queue.shift(queue.length);
  const unsentEvents = [...(before.batch?.events ?? []), ...queued];
  core.record.head = { config, keySinceMs: core.clock.now() };
  core.rebind({ deviceId, screenId, tenantId, apiKey });
  try {
    await core.record.save();
  } catch (error) {
    core.record.head = before;
    queue.unshift(queued);
    core.rebind(before.binding);
    throw error;
  }
  if (unsentEvents.length > 0) core.observer.onDropped?.(unsentEvents, 'unpaired');
  core.observer.onBound?.({ deviceId, screenId, tenantId });
}

/**
 * Makes one attempt to register. A repeat with the same code sends the same `Idempotency-Key`, also
 * after a power cut.
 */
export async function registerOnce(core: PlayerCore, pairingCode: string): Promise<void> {
  const { client, deviceInfo } = core.options;
  if (core.state.registering?.pairingCode !== pairingCode)
    core.record.change({ registering: { pairingCode, idempotencyKey: core.makeIdempotencyKey() } });
  const { idempotencyKey } = core.state.registering as { idempotencyKey: string };
  core.isRegistering = true;
  core.reportPhase();
  try {
    await core.record.save();
    const send = (signal: AbortSignal) =>
      client.register({ pairingCode, deviceInfo }, { idempotencyKey, signal, attempts: 1 });
    await bind(core, await callOnce(core, registerCall, send));
  } finally {
    core.isRegistering = false;
    core.reportPhase();
  }
}

/**
 * Returns whether the code was rejected for good, so that a person must act (docs/protocol.md
 * §3.4).
 */
function isRefused(error: unknown): error is SignageError {
  return (
    error instanceof SignageError &&
    (error.code.startsWith('pairing_code_') || error.status === 400)
  );
}

/**
 * Retries a code until the service accepts or rejects it, a person withdraws it, or the TV stops.
 * Returns the error if the code was rejected.
 */
async function registerWith(core: PlayerCore, code: string): Promise<SignageError | undefined> {
  const goesOn = () => !core.isEnding && !core.isCodeWithdrawn;
  for (let failures = 1; goesOn(); failures++) {
    try {
      await registerOnce(core, code);
      return undefined;
    } catch (error) {
      if (core.isCut) return undefined;
      core.fail(error);
      if (isRefused(error)) {
        core.record.change({ registering: undefined });
        core.saveInBackground();
        return error;
      }
      await core.networkNotifier.waitFor(core.clock, retryDelayMs(core, error, failures), goesOn);
    }
  }
  return undefined;
}

async function untilEnding(core: PlayerCore): Promise<undefined> {
  while (!core.isEnding) await core.networkNotifier.wait();
}

/**
 * Returns the next code. Returns `undefined` if there is no code, or if the TV stops first. Asks
 * once all is saved, because `nextCode` may replace what the memory holds.
 */
async function askForCode(core: PlayerCore): Promise<string | undefined> {
  const { why, error } = core.unpaired;
  const { nextCode } = core.options;
  return (
    nextCode &&
    core.hold(async () => {
      await core.record.whenSaved();
      return Promise.race([nextCode(why, error), untilEnding(core)]);
    })
  );
}

/**
 * Pairs the TV. Resumes a registration that a power cut interrupted, or asks for codes until the
 * service accepts a code. Returns the reason if there are no more codes.
 */
export async function pair(core: PlayerCore): Promise<PlayerEnd | undefined> {
  while (!core.isEnding && !core.state.binding) {
    // A withdrawn code stays saved. If a person types it again, the TV sends the same
    // `Idempotency-Key`.
    const pending = core.isCodeWithdrawn ? undefined : core.state.registering?.pairingCode;
    const code = pending ?? (await askForCode(core));
    core.isCodeWithdrawn = false;
    if (core.isEnding) break;
    if (code === undefined) return { reason: 'unpaired', ...core.unpaired };
    const error = await registerWith(core, code);
    if (error) core.unpaired = { why: 'refused', error };
  }
  return undefined;
}
