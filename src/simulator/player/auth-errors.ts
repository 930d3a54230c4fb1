import type { SignageError } from '../../domain/error.ts';
import type { PlayerCore } from './core.ts';
import type { UnpairedReason } from './observer.ts';
import { freshState } from './saved-state.ts';

/**
 * Forgets the key and everything bound to it: the playlist and config belong to a screen that is no
 * longer this TV's, and the service would not accept its events.
 */
function forgetKey(core: PlayerCore, reason: UnpairedReason, error: SignageError): void {
  const { queue, batch } = core.state;
  const unsent = [...(batch?.events ?? []), ...queue];
  core.record.state = freshState;
  core.rebind(undefined);
  core.unpaired = { why: reason, error };
  core.saveInBackground();
  if (unsent.length > 0) core.observer.onDropped?.(unsent, 'unpaired');
  core.observer.onUnpaired?.(reason, error);
  core.notifyAll();
  core.reportPhase();
}

/**
 * Falls back to the previous key, once. Returns whether there was one. It still works if the new
 * key was replaced before its first use, or after the service was restored from an older backup
 * (docs/protocol.md §2.8).
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

/** The key in memory may be corrupted: if the saved key differs, uses that one. */
async function checkKey(core: PlayerCore, error: SignageError): Promise<void> {
  const saved = await core.record.savedBinding();
  if (saved && saved.apiKey !== core.state.binding?.apiKey) core.rebind(saved);
  else if (!fallBackToPreviousKey(core, error)) forgetKey(core, 'invalid', error);
}

function leaveRevoked(core: PlayerCore, error: SignageError): void {
  if (!fallBackToPreviousKey(core, error)) forgetKey(core, 'revoked', error);
}

/** A TV has two ids, of the device and of the screen. If the service rejects one, use the other. */
function switchId(core: PlayerCore): void {
  const { binding } = core.state;
  if (binding)
    core.bound.id = core.bound.id === binding.screenId ? binding.deviceId : binding.screenId;
}

/**
 * The reaction to a 401, by its code (docs/protocol.md §2.1). For any other code the TV keeps its
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

export async function handleAuthError(core: PlayerCore, error: SignageError): Promise<void> {
  if (Object.hasOwn(handlers, error.code)) await handlers[error.code]?.(core, error);
}
