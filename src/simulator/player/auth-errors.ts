import type { SignageError } from '../../domain/error.ts';
import type { PlayerCore } from './core.ts';
import type { UnpairedReason } from './observer.ts';
import { freshState } from './saved-state.ts';

/** Forgets the key and all that hangs on it: playlist and config are those of a screen that is no longer this TV's, and nobody takes its events. */
function forgetKey(core: PlayerCore, why: UnpairedReason, error: SignageError): void {
  const { queue, batch } = core.state;
  const unsent = [...(batch?.events ?? []), ...queue];
  core.record.state = freshState;
  core.rebind(undefined);
  core.unpaired = { why, error };
  core.saveSoon();
  if (unsent.length > 0) core.observer.onDropped?.(unsent, 'unpaired');
  core.observer.onUnpaired?.(why, error);
  core.ringAll();
  core.tellPhase();
}

/**
 * Goes back to the key before this one, once; answers whether there was one. It works where the new one was replaced before it was first used, and
 * after a backup of the service was put back that is older than the new one (docs/protocol.md §2.8).
 */
function fallBack(core: PlayerCore, error: SignageError): boolean {
  const { binding, formerKey } = core.state;
  if (!binding || !formerKey || formerKey.isRefused) return false;
  core.rebind({ ...binding, apiKey: formerKey.apiKey }, core.bound.id);
  core.record.change({
    formerKey: { apiKey: binding.apiKey, isRefused: true },
    rotating: undefined,
  });
  core.saveSoon();
  core.observer.onFallBack?.(error);
  return true;
}

/** The key in use may have been spoiled in memory: if another one is kept, that one counts. */
async function checkKey(core: PlayerCore, error: SignageError): Promise<void> {
  const kept = await core.record.keptBinding();
  if (kept && kept.apiKey !== core.state.binding?.apiKey) core.rebind(kept);
  else if (!fallBack(core, error)) forgetKey(core, 'invalid', error);
}

function leaveRevoked(core: PlayerCore, error: SignageError): void {
  if (!fallBack(core, error)) forgetKey(core, 'revoked', error);
}

/** The service knows the TV by two ids: when it does not take the one, the other. */
function mendId(core: PlayerCore): void {
  const { binding } = core.state;
  if (binding)
    core.bound.id = core.bound.id === binding.screenId ? binding.deviceId : binding.screenId;
}

/** What a TV does about a 401, by its code (docs/protocol.md §2.1). Of a code that is not here the key is kept: it may be a proxy that speaks. */
const rules: Readonly<
  Record<string, (core: PlayerCore, error: SignageError) => void | Promise<void>>
> = {
  // It was sent, and lost on the way: it is sent again.
  device_key_missing: () => {},
  device_key_invalid: checkKey,
  device_key_revoked: leaveRevoked,
  device_key_orphaned: (core, error) => forgetKey(core, 'orphaned', error),
  device_key_mismatch: mendId,
};

export async function handleAuthError(core: PlayerCore, error: SignageError): Promise<void> {
  if (Object.hasOwn(rules, error.code)) await rules[error.code]?.(core, error);
}
