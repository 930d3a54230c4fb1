// Pages in a real Chromium, for the tests of the web player.
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumReason } from '../../config/chromium-reporter.ts';
import { temporaryFolder } from '../disk/temporary-folder.ts';
import { afterEachFile } from '../runtime/clean-up.ts';

const usualPaths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Chromium of `CHROMIUM`, or of the system. `CHROMIUM=` runs the tests without one. */
export const chromiumPath: string | undefined =
  process.env.CHROMIUM ?? usualPaths.find((path) => existsSync(path));

/** For the names of tests that are skipped. */
export const needsChromium = chromiumPath ? '' : ` (${chromiumReason}, CHROMIUM=/path)`;

export interface TvBrowserOptions {
  width?: number;
  height?: number;
  /** Profile of a browser that was closed or killed before. Default: a new one. */
  profile?: string;
  /** Additional arguments of Chromium. */
  args?: string[];
  /** Script that runs before those of each page. */
  initScript?: string;
}

export interface TvBrowser {
  context: BrowserContext;
  page: Page;
  profile: string;
  /** Violations of the content security policy, and errors that no code handled. */
  problems: string[];
  /** Hosts of all requests, with their ports. */
  hosts: Set<string>;
  close(): Promise<void>;
}

const opened = new Set<TvBrowser>();
let shared: Promise<Browser> | undefined;
afterEachFile(async () => {
  await Promise.all([...opened].map((browser) => browser.close()));
  await (await shared)?.close();
  shared = undefined;
});

/** As a kiosk's browser, which allows sound. Of an argument that is given twice, the last holds. */
export const launchArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--autoplay-policy=no-user-gesture-required',
];
const launchOptions = (args: readonly string[] = []) => ({
  executablePath: chromiumPath!,
  args: [...launchArguments, ...args],
});

/** Watches the first page of a browser, and closes the browser after the tests of the file. */
export async function openPage(
  context: BrowserContext,
  profile: string,
  initScript: string | undefined,
): Promise<TvBrowser> {
  if (initScript) await context.addInitScript({ content: initScript });
  const page = context.pages()[0] ?? (await context.newPage());
  const problems: string[] = [];
  const hosts = new Set<string>();
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) problems.push(message.text());
  });
  context.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (/^https?:$/.test(protocol)) hosts.add(host);
  });
  const browser: TvBrowser = {
    context,
    page,
    profile,
    problems,
    hosts,
    async close() {
      opened.delete(browser);
      await context.close();
    },
  };
  opened.add(browser);
  return browser;
}

const viewportOf = ({ width = 1280, height = 720 }: TvBrowserOptions) => ({ width, height });

/** Opens a browser with one page. It is closed after the tests of the file. */
export async function openTvBrowser(options: TvBrowserOptions = {}): Promise<TvBrowser> {
  const profile = options.profile ?? (await temporaryFolder());
  const context = await chromium.launchPersistentContext(profile, {
    ...launchOptions(options.args),
    viewport: viewportOf(options),
  });
  return openPage(context, profile, options.initScript);
}

/**
 * Opens a page with a storage of its own in the browser that all tests of the file share, which
 * takes a fraction of the time. Its storage is gone when it is closed.
 */
export async function openTvPage(
  options: Omit<TvBrowserOptions, 'profile' | 'args'> = {},
): Promise<TvBrowser> {
  shared ??= chromium.launch(launchOptions());
  const context = await (await shared).newContext({ viewport: viewportOf(options) });
  return openPage(context, '', options.initScript);
}
