// A Chromium with the web player that is killed like a TV whose plug is pulled.
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { openTvBrowser, type TvBrowser, type TvBrowserOptions } from '../../support/chromium.ts';

/** Returns the ids of the processes whose command line names this profile. */
function processesOf(profile: string): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines
    .filter((line) => line.includes(`--user-data-dir=${profile}`))
    .map((line) => Number.parseInt(line, 10));
}

/** Kills all processes of a browser at once, and waits until they are gone. */
export async function killBrowser({ profile }: Pick<TvBrowser, 'profile'>): Promise<void> {
  for (const pid of processesOf(profile)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended with its parent.
    }
  }
  while (processesOf(profile).length > 0) await sleep(20);
}

/**
 * Opens the player in a new browser or with the profile of a killed one. `prepare` runs before the
 * page loads.
 */
export async function openPlayer(
  playerUrl: string,
  options: TvBrowserOptions = {},
  prepare: (browser: TvBrowser) => Promise<void> = async () => {},
): Promise<TvBrowser> {
  const browser = await openTvBrowser(options);
  await prepare(browser);
  // Without the service, the Service Worker answers. Before it is installed, the load fails.
  await browser.page.goto(playerUrl).catch(() => {});
  return browser;
}
