import { hourMs, minuteMs, secondMs } from '../../domain/clock.ts';
import type { LoadReason, Reloader } from './reload.ts';

const checkMs = 5 * secondMs;
/**
 * Maximum number of consecutive checks, over one minute, in which an item is due but not shown. One
 * more check reloads the page. Counts checks instead of time, because a suspended browser also
 * shows no item.
 */
const darkCheckLimit = minuteMs / checkMs;
const updateCheckMs = 10 * minuteMs;
const defaultReloadHours = 7 * 24;
const maxHeapShare = 0.8;
/** Minimum time from a page load to a reload because of high memory usage. */
const minMemoryReloadMs = 10 * minuteMs;

interface HeapSize {
  usedJSHeapSize: number;
  jsHeapSizeLimit: number;
}

export interface WatchdogOptions {
  reloader: Reloader;
  pageUrl: string;
  /** Name of the running script, `app.<hash>.js`. */
  build: string;
  /** Whether the playlist has an item to show now. */
  isDue(): boolean;
  isShowing(): boolean;
  /** Member `player.reloadHours` of the config. */
  reloadHours(): unknown;
}

/** Returns the share of the JavaScript heap in use. Only Chromium reveals the heap size. */
function heapShare(): number {
  const { memory } = performance as { memory?: HeapSize };
  return memory ? memory.usedJSHeapSize / memory.jsHeapSizeLimit : 0;
}

/**
 * Reloads the page if no item is shown although one is due. Wants a reload for an update, memory
 * usage or the age of the page.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #loadedAtMs = performance.now();
  #darkChecks = 0;
  #updateCheckedAtMs = performance.now();
  #hasUpdate = false;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  start(): void {
    setInterval(() => void this.#check(), checkMs);
  }

  /**
   * Returns the reason to reload the page before the next item. `undefined`: no reload is needed.
   */
  get wantedReload(): LoadReason | undefined {
    const hours = this.#options.reloadHours();
    const limitMs = (typeof hours === 'number' && hours >= 1 ? hours : defaultReloadHours) * hourMs;
    const ageMs = performance.now() - this.#loadedAtMs;
    if (this.#hasUpdate) return 'update';
    if (heapShare() > maxHeapShare && ageMs > minMemoryReloadMs) return 'memory';
    return ageMs > limitMs ? 'age' : undefined;
  }

  async #check(): Promise<void> {
    const { isDue, isShowing, reloader } = this.#options;
    const now = performance.now();
    if (isShowing()) reloader.noteRecovered();
    this.#darkChecks = isShowing() || !isDue() ? 0 : this.#darkChecks + 1;
    if (this.#darkChecks > darkCheckLimit && reloader.mayRecover) {
      this.#darkChecks = 0;
      await reloader.reload('watchdog');
    }
    if (now - this.#updateCheckedAtMs > updateCheckMs) {
      this.#updateCheckedAtMs = now;
      this.#hasUpdate = await this.#isReplaced();
    }
  }

  /** Returns whether the service delivers another build of the page. */
  async #isReplaced(): Promise<boolean> {
    const { pageUrl, build } = this.#options;
    try {
      const response = await fetch(pageUrl, { cache: 'no-store' });
      const html = response.ok ? await response.text() : '';
      return /app\.[0-9a-f]+\.js/.test(html) && !html.includes(build);
    } catch {
      return false;
    }
  }
}
