import { watchdogPauseMs } from './pauses.ts';

/** Reason for a page load. `cold`: the browser was started, or a person loaded the page.
 * `asked`: the service has asked for it. */
export type LoadReason = 'cold' | 'watchdog' | 'update' | 'memory' | 'age' | 'asked';

const reasonItem = 'signage-player-reload-reason';
const reloadIdItem = 'signage-player-reload-id';
const watchdogItem = 'signage-player-watchdog-reloads';

interface WatchdogReloads {
  count: number;
  lastMs: number;
}

export function readJson(storage: Storage, item: string): unknown {
  try {
    return JSON.parse(storage.getItem(item) ?? 'null');
  } catch {
    return null;
  }
}

export function writeJson(storage: Storage, item: string, value: unknown): void {
  saveText(storage, item, JSON.stringify(value));
}

function saveText(storage: Storage, item: string, text: string): void {
  try {
    storage.setItem(item, text);
  } catch {
    // Ignored, because the player also works without its records about reloads.
  }
}

/** Returns the saved reason for this page load, and deletes it. */
export function takeLoadReason(storage: Storage): LoadReason {
  const reason = readJson(storage, reasonItem);
  storage.removeItem(reasonItem);
  return typeof reason === 'string' ? (reason as LoadReason) : 'cold';
}

/** Returns the saved id of the reload that this page load is, and deletes it. */
export function takeReloadId(storage: Storage): string | undefined {
  const reloadId = storage.getItem(reloadIdItem) ?? undefined;
  storage.removeItem(reloadIdItem);
  return reloadId;
}

/** Reloads the page. Counts the reloads by the watchdog across page loads. */
export class Reloader {
  readonly #storage: Storage;
  readonly #now: () => number;
  readonly #pageUrl: string;
  isReloading = false;

  constructor(storage: Storage, now: () => number, pageUrl: string) {
    this.#storage = storage;
    this.#now = now;
    this.#pageUrl = pageUrl;
  }

  /** Whether the watchdog may reload the page again. */
  get mayRecover(): boolean {
    const { count, lastMs } = this.#reloads();
    return count === 0 || Math.abs(this.#now() - lastMs) >= watchdogPauseMs(count);
  }

  /** Resets the count of reloads by the watchdog, because the player shows an item again. */
  noteRecovered(): void {
    if (this.#reloads().count > 0) this.#storage.removeItem(watchdogItem);
  }

  /**
   * Reloads the page if the service or the Service Worker delivers it. Otherwise the browser would
   * show its own error page, and no player would run any more. Calls `prepare` before the reload.
   *
   * @param reloadId given by the service, if it has asked for the reload
   */
  async reload(reason: LoadReason, prepare = async () => {}, reloadId?: string): Promise<void> {
    this.isReloading = true;
    if (!(await this.#canLoad())) {
      this.isReloading = false;
      return;
    }
    await prepare();
    if (reason === 'watchdog')
      writeJson(this.#storage, watchdogItem, {
        count: this.#reloads().count + 1,
        lastMs: this.#now(),
      });
    writeJson(this.#storage, reasonItem, reason);
    if (reloadId !== undefined) saveText(this.#storage, reloadIdItem, reloadId);
    location.reload();
  }

  async #canLoad(): Promise<boolean> {
    if (navigator.serviceWorker?.controller) return true;
    try {
      return (await fetch(this.#pageUrl, { cache: 'no-store' })).ok;
    } catch {
      return false;
    }
  }

  #reloads(): WatchdogReloads {
    const saved = readJson(this.#storage, watchdogItem) as Partial<WatchdogReloads> | null;
    return { count: Number(saved?.count ?? 0), lastMs: Number(saved?.lastMs ?? 0) };
  }
}
