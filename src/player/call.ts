import type { DeviceClient } from '../client/device-client.ts';
import { SignageError } from '../domain/error.ts';
import type { PlayerCore } from './core.ts';
import type { RuntimeOperation, UnpairedReason } from './observer.ts';

/**
 * Forgets the key and everything bound to it. The playlist and config belong to a screen that the
 * TV has lost. Unsent events are dropped, because the service would not accept them.
 */
function forgetKey(core: PlayerCore, reason: UnpairedReason, error: SignageError): void {
  const { queue, head } = core.record;
  const unsent = [...(head.batch?.events ?? []), ...queue.shift(queue.length)];
  core.record.head = {};
  core.rebind(undefined);
  core.unpaired = { why: reason, error };
  core.saveInBackground();
  if (unsent.length > 0) core.observer.onDropped?.(unsent, 'unpaired');
  core.observer.onPlaylist?.(undefined);
  core.observer.onUnpaired?.(reason, error);
  core.notifyAll();
  core.reportPhase();
}

/**
 * Falls back to the previous key, unless the service has rejected it, too. Returns whether the TV
 * fell back. The previous key may still work: the new key was replaced before its first use, or an
 * older backup was restored (docs/protocol.md §2.8).
 */
function fallBackToPreviousKey(core: PlayerCore, error: SignageError): boolean {
  const { binding, formerKey } = core.state;
  if (!binding || !formerKey || formerKey.isRefused) return false;
  core.rebind({ ...binding, apiKey: formerKey.apiKey }, core.bound.id);
  core.record.change({
    formerKey: { apiKey: binding.apiKey, isRefused: true },
    rotating: undefined,
  });
  core.saveInBackground();
  core.observer.onFallBack?.(error);
  return true;
}

/**
 * Uses the saved key if it differs from the key in RAM, which may be corrupted. Otherwise falls
 * back to the previous key, or forgets the key.
 */
async function checkKey(core: PlayerCore, error: SignageError): Promise<void> {
  const saved = await core.record.savedBinding();
  if (saved && saved.apiKey !== core.state.binding?.apiKey) core.rebind(saved);
  else if (!fallBackToPreviousKey(core, error)) forgetKey(core, 'invalid', error);
}

function leaveRevoked(core: PlayerCore, error: SignageError): void {
  if (!fallBackToPreviousKey(core, error)) forgetKey(core, 'revoked', error);
}

/**
 * Changes the id in the paths of requests. A TV has the ids of its device and of its screen. If the
 * service rejects one id, the TV uses the other id.
 */
function switchId(core: PlayerCore): void {
  const { binding } = core.state;
  if (binding)
    core.bound.id = core.bound.id === binding.screenId ? binding.deviceId : binding.screenId;
}

/**
 * Reactions to a 401, by error code (docs/protocol.md §2.1). After any other code the TV keeps its
 * key, because a proxy may have answered.
 */
const handlers: Readonly<
  Record<string, (core: PlayerCore, error: SignageError) => void | Promise<void>>
> = {
  // The header was lost in transit. The call is retried.
  device_key_missing: () => {},
  device_key_invalid: checkKey,
  device_key_revoked: leaveRevoked,
  device_key_orphaned: (core, error) => forgetKey(core, 'orphaned', error),
  device_key_mismatch: switchId,
};

async function handleAuthError(core: PlayerCore, error: SignageError): Promise<void> {
  if (Object.hasOwn(handlers, error.code)) await handlers[error.code]?.(core, error);
}

/** The operation of a call, and a function that returns the status of a successful response. */
export interface PlayerCall<T> {
  operation: RuntimeOperation;
  statusOf(answer: T): number;
}

/**
 * Makes one attempt and reports its outcome to the observer. Throws the errors of the client. A
 * power cut aborts the attempt.
 */
export async function callOnce<T>(
  core: PlayerCore,
  { operation, statusOf }: PlayerCall<T>,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const startedAtMs = core.clock.now();
  const report = (status: number | undefined, code?: string) => {
    const atMs = core.clock.now();
    core.reportAnswer({ operation, status, code, ms: atMs - startedAtMs, atMs });
  };
  try {
    const answer = await core.hold(() => core.abortable(send));
    report(statusOf(answer));
    return answer;
  } catch (error) {
    // An aborted call has no outcome to report.
    if (error instanceof SignageError && error.code !== 'interrupted')
      report(error.status, error.code);
    throw error;
  }
}

/**
 * Makes one attempt with the TV's key. Handles a 401 before throwing it. So after an error, the TV
 * may have no key any more.
 */
export async function callWithKey<T>(
  core: PlayerCore,
  call: PlayerCall<T>,
  send: (client: DeviceClient, id: string, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { bound } = core;
  try {
    const answer = await callOnce(core, call, (signal) => send(bound.client, bound.id, signal));
    // The current key works. If it is rejected later, the TV may fall back to the former key again.
    if (core.state.formerKey?.isRefused && core.bound === bound)
      core.record.change({ formerKey: { apiKey: core.state.formerKey.apiKey } });
    return answer;
  } catch (error) {
    // A response to an old key says nothing about the current key.
    if (
      error instanceof SignageError &&
      error.status === 401 &&
      core.state.binding &&
      core.bound === bound
    )
      await handleAuthError(core, error);
    throw error;
  }
}
