// A TV with the web player, its service and its media, for tests in a real Chromium.
import { expect } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import {
  openTvBrowser,
  openTvPage,
  type TvBrowser,
  type TvBrowserOptions,
} from '../browser/chromium.ts';
import { colourAt } from '../browser/colour-at.ts';
import { startService } from '../service/service.ts';

export interface TvOnScreenOptions extends TvBrowserOptions {
  items: object[];
  config?: object;
  /** Whether to open a browser of its own, whose profile can be opened again. Default: false. */
  keepsProfile?: boolean;
  /** The browser to use. Default: a new one, or a page of the one that all tests share. */
  browser?: TvBrowser;
  /** Address of the service in the browser. Default: its own. */
  url?: (serviceUrl: string) => Promise<string> | string;
}

/** Pairs a new TV and publishes items for it. */
export async function startTvOnScreen({
  items,
  config = {},
  url = (own) => own,
  keepsProfile = false,
  browser: given,
  ...options
}: TvOnScreenOptions) {
  const service = await startService<Clock>({ clock: systemClock });
  const { code, screenId } = await service.code();
  const publish = async (all: object[]) => {
    const answer = await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items: all });
    if (answer.status >= 300) throw new Error(answer.text);
  };
  await service.manage('PUT', `/v1/screens/${screenId}/config`, config);
  if (items.length > 0) await publish(items);
  const isAlone = keepsProfile || options.args !== undefined;
  const browser = given ?? (await (isAlone ? openTvBrowser : openTvPage)(options));
  const { page } = browser;
  await page.goto(`${await url(service.url)}/player#${code}`);
  // A reload before the code is saved would lose it.
  const binding = "localStorage.getItem('signage-player-binding') ?? ''";
  await expect.poll(() => page.evaluate(binding)).toContain('apiKey');
  return {
    service,
    screenId,
    browser,
    page,
    /** Publishes items. The player learns of it at once. */
    publish,
    /** Reloads the page, which sends its events. */
    reload: async () => void (await page.reload()),
    /** All stored events of a type, the oldest first. */
    async events(type: string): Promise<Record<string, unknown>[]> {
      const query = `screenId=${screenId}&type=${type}&limit=200`;
      const { body } = await service.manage('GET', `/v1/events?${query}`);
      return body.items.map(({ event }: { event: object }) => event).toReversed();
    },
    /** Returns the colour in the middle of the screen, such as `255,0,0`. */
    colour() {
      const { width, height } = browser.page.viewportSize()!;
      return colourAt(browser.page, { x: width / 2, y: height / 2 });
    },
  };
}

export type TvOnScreen = Awaited<ReturnType<typeof startTvOnScreen>>;

/** Reads a store of the player's database. */
export const storedRecords = (
  tv: Pick<TvOnScreen, 'page'>,
  store: string,
  what: 'getAll' | 'getAllKeys',
) =>
  tv.page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open('signage-player');
    opening.onerror = reject;
    opening.onsuccess = () => {
      const database = opening.result;
      const request = database.transaction('${store}').objectStore('${store}').${what}();
      request.onsuccess = () => {
        database.close();
        resolve(request.result);
      };
    };
  })`) as Promise<Record<string, unknown>[]>;
