import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { startProcess } from '../support/process/signage-process.ts';
import { startServed } from './served.ts';

const token = `mak_${'ApplySite'.repeat(4)}`;
const bars = { first: 30, again: 5 };
const shapes = [
  { venues: 1, screensEach: 1_000 },
  { venues: 100, screensEach: 10 },
];

/** Returns a site in which every screen has labels, a config, and its own or a shared playlist. */
function makeSite({ venues, screensEach }: (typeof shapes)[number]): string {
  const items = (n: number) =>
    Array.from({ length: 8 }, (_, at) => ({
      creativeId: `c1a0e5d2-47b3-4c68-9f2a-${String(n * 100 + at).padStart(12, '0')}`,
      creativeUrl: `https://media.example.com/${n}/${at}.mp4`,
      creativeType: 'video',
      duration: 15,
      campaignId: '3d2f6c1a-8b47-4e0d-9a55-0c6e1f7b2a10',
    }));
  const screen = (n: number) => ({
    name: `Screen ${n}`,
    labels: { floor: String(n % 9), n: String(n) },
    config: { syncIntervalMinutes: 1 + (n % 60) },
    playlist: n % 2 === 0 ? 'house' : { items: items(n) },
  });
  const venue = (at: number) => ({
    name: `Venue ${at}`,
    timezone: 'Europe/Berlin',
    labels: { region: 'north' },
    config: { heartbeatIntervalMinutes: 2 },
    screens: Array.from({ length: screensEach }, (_, n) => screen(at * screensEach + n)),
  });
  return JSON.stringify({
    version: 1,
    playlists: { house: { items: items(0) } },
    venues: Array.from({ length: venues }, (_, at) => venue(at)),
  });
}

it.each(shapes)(
  'apply of $venues venues with $screensEach screens each, and again without changes',
  async (shape) => {
    const folder = await temporaryFolder();
    const file = join(folder, 'site.json');
    await writeFile(file, makeSite(shape));
    const served = await startServed(join(folder, 'data'), token);
    const run = async () => {
      const start = performance.now();
      const signage = startProcess(
        ['bin/signage.js', 'apply', '-f', file, '--unexamined', '-o', 'name'],
        {
          env: { SIGNAGE_URL: served.url, SIGNAGE_TOKEN: token },
        },
      );
      expect(await signage.ended, signage.err()).toBe(0);
      return { seconds: (performance.now() - start) / 1000, said: signage.err().trim() };
    };
    const [first, again] = [await run(), await run()];
    await served.stop();
    const line = ({ seconds, said }: typeof first, bar: number) =>
      `${seconds.toFixed(2)} s (bar: ${bar} s; ${said})`;
    console.log(
      `${shape.venues} venues of ${shape.screensEach} screens: first ${line(first, bars.first)}, again ${line(again, bars.again)}`,
    );
    expect(again.said).toContain('Nothing to change');
    expect(first.seconds).toBeLessThan(bars.first);
    expect(again.seconds).toBeLessThan(bars.again);
  },
);
