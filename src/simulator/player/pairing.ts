import { SignageError } from '../../domain/error.ts';
import { retryDelayMs } from './backoff.ts';
import { callOnce, type PlayerCall } from './call.ts';
import type { PlayerCore } from './core.ts';
import type { PlayerEnd } from './options.ts';

type Registered = Awaited<ReturnType<PlayerCore['options']['client']['register']>>;
const registerCall: PlayerCall<Registered> = { operation: 'registerDevice', statusOf: () => 201 };

/** Saves the key before it is used. When that fails nothing is bound, and the same registration gets the same answer again. */
async function bind(
  core: PlayerCore,
  { deviceId, screenId, tenantId, apiKey, config }: Registered,
): Promise<void> {
  const before = core.state;
  const unsent = [...(before.batch?.events ?? []), ...before.queue];
  core.record.state = { format: 1, config, queue: [], keySinceMs: core.clock.now() };
  core.rebind({ deviceId, screenId, tenantId, apiKey });
  try {
    await core.record.save();
  } catch (error) {
    core.record.state = before;
    core.rebind(before.binding);
    throw error;
  }
  if (unsent.length > 0) core.observer.onDropped?.(unsent, 'unpaired');
  core.observer.onBound?.({ deviceId, screenId, tenantId });
}

/** One try to register with a code. Repeated with the same code it sends the same `Idempotency-Key`, which outlives a power cut. */
export async function registerOnce(core: PlayerCore, pairingCode: string): Promise<void> {
  const { client, deviceInfo } = core.options;
  if (core.state.registering?.pairingCode !== pairingCode)
    core.record.change({ registering: { pairingCode, idempotencyKey: core.makeKey() } });
  const { idempotencyKey } = core.state.registering as { idempotencyKey: string };
  core.isRegistering = true;
  core.tellPhase();
  try {
    await core.record.save();
    const send = (signal: AbortSignal) =>
      client.register({ pairingCode, deviceInfo }, { idempotencyKey, signal, attempts: 1 });
    await bind(core, await callOnce(core, registerCall, send));
  } finally {
    core.isRegistering = false;
    core.tellPhase();
  }
}

/** Whether a registration failed for good: with this code it will not succeed, and a person must look (docs/protocol.md §3.4). */
function isRefused(error: unknown): error is SignageError {
  return (
    error instanceof SignageError &&
    (error.code.startsWith('pairing_code_') || error.status === 400)
  );
}

/** Tries a code until the service has spoken; answers what it refused it with. */
async function registerWith(core: PlayerCore, code: string): Promise<SignageError | undefined> {
  for (let failures = 1; !core.isEnding; failures++) {
    try {
      await registerOnce(core, code);
      return undefined;
    } catch (error) {
      if (core.isCut) return undefined;
      core.fail(error);
      if (isRefused(error)) {
        core.record.change({ registering: undefined });
        core.saveSoon();
        return error;
      }
      await core.networkBell.waitFor(
        core.clock,
        retryDelayMs(core, error, failures),
        () => !core.isEnding,
      );
    }
  }
  return undefined;
}

async function untilEnding(core: PlayerCore): Promise<undefined> {
  while (!core.isEnding) await core.networkBell.wait();
}

/** The next code, unless the TV ends before there is one. */
async function askForCode(core: PlayerCore): Promise<string | undefined> {
  const { why, error } = core.unpaired;
  const { nextCode } = core.options;
  return nextCode && core.hold(() => Promise.race([nextCode(why, error), untilEnding(core)]));
}

/** Gets the TV a key: with the registration that a power cut broke off, or else with codes until one is good. Answers why it has none in the end. */
export async function pairUp(core: PlayerCore): Promise<PlayerEnd | undefined> {
  while (!core.isEnding && !core.state.binding) {
    const code = core.state.registering?.pairingCode ?? (await askForCode(core));
    if (core.isEnding) break;
    if (code === undefined) return { reason: 'unpaired', ...core.unpaired };
    const error = await registerWith(core, code);
    if (error) core.unpaired = { why: 'refused', error };
  }
  return undefined;
}
