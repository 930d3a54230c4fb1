import type { EventInput } from '../client/entities.ts';
import { secondMs, systemClock } from '../domain/clock.ts';
import { webPlayerStarted } from '../domain/events/web-player-log.ts';
import { storageQuota } from './media/media-budget.ts';
import { takeLoadReason } from './recovery/reload.ts';

export const logEvent = (message: string, more: object): EventInput => ({
  type: 'log',
  timestamp: Math.floor(systemClock.now() / secondMs),
  message,
  ...more,
});

/** Returns the event of a page load, with the build, the browser, and the reason for the load. */
export async function describeStart(build: string): Promise<EventInput> {
  const persisted = await navigator.storage?.persist?.().catch(() => false);
  return logEvent(webPlayerStarted, {
    build,
    userAgent: navigator.userAgent.slice(0, 500),
    reason: takeLoadReason(localStorage),
    isSecure: window.isSecureContext,
    isPersisted: persisted === true,
    quotaBytes: (await storageQuota()) ?? null,
  });
}
