// A Chromium whose page can be hidden and frozen. Playwright's own browsers keep it visible.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { expect } from 'vitest';
import { temporaryFolder } from '../disk/temporary-folder.ts';
import { chromiumPath, launchArguments, openPage, type TvBrowser } from './chromium.ts';

export interface HideableBrowser extends TvBrowser {
  /** Minimizes the window, as a display that is off hides a page, or shows it again. */
  setHidden(isHidden: boolean): Promise<void>;
  /** Freezes the hidden page: none of its scripts run. */
  setFrozen(isFrozen: boolean): Promise<void>;
}

/** Opens a browser with one visible page. It is closed after the tests of the file. */
export async function openHideableBrowser(): Promise<HideableBrowser> {
  const profile = await temporaryFolder();
  const args = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`];
  const program = spawn(chromiumPath!, [...args, ...launchArguments, 'about:blank'], {
    stdio: 'ignore',
  });
  const ended = once(program, 'exit');
  let port = '';
  await expect
    .poll(async () => {
      const text = await readFile(join(profile, 'DevToolsActivePort'), 'utf8').catch(() => '');
      port = text.split('\n')[0]!;
      return port;
    })
    .not.toBe('');
  const connected = await chromium.connectOverCDP(`http://127.0.0.1:${port}`, { noDefaults: true });
  const [context] = connected.contexts();
  const browser = await openPage(context!, profile, undefined);
  const { page, close } = browser;
  await page.setViewportSize({ width: 1280, height: 720 });
  const session = await context!.newCDPSession(page);
  const { windowId } = await session.send('Browser.getWindowForTarget');
  const isHidden = () => page.evaluate('document.hidden');
  return Object.assign(browser, {
    async setHidden(toHidden: boolean) {
      const windowState = toHidden ? 'minimized' : 'normal';
      await session.send('Browser.setWindowBounds', { windowId, bounds: { windowState } });
      await expect.poll(isHidden).toBe(toHidden);
    },
    async setFrozen(isFrozen: boolean) {
      const state = isFrozen ? 'frozen' : 'active';
      await session.send('Page.setWebLifecycleState', { state });
    },
    /** Waits until all processes of the browser have left its profile. */
    async close() {
      const whole = await connected.newBrowserCDPSession();
      await whole.send('Browser.close');
      await ended;
      await close();
    },
  });
}
