import { describe, expect, it } from 'vitest';
import { hourMs, secondMs, systemClock } from '../../src/domain/clock.ts';
import { SeededRandom } from '../../src/simulator/seeded-random.ts';
import { makeVirtualClock } from '../../src/simulator/tv/virtual-clock.ts';
import { json, stubService } from '../support/network/stub-service.ts';
import { video, virtualTv } from '../support/tv/virtual-tv.ts';
import { binding, memoryWith, playlistOf } from './saved-tv.ts';

const startMs = 1_790_000_000_000;
const start = startMs / 1000;
const rare = { syncIntervalMinutes: 1440, heartbeatIntervalMinutes: 1440, cachePolicy: {} };
const base = [video(1, 8, { name: 'base' })];
const lunch = [video(2, 8, { name: 'lunch' })];
const playlist = playlistOf(base, {
  entryId: null,
  upcoming: [
    { from: start - 60, until: start + 20, entryId: null },
    { from: start + 20, until: start + 600, entryId: 'lunch' },
  ],
  entries: { lunch },
  base,
});

describe('1,000 players', () => {
  it('with wrong clocks, offline since they fetched, all switch within 2 s', async () => {
    const stub = await stubService((response, request) => {
      // As a service answers in the middle of a second.
      response.setHeader('date', new Date(startMs).toUTCString());
      json(200, playlist)(response, request);
    });
    const random = new SeededRandom('switches');
    const switchOf = async (index: number) => {
      const offMs = Math.round(random.between(-24, 24) * hourMs);
      const delayMs = Math.round(random.between(0, 999));
      const clock = makeVirtualClock({
        speed: Number.POSITIVE_INFINITY,
        startMs: startMs + delayMs + offMs,
        wall: systemClock,
      });
      const switchedMs: number[] = [];
      let fetched = 0;
      const memory = await memoryWith({ config: rare as never });
      const screenId = `screen-${index}`;
      await memory.save({ ...(await memory.load())!, binding: { ...binding, screenId } });
      const tv = virtualTv({
        url: stub.url,
        clock,
        memory,
        // The network fails after the first fetch of the playlist.
        wire: (send) => (url, parts) =>
          url.endsWith('/playlist') && fetched++ === 0
            ? send(url, parts)
            : Promise.reject(new Error('no network')),
        observer: {
          onShow(item) {
            if (item?.name === 'lunch' && switchedMs.length === 0)
              switchedMs.push(clock.now() - offMs - startMs);
          },
        },
      });
      await tv.player.run(undefined, 25 * secondMs);
      return switchedMs[0] ?? Number.POSITIVE_INFINITY;
    };
    const switches: number[] = [];
    // More connections at once may take longer than the client waits.
    for (let count = 0; count < 1000; count += 100) {
      const group = Array.from({ length: 100 }, (_, index) => switchOf(count + index));
      switches.push(...(await Promise.all(group)));
    }
    expect(stub.heard).toHaveLength(1000);
    expect(Math.min(...switches)).toBeGreaterThanOrEqual(20 * secondMs);
    expect(Math.max(...switches)).toBeLessThanOrEqual(22 * secondMs);
  });
});
