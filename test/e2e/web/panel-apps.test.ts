// How panels open the web player: the manifest of a kiosk, and the app of a webOS package.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeIpk } from '../../../src/cli/commands/player/ipk.ts';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { archiveMembers } from '../../cli/player/archive-members.ts';
import { chromiumPath, needsChromium, openTvPage } from '../../support/browser/chromium.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startService, type TestService } from '../../support/service/service.ts';

describe.skipIf(!chromiumPath)(`a panel opens the player${needsChromium}`, () => {
  let service: TestService<Clock>;
  beforeAll(async () => {
    service = await startService<Clock>({ clock: systemClock });
  });

  it('as a kiosk app: Chromium could install it by its manifest', async () => {
    const { page, problems } = await openTvPage();
    await page.goto(`${service.url}/player`);
    const browser = await page.context().newCDPSession(page);
    const manifest = await browser.send('Page.getAppManifest');
    expect(manifest.errors).toEqual([]);
    expect(manifest.url).toBe(`${service.url}/player/manifest.webmanifest`);
    const { start_url, scope, icons } = JSON.parse(manifest.data!);
    for (const path of [start_url, scope])
      expect(new URL(path, manifest.url).href).toBe(`${service.url}/player`);
    for (const { src, sizes, type } of icons) {
      const answer = await fetch(new URL(src, manifest.url));
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
      const size = await page.evaluate(
        `(async () => { const i = new Image(); i.src = 'player/${src}'; await i.decode(); return i.naturalWidth + 'x' + i.naturalHeight; })()`,
      );
      expect(size).toBe(sizes);
    }
    const { installabilityErrors } = await browser.send('Page.getInstallabilityErrors');
    // A browser without a profile installs nothing.
    expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('as the app of a webOS package, which waits for a service that does not answer yet', async () => {
    const { page } = await openTvPage();
    const members = archiveMembers(Buffer.from(await makeIpk(`${service.url}/player#rotate=90`)));
    const files = await unpackTar(gunzipSync(members['data.tar.gz']!));
    const app = files.find(({ header }) => header.name.endsWith('/index.html'));
    const file = join(await temporaryFolder(), 'index.html');
    await writeFile(file, app?.data ?? '');
    let refused = 0;
    await page.route(`${service.url}/player`, (route) => {
      refused++;
      return route.abort('connectionrefused');
    });
    await page.goto(pathToFileURL(file).href);
    await expect.poll(() => refused).toBeGreaterThan(0);
    expect(await page.locator('p').innerText()).toBe(
      `Waiting for ${service.url}/player#rotate=90 …`,
    );
    await page.unroute(`${service.url}/player`);
    await expect.poll(() => page.url()).toContain(`${service.url}/player`);
    await page.locator('.message').waitFor();
  });
});
