import type { DeviceChanges } from '../client/entities.ts';
import { minuteMs, secondMs } from '../domain/clock.ts';
import { identifiedEvent } from './batch.ts';
import type { PlayerCore } from './core.ts';
import { queueEvent, unsentCount } from './events.ts';

/** Longest identification (docs/protocol.md §2.9). */
const maxMs = 10 * minuteMs;
/** Time in which a fleet that is identified at the same moment spreads its reports. */
const spreadMs = 2 * secondMs;

/** Reports that the TV has drawn who it is, once somebody could see it. */
export function reportIdentity(core: PlayerCore): void {
  const { identity, isHidden } = core;
  if (!identity || identity.isReported || isHidden) return;
  identity.isReported = true;
  queueEvent(core, identifiedEvent(identity.until, core.clock.now()));
  core.clock.after(core.randomFraction() * spreadMs, () => {
    core.isUrgent ||= unsentCount(core) > 0;
    core.networkNotifier.notify();
  });
}

/** Stops drawing who the TV is. */
export function hideIdentity(core: PlayerCore): void {
  const { identity } = core;
  if (!identity) return;
  core.coveredBeforeMs = core.coveredMs;
  core.identity = undefined;
  identity.cancelEnd();
  core.observer.onIdentify?.(undefined);
}

/**
 * Draws who the TV is for as long as an answer says, or stops. Does nothing without `onIdentify`.
 *
 * @param serviceMs time of the service now
 */
export function identify(
  core: PlayerCore,
  { identifyUntil: until, screen }: DeviceChanges,
  serviceMs: number,
): void {
  const { observer, clock, state } = core;
  const forMs = until === undefined ? 0 : Math.min(maxMs, until * secondMs - serviceMs);
  // Also ends for a time that is not a number.
  if (!observer.onIdentify || until === undefined || !(forMs > 0)) {
    hideIdentity(core);
    return;
  }
  const before = core.identity;
  before?.cancelEnd();
  core.identity = {
    until,
    sinceMs: before?.sinceMs ?? clock.now(),
    isReported: before?.until === until && before.isReported,
    cancelEnd: clock.after(forMs, () => hideIdentity(core)),
  };
  if (!before)
    observer.onIdentify({
      venue: screen?.venue.name ?? '',
      screen: screen?.name ?? '',
      device: state.binding?.deviceId.slice(-4) ?? '',
    });
  reportIdentity(core);
}
