import { describe, expect, it } from 'vitest';
import type { DeviceChanges } from '../../../src/domain/records/device-changes.ts';
import type { DevicePrincipal, ServiceDependencies } from '../../../src/service/context.ts';
import type { CurrentAnswers } from '../../../src/service/playlists/device-answers.ts';
import { makeDeviceChanges } from '../../../src/service/playlists/device-changes.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

const principal = {
  address: null,
  requestId: null,
  key: { hash: 'hash', state: 'active' },
  device: { id: 'device-1', venueId: 'venue-1', tenantId: 'tenant-1' },
  screen: { id: 'screen-1', deviceId: 'device-1' },
} as unknown as DevicePrincipal;

/** Another TV, on a screen of its own. */
const tvOf = (id: string): DevicePrincipal => {
  const device = { ...principal.device, id };
  return {
    ...principal,
    device,
    screen: { ...principal.screen, id: `screen of ${id}`, deviceId: id },
  };
};

/**
 * Holds whose changes and reads are controlled by the test. `draw`: the random number from 0 to 1
 * that sets the end of a hold.
 */
function setUp({ draw = 1 } = {}) {
  const clock = new ManualClock();
  let cursor = 'old';
  let endsAtMs = Number.POSITIVE_INFINITY;
  let onChange: ((topic: string) => void) | undefined;
  let pausedRead = Promise.resolve();
  let rejection: Error | undefined;
  const store = {
    read: { findByKeyHash: async () => principal },
    watch(_: string, wake: (topic: string) => void) {
      onChange = wake;
      return () => {
        onChange = undefined;
      };
    },
  } as unknown as ServiceDependencies['store'];
  const current = async (): Promise<CurrentAnswers> => {
    const changes: DeviceChanges = { cursor, playlist: null, config: { etag: '"c"' } };
    await pausedRead;
    return { changes, endsAtMs };
  };
  const checkKey = () => {
    if (rejection) throw rejection;
    return principal;
  };
  const changes = makeDeviceChanges(
    { store, clock },
    { deviceAnswers: { current }, checkKey, draw: () => draw },
  );
  const ends: (string | Error)[] = [];
  const hold = (waitSeconds = 50, by = principal) =>
    changes.hold(
      by,
      { after: 'old', waitSeconds, baseUrl: 'http://signage.test' },
      {
        answer: (answered) => ends.push(answered.cursor),
        fail: (error) => ends.push(error as Error),
      },
    );
  return {
    clock,
    /** Begins a hold, and lets it look. */
    async held() {
      hold();
      await settle();
    },
    async pass(ms: number) {
      clock.advance(ms);
      await settle();
    },
    changes,
    ends,
    hold,
    isWatching: () => onChange !== undefined,
    tell: (topic: string) => onChange?.(topic),
    publish(next: string) {
      cursor = next;
    },
    reject(error: Error) {
      rejection = error;
    },
    endPlaylistAt(timeMs: number) {
      endsAtMs = timeMs;
    },
    /** Lets reads wait until the returned function is called. */
    pauseReads() {
      let resume = () => {};
      pausedRead = new Promise<void>((resolve) => {
        resume = resolve;
      });
      return resume;
    },
  };
}

describe('a hold', () => {
  it('ends at 80 to 100 % of its wait', async () => {
    for (const { draw, earliestMs, latestMs } of [
      { draw: 0, earliestMs: 40_000, latestMs: 40_100 },
      { draw: 1, earliestMs: 49_900, latestMs: 50_000 },
    ]) {
      const { ends, hold, pass } = setUp({ draw });
      hold(50);
      await settle();
      await pass(earliestMs - 1);
      expect(ends).toEqual([]);
      await pass(latestMs - earliestMs + 1);
      expect(ends).toEqual(['old']);
    }
  });

  it.each(['devices/device-1', 'screens/screen-1', 'venues/venue-1', 'tenants/tenant-1', '*'])(
    'looks again after a change of %s',
    async (topic) => {
      const { ends, hold, publish, tell } = setUp();
      hold();
      await settle();
      publish('new');
      tell('screens/screen-2');
      // Each batch of any TV of the tenant would wake all holds.
      tell('events/tenant-1');
      await settle();
      expect(ends).toEqual([]);
      tell(topic);
      await settle();
      expect(ends).toEqual(['new']);
    },
  );

  it('is told of a change that comes while it looks', async () => {
    const { ends, held, pass, pauseReads, publish, tell } = setUp();
    const resume = pauseReads();
    await held();
    publish('new');
    tell('screens/screen-1');
    resume();
    await settle();
    await pass(5);
    expect(ends).toEqual(['new']);
  });

  it('fails once its key is rejected, also when a later one replaces it', async () => {
    const { changes, ends, held, hold, reject, tell } = setUp();
    hold();
    await held();
    const revoked = new Error('revoked');
    reject(revoked);
    await held();
    expect(ends).toEqual([revoked, revoked]);
    tell('devices/device-1');
    await settle();
    expect(ends).toEqual([revoked, revoked, revoked]);
    expect(changes.heldCount()).toBe(0);
  });

  it('looks again when the playlist ends, and goes on if nothing has changed', async () => {
    const { clock, endPlaylistAt, ends, held, pass, publish } = setUp();
    endPlaylistAt(clock.now() + 1000);
    await held();
    endPlaylistAt(clock.now() + 20_000);
    await pass(1100);
    expect(ends).toEqual([]);
    publish('ended');
    await pass(19_000);
    expect(ends).toEqual(['ended']);
  });

  it('ends without an answer when it is given up, also while it looks', async () => {
    const { changes, ends, hold, isWatching, pass, pauseReads } = setUp();
    const giveUp = hold();
    await settle();
    expect(isWatching()).toBe(true);
    expect(giveUp()).toBe(true);
    expect(giveUp()).toBe(false);
    const resume = pauseReads();
    const giveUpLooking = hold();
    expect(giveUpLooking()).toBe(true);
    resume();
    await pass(60_000);
    expect(ends).toEqual([]);
    expect(changes.heldCount()).toBe(0);
    expect(isWatching()).toBe(false);
  });

  it('ends at once when a third one takes its place, also while others wait for their turn', async () => {
    const { changes, ends, held, hold, pass, tell } = setUp();
    hold(50, tvOf('device-2'));
    hold();
    await held();
    tell('tenants/tenant-1');
    await held();
    expect(ends).toEqual(['old']);
    await pass(5);
    await held();
    expect(ends).toEqual(['old', 'old']);
    expect(changes.heldCount()).toBe(3);
  });

  it('ends in time, and delays no hint, while 10,000 others end', async () => {
    const { clock, ends, hold, pass, publish, tell } = setUp({ draw: 0 });
    const other = tvOf('other');
    for (let n = 0; n < 10_000; n++) hold(50, tvOf(`tv-${n}`));
    await settle();
    clock.advance(1000);
    hold(50, other);
    await settle();
    await pass(39_100);
    publish('new');
    tell('devices/other');
    await settle();
    expect(ends).toHaveLength(10_001);
    expect(ends.filter((end) => end === 'new')).toHaveLength(1);
  });

  it('ends in time while it waits for its turn', async () => {
    const { changes, clock, ends, hold, pass, tell } = setUp({ draw: 0 });
    for (let n = 0; n < 1000; n++) hold(1, tvOf(`tv-${n}`));
    await settle();
    clock.advance(799);
    tell('*');
    await settle();
    expect(changes.heldCount()).toBe(1000);
    await pass(101);
    expect(ends).toHaveLength(1000);
    await pass(60_000);
    expect(ends).toHaveLength(1000);
  });

  it.each([
    ['2 holds', 1, 1],
    ['201 holds of one device', 200, 101],
  ])('is replaced at most 200 times a second: %s', async (_, replaced, atMost) => {
    const { clock, ends, hold } = setUp();
    for (let n = 0; n < replaced + 2; n++) hold();
    for (let ms = 0; ms < 500; ms += 5) {
      await settle();
      clock.advance(5);
    }
    expect(ends.length).toBeGreaterThan(0);
    expect(ends.length).toBeLessThanOrEqual(atMost);
  });

  it('ends when the service stops, and later ones end at once', async () => {
    const { changes, ends, held, hold, pass } = setUp();
    await held();
    changes.stop();
    await settle();
    expect(ends).toEqual(['old']);
    hold();
    await pass(5);
    expect(ends).toEqual(['old', 'old']);
  });
});
