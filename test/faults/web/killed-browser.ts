// A Chromium with the web player that is killed like a TV whose plug is pulled.
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  openTvBrowser,
  type TvBrowser,
  type TvBrowserOptions,
} from '../../support/browser/chromium.ts';

/** Returns the processes whose command line names this profile, and their process groups. */
function processesOf(profile: string): number[] {
  const text = execFileSync('ps', ['-eo', 'pid=,pgid=,args='], { encoding: 'utf8' });
  const all = text.split('\n').flatMap((line) => {
    const [, pid, group, args = ''] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), group, args }];
  });
  const groups = new Set(
    all.filter(({ args }) => args.includes(profile)).map(({ group }) => group),
  );
  return all
    .filter(({ group, pid }) => groups.has(group) && pid !== process.pid)
    .map(({ pid }) => pid);
}

function signalAll(profile: string, signal: NodeJS.Signals): void {
  for (const pid of processesOf(profile)) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended with its parent.
    }
  }
}

/** Stops all processes of a browser, so that none writes any more. */
export function pauseBrowser({ profile }: Pick<TvBrowser, 'profile'>): void {
  signalAll(profile, 'SIGSTOP');
}

/** Kills all processes of a browser at once, and waits until they are gone. */
export async function killBrowser({ profile }: Pick<TvBrowser, 'profile'>): Promise<void> {
  signalAll(profile, 'SIGKILL');
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
