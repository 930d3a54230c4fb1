// Web pages that try to freeze the player, and to read its device key.
import { createServer } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium } from '../../support/browser/chromium.ts';
import { startLocally } from '../../support/network/local-server.ts';
import { item } from '../../support/service/content.ts';
import { manager } from '../../support/service/management.ts';
import { idOf, upload } from '../../support/service/media.ts';
import { startTvOnScreen, storedRecords } from '../../support/tv/tv-on-screen.ts';

/** Scripts of pages that block their own thread, or flood the browser, once they have loaded. */
const floods: Record<string, string> = {
  'an endless loop': 'for (;;);',
  'synchronous XHR': `for (;;) {
    const request = new XMLHttpRequest();
    request.open('GET', '/slow', false);
    try { request.send(); } catch {}
  }`,
  'a huge layout': `
    document.body.innerHTML = '<div style="float:left;width:50%"><table><td>x</table></div>'.repeat(1e5);
    for (let width = 0; ; width = (width + 1) % 1000) {
      document.body.style.width = width + 'px';
      document.body.offsetHeight;
    }`,
  'alert storms': 'setInterval(() => { alert(1); confirm(2); prompt(3); print(); }, 5);',
  'history floods': `
    let entry = 0;
    setInterval(() => { history.pushState(entry++, '', '#' + entry); history.go(-20); }, 20);`,
};

const inFrame = (target: string) => `<iframe src="${target}"></iframe>`;
/** Pages of another origin that lead to addresses of the service. */
const routes: Record<string, (targets: string[]) => string> = {
  navigation: ([target]) => `<script>location.href = ${JSON.stringify(target)}</script>`,
  'nested frames': (targets) => targets.map(inFrame).join(''),
  srcdoc: (targets) =>
    targets.map((target) => `<iframe srcdoc='${inFrame(target)}'></iframe>`).join(''),
  'blob:': (targets) => `<script>
    const page = new Blob([${JSON.stringify(targets.map(inFrame).join(''))}], { type: 'text/html' });
    const frame = document.createElement('iframe');
    frame.src = URL.createObjectURL(page);
    document.documentElement.append(frame);
  </script>`,
};
const ownPage = Buffer.from('<!doctype html><title>Menu</title>');
const paths = [`media/${idOf(ownPage)}.html`, 'player', 'healthz', 'v1/nothing'];
const attacks = [
  ...paths.flatMap((path) => [`redirect to ${path}`, `navigation to ${path}`]),
  ...['nested frames', 'srcdoc', 'blob:'].map((route) => `${route} to ${paths.join()}`),
];

/** The address of a frame whose page the browser refuses to show. */
const refusedUrl = 'chrome-error://chromewebdata/';

/** Records the longest time between two ticks of a timer of the player's page. */
const stallRecorder = `if (window === top) {
  window.longestStallMs = 0;
  let lastMs = performance.now();
  setInterval(() => {
    longestStallMs = Math.max(longestStallMs, performance.now() - lastMs);
    lastMs = performance.now();
  }, 20);
}`;

/** Whether a script in a frame can read the device key, by a window that it can reach. */
const readKey = `[self, parent, top].some((one) => {
  try { return /apiKey/.test(one.localStorage.getItem('signage-player-binding')); }
  catch { return false; }
})`;

describe.skipIf(!chromiumPath)(`hostile pages in the web player${needsChromium}`, () => {
  let base: string;
  let serviceUrl: string;

  const page = (name: string, more: object, url = base) =>
    item({ creativeUrl: `${url}/${encodeURIComponent(name)}`, creativeType: 'html', ...more });

  function contentOf(name: string): string {
    const [route = '', list = ''] = name.split(' to ');
    const targets = list.split(',').map((path) => `${serviceUrl}/${path}`);
    const redirects = list.split(',').map((path) => `${base}/redirect%20to%20${path}`);
    if (routes[route]) return routes[route]([...targets, ...redirects]);
    if (name === 'a loop before load') return '<script>for (;;);</script>';
    return `<script>onload = () => setTimeout(() => { ${floods[name] ?? ''} }, 100)</script>`;
  }

  beforeAll(async () => {
    const server = createServer((incoming, outgoing) => {
      const name = decodeURIComponent((incoming.url ?? '').slice(1));
      const [route, path] = name.split(' to ');
      if (name === 'slow') setTimeout(() => outgoing.end(), 1000);
      else if (route === 'redirect')
        outgoing.writeHead(302, { location: `${serviceUrl}/${path}` }).end();
      else
        outgoing
          .writeHead(200, { 'content-type': 'text/html' })
          .end(`<body>${contentOf(name)}</body>`);
    });
    base = (await startLocally(server)).url;
  });

  it.each([false, true])('read no device key, with storage: %s', async (storage) => {
    const tv = await startTvOnScreen({ items: [] });
    serviceUrl = tv.service.url;
    expect((await upload(manager(tv.service), ownPage)).status).toBe(201);
    for (const name of attacks) {
      const attack = page(name, { storage, duration: 60 });
      await tv.publish([attack]);
      const only = tv.page.locator(`iframe:only-of-type[src="${attack.creativeUrl}"]`);
      await expect.poll(() => only.count()).toBe(1);
      const frames = () => tv.page.frames().slice(1);
      const arrived = () =>
        frames().filter(
          (frame) => frame.url() === refusedUrl || frame.url().startsWith(serviceUrl),
        );
      const targets = name.includes(',') ? 2 * paths.length : 1;
      await expect.poll(() => arrived().length).toBe(targets);
      const read = frames().map((frame) =>
        frame.evaluate(readKey).catch((error) => {
          // A frame of the previous page.
          if (!frame.isDetached()) throw error;
        }),
      );
      expect([name, (await Promise.all(read)).includes(true)]).toEqual([name, false]);
    }
    await tv.browser.close();
  });

  it.each([
    // Over plain http, Chromium ignores Origin-Agent-Cluster.
    { over: 'http', storage: false, names: Object.keys(floods) },
    { over: 'loopback', storage: true, names: ['an endless loop'] },
  ])(
    'stop no timer over $over, with storage: $storage',
    async ({ over, storage, names }) => {
      const at = (host: string, url: string) =>
        over === 'http' ? url.replace('127.0.0.1', `${host}.example.com`) : url;
      const of = (name: string) => page(name, { storage, duration: 1 }, at('media', base));
      const playing = names.map(of);
      const items = [...playing, of('a loop before load'), of('a good page')];
      const tv = await startTvOnScreen({
        items,
        initScript: stallRecorder,
        args: ['--host-resolver-rules=MAP *.example.com 127.0.0.1'],
        url: (own) => at('signage', own),
      });
      const events = async () => {
        const stored = await storedRecords(tv, 'events', 'getAll');
        return items.map(({ creativeId }) => {
          const event = stored.find((one) => one.creativeId === creativeId);
          return event && [event.type, event.reason ?? event.duration];
        });
      };
      await expect.poll(events, { timeout: 100_000 }).not.toContain(undefined);
      expect(await events()).toEqual([
        ...playing.map(() => ['play', 1]),
        ['playback_error', 'hung'],
        ['play', 1],
      ]);
      const state = '({ longestStallMs, isSecureContext, path: location.pathname })';
      expect(await tv.page.evaluate(state)).toEqual({
        longestStallMs: expect.toSatisfy((ms: number) => ms < 1000),
        isSecureContext: over === 'loopback',
        path: '/player',
      });
      await tv.browser.close();
    },
    120_000,
  );

  it.each([
    { what: 'isolates pages', args: [], isRisk: false },
    {
      what: 'isolates no pages',
      args: ['--disable-features=IsolateSandboxedIframes'],
      isRisk: true,
    },
  ])('are reported as a risk in a Chromium that $what: $isRisk', async ({ args, isRisk }) => {
    const tv = await startTvOnScreen({ items: [], args });
    await expect.poll(() => tv.page.locator('iframe').count()).toBe(0);
    const notes = async () => (await tv.page.locator('.note').allTextContents()).join();
    await expect.poll(notes).toMatch(isRisk ? /can freeze the player/ : /^(?!.*freeze)/);
    await tv.reload();
    const isolation = async () =>
      (await tv.events('player_report')).map(({ isolatesPages }) => isolatesPages);
    await expect.poll(isolation).toContain(!isRisk);
    expect(tv.browser.problems).toEqual([]);
    await tv.browser.close();
  });
});
