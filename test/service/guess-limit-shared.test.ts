// What all sources together may guess, and what the trusted sources of a tenant may beside it.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeIdSource } from '../../src/domain/id.ts';
import {
  type GuessRateLimit,
  type LockOut,
  makeGuessRateLimit,
} from '../../src/service/pairing/rate-limit.ts';
import {
  makeTrustedSources,
  type TrustedSources,
} from '../../src/service/pairing/trusted-sources.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { ManualClock } from '../support/manual-clock.ts';

const minute = 60_000;
const hour = 60 * minute;

let clock: ManualClock;
let store: Store;
let trust: TrustedSources;
let limit: GuessRateLimit;
let lockOuts: LockOut[];
beforeEach(async () => {
  clock = new ManualClock();
  store = await openStore('memory:', { clock });
  lockOuts = [];
  ({ trust, limit } = instance());
});
afterEach(() => store.close());

/** One more instance on the store. */
function instance(codeTtlMinutes = 15, itsClock = clock) {
  const deps = {
    store,
    clock: itsClock,
    random: randomBytes,
    newId: makeIdSource(itsClock, randomBytes),
  };
  const itsTrust = makeTrustedSources(store, itsClock);
  const onLockOut = (lockOut: LockOut) => void lockOuts.push(lockOut);
  return {
    trust: itsTrust,
    limit: makeGuessRateLimit(deps, itsTrust, { codeTtlMs: codeTtlMinutes * minute, onLockOut }),
  };
}

let addresses = 0;
const fresh = () => `10.${(++addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;

/** How a registration of a code of `owner`, of none if unknown, is judged: `judged`, or the seconds to wait. */
async function judged(address: string, owner?: string, by = limit): Promise<'judged' | number> {
  try {
    await by.judge({ address, requestId: 'request-1' }, owner);
    return 'judged';
  } catch (error) {
    const { code, retryAfterSeconds } = error as { code: string; retryAfterSeconds: number };
    expect(code).toBe('too_many_attempts');
    return retryAfterSeconds;
  }
}

async function guessFromFresh(count: number, by = limit): Promise<void> {
  for (let n = 0; n < count; n++) expect(await judged(fresh(), undefined, by)).toBe('judged');
}

/** Unknown codes from one source until nothing is judged there any more: tries at codes of a tenant that vouches for it. */
async function guessWhileTrusted(address: string, tenant: string, most = 100): Promise<number> {
  for (let tries = 0; tries < most; tries++) {
    if ((await judged(address, tenant)) !== 'judged') return tries;
    await judged(address);
  }
  return most;
}

describe('unknown codes from all sources together', () => {
  it('are judged 128 times, then refused wherever they come from, and right codes with them', async () => {
    await guessFromFresh(128);
    expect(await judged(fresh())).toBe(60);
    expect(await judged(fresh(), 'a')).toBe(60);
  });

  it('cannot be used up by few sources: one may use an eighth of what is left, so it takes 35', async () => {
    let sources = 0;
    for (let used = 0; used < 128; sources++) {
      const source = fresh();
      expect(await judged(source, 'a')).toBe('judged');
      while ((await judged(source)) === 'judged') used++;
    }
    expect(sources).toBe(35);
    expect(await judged(fresh(), 'a')).not.toBe('judged');
  });

  it('cannot be used up by fewer IPv6 /48s than IPv4 addresses, whatever /64s they guess from', async () => {
    let prefixes = 0;
    for (let used = 0; used < 128; prefixes++) {
      for (let n = 0; n < 100; n++)
        if ((await judged(`2001:db8:${prefixes}:${n}00::1`)) === 'judged') used++;
    }
    expect(prefixes).toBe(35);
  });

  it('of a caller whose address is not known leave half to the others', async () => {
    const unknown = () => limit.judge({ address: null, requestId: null }, undefined);
    for (let n = 0; n < 64; n++) await unknown();
    await expect(unknown()).rejects.toMatchObject({ code: 'too_many_attempts' });
    trust.remember(null, 'a');
    await expect(limit.judge({ address: null, requestId: null }, 'a')).rejects.toMatchObject({
      code: 'too_many_attempts',
    });
    await guessFromFresh(64);
    expect(await judged(fresh())).not.toBe('judged');
  });

  it('are judged exactly 128 times of many at the same moment', async () => {
    const answers = await Promise.all(Array.from({ length: 300 }, () => judged(fresh())));
    expect(answers.filter((answer) => answer === 'judged')).toHaveLength(128);
  });

  it('count for one lifetime of a code, over a sliding window', async () => {
    await guessFromFresh(64);
    clock.advance(10 * minute);
    await guessFromFresh(64);
    clock.advance(5 * minute - 1);
    expect(await judged(fresh(), 'a')).toBe(60);
    clock.advance(1);
    await guessFromFresh(64);
    expect(await judged(fresh())).toEqual(expect.any(Number));
    clock.advance(10 * minute);
    await guessFromFresh(64);
    expect(await judged(fresh())).toEqual(expect.any(Number));
  });

  it.each([1, 60])('count for %i minutes where codes live as long', async (minutes) => {
    const { limit: own } = instance(minutes);
    await guessFromFresh(128, own);
    clock.advance(minutes * minute - 1);
    expect(await judged(fresh(), 'a', own)).toEqual(expect.any(Number));
    clock.advance(1);
    await guessFromFresh(128, own);
    expect(await judged(fresh(), undefined, own)).toEqual(expect.any(Number));
  });

  it('are counted by all instances together, by the time of the store', async () => {
    const ahead = new ManualClock(clock.now() + 20 * minute);
    const { limit: other } = instance(15, ahead);
    await guessFromFresh(64);
    await guessFromFresh(64, other);
    for (const by of [limit, other])
      expect(await judged(fresh(), 'a', by)).toEqual(expect.any(Number));
  });

  it('do not count where they are refused, and codes that are known never do', async () => {
    for (let n = 0; n < 300; n++) expect(await judged('192.0.2.1', 'a')).toBe('judged');
    for (let n = 0; n < 10; n++) expect(await judged('192.0.2.1')).toBe('judged');
    for (let n = 0; n < 300; n++) expect(await judged('192.0.2.1')).not.toBe('judged');
    await guessFromFresh(118);
    expect(await judged(fresh())).not.toBe('judged');
  });

  it('are refused for 60, 120, 240, 480, then always 900 seconds to a world that never stops asking', async () => {
    await guessFromFresh(128);
    const seen: number[] = [];
    for (const part of [1, 1, 1, 1, 1, 1, 1]) {
      const seconds = (await judged(fresh())) as number;
      seen.push(seconds);
      clock.advance(seconds * 1000 * part);
      // As soon as one leaves the window another comes in.
      for (let n = 0; n < 128; n++) if ((await judged(fresh())) !== 'judged') break;
    }
    expect(seen.slice(0, 4)).toEqual([60, 120, 240, 480]);
    expect(seen.slice(4).every((seconds) => seconds <= 900)).toBe(true);
  });

  it('leave alone what the source had left of its own ten', async () => {
    for (let n = 0; n < 9; n++) await judged('192.0.2.1');
    await guessFromFresh(119);
    for (let n = 0; n < 5; n++) expect(await judged('192.0.2.1')).not.toBe('judged');
    clock.advance(15 * minute);
    for (let n = 0; n < 10; n++) expect(await judged('192.0.2.1')).toBe('judged');
  });

  it('count as long as ever when the clock is set back', async () => {
    await guessFromFresh(128);
    clock.set(clock.now() - hour);
    expect(await judged(fresh(), 'a')).toEqual(expect.any(Number));
    clock.advance(15 * minute);
    await guessFromFresh(128);
    expect(await judged(fresh())).toEqual(expect.any(Number));
  });

  it('make nobody wait for longer than was said when the clock is set back by less', async () => {
    await guessFromFresh(128);
    expect(await judged(fresh())).toBe(60);
    clock.set(clock.now() - 10 * minute);
    expect(await judged(fresh())).toBe(60);
  });
});

describe('while all sources together are refused', () => {
  beforeEach(() => guessFromFresh(128));

  it('codes of the tenants that vouch for a source bind, however many; others do not', async () => {
    trust.remember('192.0.2.1', 'a');
    for (let n = 0; n < 200; n++) expect(await judged('192.0.2.1', 'a')).toBe('judged');
    expect(await judged('192.0.2.1', 'b')).toBe(60);
    expect(await judged('192.0.2.2', 'a')).toBe(60);
  });

  it('unknown codes from there are refused, and 20 of them in one lifetime of a code are tries at codes of the tenant', async () => {
    trust.remember('192.0.2.1', 'a');
    expect(await guessWhileTrusted('192.0.2.1', 'a')).toBe(20);
    clock.advance(15 * minute - 1);
    expect(await judged('192.0.2.1', 'a')).not.toBe('judged');
    clock.advance(1);
    expect(await judged('192.0.2.1', 'a')).toBe('judged');
  });

  it('a guest at one trusted address leaves each of the others its share, and one try when the 60 are used up', async () => {
    const venues = Array.from({ length: 30 }, fresh);
    for (const venue of venues) trust.remember(venue, 'a');
    const tries: number[] = [];
    for (const venue of venues.slice(0, 15)) tries.push(await guessWhileTrusted(venue, 'a'));
    expect(tries).toEqual([20, 13, 9, 6, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1]);
    for (const venue of venues.slice(15))
      for (let n = 0; n < 5; n++) expect(await judged(venue, 'a')).toBe('judged');
  });

  it('it takes 20 trusted addresses to refuse the tenant’s codes at the others', async () => {
    const venues = Array.from({ length: 21 }, fresh);
    for (const venue of venues) trust.remember(venue, 'a');
    let tries = 0;
    for (const venue of venues.slice(0, 20)) {
      expect(await judged(venues[20] as string, 'a')).toBe('judged');
      tries += await guessWhileTrusted(venue, 'a');
    }
    expect(tries).toBe(70);
    expect(await judged(venues[20] as string, 'a')).not.toBe('judged');
  });

  it('what the sources of one tenant guess takes nothing from those of another', async () => {
    trust.remember('192.0.2.1', 'a');
    trust.remember('192.0.2.2', 'b');
    expect(await guessWhileTrusted('192.0.2.1', 'a')).toBe(20);
    expect(await judged('192.0.2.2', 'b')).toBe('judged');
  });

  it('an unknown code from a source of two tenants is a try at the codes of both', async () => {
    for (const tenant of ['a', 'b']) trust.remember('192.0.2.1', tenant);
    trust.remember('192.0.2.2', 'b');
    expect(await guessWhileTrusted('192.0.2.1', 'a')).toBe(20);
    expect(await guessWhileTrusted('192.0.2.2', 'b')).toBe(13);
  });

  it('of very many tenants that vouch for one source the eight count whose credentials worked there last', async () => {
    for (let n = 0; n < 12; n++) {
      trust.remember('192.0.2.1', `tenant ${n}`);
      clock.advance(1);
    }
    const open: string[] = [];
    for (let n = 0; n < 12; n++)
      if ((await judged('192.0.2.1', `tenant ${n}`)) === 'judged') open.push(`tenant ${n}`);
    expect(open).toEqual(Array.from({ length: 8 }, (_, n) => `tenant ${n + 4}`));
  });

  it('another tenant’s code is to them as one that is unknown: it counts alike, and is answered alike', async () => {
    for (const source of ['192.0.2.1', '192.0.2.2']) trust.remember(source, source);
    for (let n = 0; n < 20; n++) {
      clock.advance(1000);
      expect(await judged('192.0.2.1', 'other')).toBe(await judged('192.0.2.2'));
    }
    for (const source of ['192.0.2.1', '192.0.2.2'])
      expect(await judged(source, source)).not.toBe('judged');
  });
});

describe('the trust in a source', () => {
  beforeEach(() => guessFromFresh(128));

  it('is shared by all instances, and outlives one', async () => {
    trust.remember('192.0.2.1', 'a');
    const { limit: other } = instance();
    expect(await judged('192.0.2.1', 'a', other)).toBe('judged');
    clock.advance(24 * hour);
    await guessFromFresh(128);
    expect(await judged('192.0.2.1', 'a', other)).not.toBe('judged');
  });

  it('is told to the others once an hour, so that it never ends there while the credential works', async () => {
    let told = 0;
    const counting = {
      updateGuessCounters: (...call: Parameters<Store['updateGuessCounters']>) => {
        told++;
        return store.updateGuessCounters(...call);
      },
    } as Pick<Store, 'updateGuessCounters'>;
    const own = makeTrustedSources(counting, clock);
    for (let n = 0; n < 60; n++) {
      own.remember('192.0.2.1', 'a');
      clock.advance(minute);
    }
    await new Promise(setImmediate);
    expect(told).toBe(1);
    own.remember('192.0.2.1', 'a');
    expect(told).toBe(2);
    clock.advance(24 * hour - 1);
    await guessFromFresh(128);
    expect(await judged('192.0.2.1', 'a', instance().limit)).toBe('judged');
  });

  it('is told of many sources at a time, one telling after another, and none of it is lost', async () => {
    const told: number[] = [];
    const slow = {
      async updateGuessCounters(
        sources: readonly string[],
        change: Parameters<Store['updateGuessCounters']>[1],
      ) {
        told.push(sources.length);
        await new Promise(setImmediate);
        return store.updateGuessCounters(sources, change);
      },
    } as Pick<Store, 'updateGuessCounters'>;
    const own = makeTrustedSources(slow, clock);
    const sources = Array.from({ length: 250 }, fresh);
    for (const source of sources) for (const tenant of ['a', 'b']) own.remember(source, tenant);
    // A source whose second tenant comes with the next hundred is in both.
    await expect.poll(() => told).toEqual([1, 51, 51, 51, 51, 50]);
    await new Promise(setImmediate);
    const { limit: other } = instance();
    for (const source of [sources[0], sources[124], sources[249]]) {
      for (const tenant of ['a', 'b'])
        expect(await judged(source as string, tenant, other)).toBe('judged');
    }
  });

  it('is told the next time when the store could not take it', async () => {
    let fails = true;
    const failing = {
      updateGuessCounters: (...call: Parameters<Store['updateGuessCounters']>) =>
        fails ? Promise.reject(new Error('planted')) : store.updateGuessCounters(...call),
    } as Pick<Store, 'updateGuessCounters'>;
    const own = makeTrustedSources(failing, clock);
    own.remember('192.0.2.1', 'a');
    await new Promise(setImmediate);
    expect(await judged('192.0.2.1', 'a', instance().limit)).not.toBe('judged');
    fails = false;
    own.remember('192.0.2.1', 'a');
    expect(await judged('192.0.2.1', 'a', instance().limit)).toBe('judged');
  });

  it('is kept of a source that is locked out, and does not open it for unknown codes', async () => {
    clock.advance(15 * minute);
    for (let n = 0; n < 10; n++) expect(await judged('192.0.2.1')).toBe('judged');
    trust.remember('192.0.2.1', 'a');
    const { limit: other } = instance();
    expect(await judged('192.0.2.1', undefined, other)).toBe(60);
    expect(await judged('192.0.2.1', 'a', other)).toBe('judged');
  });
});

describe('a lock-out', () => {
  const lockOutsInAudit = async () =>
    (await store.audit({ tenantIds: [null], action: 'registration.locked_out', limit: 10 })).items;

  it('of a source is told and written down once', async () => {
    for (let n = 0; n < 15; n++) await judged('2001:db8:1:2::7');
    const lockOut = { scope: 'source', source: '2001:db8:1:2::/64' };
    expect(lockOuts).toEqual([lockOut]);
    expect(await lockOutsInAudit()).toEqual([
      {
        id: expect.any(String),
        at: clock.now(),
        tenantId: null,
        actor: { kind: 'system', id: null, name: null },
        action: 'registration.locked_out',
        subject: { kind: 'source', id: '2001:db8:1:2::/64' },
        address: '2001:db8:1:2::7',
        requestId: 'request-1',
        details: { unknownCodes: 6, withinMinutes: 15 },
      },
    ]);
    clock.advance(15 * minute);
    for (let n = 0; n < 15; n++) await judged('2001:db8:1:2::7');
    expect(lockOuts).toEqual([lockOut, lockOut]);
    expect(await lockOutsInAudit()).toHaveLength(2);
  });

  it('of all that are not trusted is told and written down once, wherever they ask', async () => {
    const { limit: other } = instance();
    await guessFromFresh(128);
    expect(lockOuts).toEqual([]);
    for (let n = 0; n < 50; n++) await judged(fresh(), undefined, n % 2 ? limit : other);
    expect(lockOuts).toEqual([{ scope: 'service', source: expect.any(String) }]);
    expect(await lockOutsInAudit()).toEqual([
      expect.objectContaining({
        subject: { kind: 'service', id: null },
        details: { unknownCodes: 128, withinMinutes: 15 },
      }),
    ]);
  });

  it('is refused as unavailable while it cannot be written down', async () => {
    await guessFromFresh(128);
    const down = Object.assign(Object.create(store) as Store, {
      updateGuessCounters: (...call: Parameters<Store['updateGuessCounters']>) =>
        store.updateGuessCounters(...call),
      write: () => Promise.reject(Object.assign(new Error('planted'), { code: 'unavailable' })),
    });
    const deps = {
      store: down,
      clock,
      random: randomBytes,
      newId: makeIdSource(clock, randomBytes),
    };
    const own = makeGuessRateLimit(deps, trust, { codeTtlMs: 15 * minute });
    await expect(own.judge({ address: fresh(), requestId: null }, 'a')).rejects.toThrow('planted');
    await expect(own.judge({ address: fresh(), requestId: null }, 'a')).rejects.toMatchObject({
      code: 'too_many_attempts',
    });
  });
});
