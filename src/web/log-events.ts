import type { EventInput } from '../client/entities.ts';
import { secondMs, systemClock } from '../domain/clock.ts';
import { storageQuota } from './media/media-budget.ts';
import { takeLoadReason } from './recovery/reload.ts';

const logEvent = (message: string, more: object): EventInput => ({
  type: 'log',
  timestamp: Math.floor(systemClock.now() / secondMs),
  message,
  ...more,
});

/** Returns the event of a page load, with the build, the browser, and the reason for the load. */
export async function describeStart(build: string): Promise<EventInput> {
  const persisted = await navigator.storage?.persist?.().catch(() => false);
  return logEvent('web player started', {
    build,
    userAgent: navigator.userAgent.slice(0, 500),
    reason: takeLoadReason(localStorage),
    isSecure: window.isSecureContext,
    isPersisted: persisted === true,
    quotaBytes: (await storageQuota()) ?? null,
  });
}

/** Reports about files, each once for each version of the playlist. */
export class FileReports {
  readonly #noted = new Set<string>();
  readonly #report: (event: EventInput) => void;

  constructor(report: (event: EventInput) => void) {
    this.#report = report;
  }

  note(message: string, more: object): void {
    const key = message + JSON.stringify(more);
    if (this.#noted.has(key)) return;
    this.#noted.add(key);
    this.#report(logEvent(message, more));
  }

  /** A new version of the playlist begins. */
  clear(): void {
    this.#noted.clear();
  }
}
