import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeIdSource } from '../../../src/domain/id.ts';
import {
  type GuessRateLimit,
  type LockOut,
  makeGuessRateLimit,
} from '../../../src/service/guesses/rate-limit.ts';
import type { GuessQuota } from '../../../src/service/guesses/rate-policy.ts';
import {
  makeTrustedSources,
  type TrustedSources,
} from '../../../src/service/guesses/trusted-sources.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

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

const depsOf = (itsStore: Store, itsClock = clock) => ({
  store: itsStore,
  clock: itsClock,
  random: randomBytes,
  newId: makeIdSource(itsClock, randomBytes),
});

/** Trust whose changes of guess counters go through this. */
const throughStore = (through: Store['updateGuessCounters']) =>
  makeTrustedSources({ updateGuessCounters: through }, clock);

/** Starts another instance on the store. */
function instance(itsClock = clock) {
  const deps = depsOf(store, itsClock);
  const itsTrust = makeTrustedSources(store, itsClock);
  const onLockOut = (lockOut: LockOut) => void lockOuts.push(lockOut);
  return {
    trust: itsTrust,
    limit: makeGuessRateLimit(deps, itsTrust, { codeTtlMs: 15 * minute, onLockOut }),
  };
}

let addresses = 0;
const newAddress = () =>
  `10.${(++addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;

/**
 * Registers with a code of `owner`, or with an unknown code. Returns `allowed`, or the seconds to
 * wait.
 */
async function attempt(address: string, owner?: string, by = limit): Promise<'allowed' | number> {
  try {
    await by.judge({ address, requestId: 'request-1' }, owner);
    return 'allowed';
  } catch (error) {
    const { code, retryAfterSeconds } = error as { code: string; retryAfterSeconds: number };
    expect(code).toBe('too_many_attempts');
    return retryAfterSeconds;
  }
}

async function guessFromFresh(count: number, by = limit): Promise<void> {
  for (let n = 0; n < count; n++)
    expect(await attempt(newAddress(), undefined, by)).toBe('allowed');
}

/**
 * Sends unknown codes from one source until it is refused. Returns the number of guesses at codes
 * of a tenant that trusts it.
 */
async function guessWhileTrusted(address: string, tenant: string, most = 100): Promise<number> {
  for (let tries = 0; tries < most; tries++) {
    if ((await attempt(address, tenant)) !== 'allowed') return tries;
    await attempt(address);
  }
  return most;
}

describe('unknown codes from one source', () => {
  const there = '203.0.113.7';
  const guessTimes = async (count: number, address = there) => {
    for (let n = 0; n < count; n++) expect(await attempt(address)).toBe('allowed');
  };

  it('count in a sliding window of 15 minutes, refused ones not at all', async () => {
    for (let n = 0; n < 10; n++) {
      await guessTimes(1);
      clock.advance(minute);
    }
    // The first guess is 10 minutes old, the last one a minute.
    clock.advance(5 * minute - 1);
    for (let n = 0; n < 20; n++) expect(await attempt(there)).not.toBe('allowed');
    clock.advance(1);
    await guessTimes(1);
    expect(await attempt(there)).not.toBe('allowed');
    clock.advance(minute);
    await guessTimes(1);
    expect(await attempt(there)).not.toBe('allowed');
  });

  it('double the wait after each announced one, and early requests do not extend it', async () => {
    await guessTimes(10);
    for (const seconds of [60, 120, 240, 480]) {
      expect(await attempt(there)).toBe(seconds);
      clock.advance(500 * seconds);
      expect(await attempt(there)).toBe(seconds / 2);
      clock.advance(500 * seconds);
    }
    await guessTimes(1);
  });

  it('wait up to 900 seconds if they never stop', async () => {
    const seen: number[] = [];
    for (let rounds = 0; rounds < 400 && seen.length < 8; rounds++) {
      const answer = await attempt(there);
      if (answer !== 'allowed') seen.push(answer);
      clock.advance(answer === 'allowed' ? 80_000 : answer * 1000);
    }
    // After 900 seconds the window is empty, so the wait starts again at the minimum.
    expect(seen).toEqual([60, 120, 240, 480, 900, 60, 120, 240]);
  });

  it.each([
    [6, 'the /64', '2001:db8:1:2::1', '2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:3::1'],
    [8, 'the /56', '2001:db8:1:2::1', '2001:db8:1:ff::1', '2001:db8:1:100::1'],
    [10, 'the /48', '2001:db8:1:2::1', '2001:db8:1:ff00::1', '2001:db8:2::1'],
    [10, 'an IPv4 address and its mapped form', there, '::ffff:cb00:7107', '203:0:113:7::'],
  ])(
    'are allowed %i times for %s, and its neighbour is not locked out',
    async (most, _, one, other, neighbour) => {
      let counted = 0;
      for (let n = 0; n < 2 * most; n++)
        if ((await attempt(n % 2 ? one : other)) === 'allowed') counted++;
      expect(counted).toBe(most);
      expect(await attempt(one, 'a')).not.toBe('allowed');
      await guessTimes(1, neighbour);
      expect(await attempt(neighbour, 'a')).toBe('allowed');
    },
  );

  it('lock out no other source if they come from thirteen /64s of one /60', async () => {
    let counted = 0;
    for (let n = 0; n < 13; n++)
      for (let m = 0; m < 12; m++)
        if ((await attempt(`2001:db8:1:12${n.toString(16)}::1`)) === 'allowed') counted++;
    expect(counted).toBe(8);
    for (const other of ['198.51.100.1', '2001:db8:2:1::1'])
      expect(await attempt(other, 'a')).toBe('allowed');
    expect(lockOuts.map(({ source }) => source)).toEqual([
      '2001:db8:1:120::/64',
      '2001:db8:1:100::/56',
    ]);
  });

  it('leave the remaining number, its window, and the time until it grows', async () => {
    let quota: GuessQuota | undefined;
    const judge = (address: string) =>
      limit.judge({ address, requestId: null }, undefined, (one) => {
        quota = one;
      });
    await judge('2001:db8:1:2::1');
    clock.advance(minute);
    await judge('2001:db8:1:2::1');
    const windowMs = 15 * minute;
    expect(quota).toEqual({ limit: 6, windowMs, remaining: 4, resetMs: 14 * minute });
    for (let n = 0; n < 5; n++) await judge('2001:db8:1:3::1');
    expect(quota).toEqual({ limit: 6, windowMs, remaining: 1, resetMs: windowMs });
    await judge('2001:db8:1:4::1');
    expect(quota).toEqual({ limit: 8, windowMs, remaining: 0, resetMs: 14 * minute });
    await expect(judge('2001:db8:1:5::1')).rejects.toMatchObject({ code: 'too_many_attempts' });
    expect(quota).toEqual({ limit: 8, windowMs, remaining: 0, resetMs: minute });
    await limit.judge({ address: there, requestId: null }, 'a', (one) => {
      quota = one;
    });
    expect(quota).toEqual({ limit: 10, windowMs, remaining: 10, resetMs: undefined });
  });
});

describe('unknown codes from all sources together', () => {
  it.each([
    ['IPv4 addresses', (n: number) => `10.99.0.${n}`],
    ['IPv6 /48s, from any of their /64s', (n: number, m: number) => `2001:db8:${n}:${m}00::1`],
  ])(
    'cannot be used up by few %s: each may use an eighth of the rest, so it takes 35',
    async (_, at) => {
      let sources = 0;
      for (let used = 0; used < 128; sources++) {
        expect(await attempt(at(sources, 0), 'a')).toBe('allowed');
        for (let n = 0; n < 12; n++) if ((await attempt(at(sources, n))) === 'allowed') used++;
      }
      expect(sources).toBe(35);
      expect(await attempt(newAddress(), 'a')).not.toBe('allowed');
    },
  );

  it('leave half to the others if the address of the principal is unknown', async () => {
    const unknown = () => limit.judge({ address: null, requestId: null }, undefined);
    for (let n = 0; n < 64; n++) await unknown();
    await expect(unknown()).rejects.toMatchObject({ code: 'too_many_attempts' });
    trust.remember(null, 'a');
    await expect(limit.judge({ address: null, requestId: null }, 'a')).rejects.toMatchObject({
      code: 'too_many_attempts',
    });
    await guessFromFresh(64);
    expect(await attempt(newAddress())).not.toBe('allowed');
  });

  it('count for one lifetime of a code, in a sliding window', async () => {
    await guessFromFresh(64);
    clock.advance(10 * minute);
    await guessFromFresh(64);
    clock.advance(5 * minute - 1);
    expect(await attempt(newAddress(), 'a')).toBe(60);
    clock.advance(1);
    await guessFromFresh(64);
    expect(await attempt(newAddress())).toEqual(expect.any(Number));
    clock.advance(10 * minute);
    await guessFromFresh(64);
    expect(await attempt(newAddress())).toEqual(expect.any(Number));
  });

  it('are counted across all instances, by the clock of the store', async () => {
    const ahead = new ManualClock(clock.now() + 20 * minute);
    const { limit: other } = instance(ahead);
    await guessFromFresh(64);
    await guessFromFresh(64, other);
    for (const by of [limit, other])
      expect(await attempt(newAddress(), 'a', by)).toEqual(expect.any(Number));
  });

  it('do not count when refused, and existing codes never count', async () => {
    for (let n = 0; n < 300; n++) expect(await attempt('192.0.2.1', 'a')).toBe('allowed');
    for (let n = 0; n < 10; n++) expect(await attempt('192.0.2.1')).toBe('allowed');
    for (let n = 0; n < 300; n++) expect(await attempt('192.0.2.1')).not.toBe('allowed');
    await guessFromFresh(118);
    expect(await attempt(newAddress())).not.toBe('allowed');
  });

  it('are refused for 60, 120, 240, 480, then always 900 seconds while requests never stop', async () => {
    await guessFromFresh(128);
    const seen: number[] = [];
    for (let turn = 0; turn < 7; turn++) {
      const seconds = (await attempt(newAddress())) as number;
      seen.push(seconds);
      clock.advance(seconds * 1000);
      // As soon as one guess leaves the window, the next one enters.
      for (let n = 0; n < 128; n++) if ((await attempt(newAddress())) !== 'allowed') break;
    }
    expect(seen.slice(0, 4)).toEqual([60, 120, 240, 480]);
    expect(seen.slice(4).every((seconds) => seconds <= 900)).toBe(true);
  });

  it('do not reduce the source’s own limit of ten', async () => {
    for (let n = 0; n < 9; n++) await attempt('192.0.2.1');
    await guessFromFresh(119);
    for (let n = 0; n < 5; n++) expect(await attempt('192.0.2.1')).not.toBe('allowed');
    clock.advance(15 * minute);
    for (let n = 0; n < 10; n++) expect(await attempt('192.0.2.1')).toBe('allowed');
  });
});

describe('while all untrusted sources are refused', () => {
  beforeEach(() => guessFromFresh(128));

  it('any number of codes bind for tenants that trust the source, and no others', async () => {
    trust.remember('192.0.2.1', 'a');
    for (let n = 0; n < 200; n++) expect(await attempt('192.0.2.1', 'a')).toBe('allowed');
    expect(await attempt('192.0.2.1', 'b')).toBe(60);
    expect(await attempt('192.0.2.2', 'a')).toBe(60);
  });

  it('unknown codes of a trusted source are refused, and the first 20 are guesses at the tenant’s codes', async () => {
    trust.remember('192.0.2.1', 'a');
    expect(await guessWhileTrusted('192.0.2.1', 'a')).toBe(20);
    clock.advance(15 * minute - 1);
    expect(await attempt('192.0.2.1', 'a')).not.toBe('allowed');
    clock.advance(1);
    expect(await attempt('192.0.2.1', 'a')).toBe('allowed');
  });

  it('a guesser at one trusted address leaves the others their share, and one guess each after 60', async () => {
    const venues = Array.from({ length: 30 }, newAddress);
    for (const venue of venues) trust.remember(venue, 'a');
    const tries: number[] = [];
    for (const venue of venues.slice(0, 15)) tries.push(await guessWhileTrusted(venue, 'a'));
    expect(tries).toEqual([20, 13, 9, 6, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1]);
    for (const venue of venues.slice(15))
      for (let n = 0; n < 5; n++) expect(await attempt(venue, 'a')).toBe('allowed');
  });

  it('guesses of one tenant’s sources do not reduce the guesses of another’s', async () => {
    trust.remember('192.0.2.1', 'a');
    trust.remember('192.0.2.2', 'b');
    expect(await guessWhileTrusted('192.0.2.1', 'a')).toBe(20);
    expect(await attempt('192.0.2.2', 'b')).toBe('allowed');
  });

  it('an unknown code from a source trusted by two tenants is a guess at the codes of both', async () => {
    for (const tenant of ['a', 'b']) trust.remember('192.0.2.1', tenant);
    trust.remember('192.0.2.2', 'b');
    expect(await guessWhileTrusted('192.0.2.1', 'a')).toBe(20);
    expect(await guessWhileTrusted('192.0.2.2', 'b')).toBe(13);
  });

  it('of many tenants that trust a source, only the eight seen last count', async () => {
    for (let n = 0; n < 12; n++) {
      trust.remember('192.0.2.1', `tenant ${n}`);
      clock.advance(1);
    }
    const open: string[] = [];
    for (let n = 0; n < 12; n++)
      if ((await attempt('192.0.2.1', `tenant ${n}`)) === 'allowed') open.push(`tenant ${n}`);
    expect(open).toEqual(Array.from({ length: 8 }, (_, n) => `tenant ${n + 4}`));
  });

  it('another tenant’s code counts and is answered like an unknown code', async () => {
    for (const source of ['192.0.2.1', '192.0.2.2']) trust.remember(source, source);
    for (let n = 0; n < 20; n++) {
      clock.advance(1000);
      expect(await attempt('192.0.2.1', 'other')).toBe(await attempt('192.0.2.2'));
    }
    for (const source of ['192.0.2.1', '192.0.2.2'])
      expect(await attempt(source, source)).not.toBe('allowed');
  });
});

describe('trust in a source', () => {
  beforeEach(() => guessFromFresh(128));

  it('lasts 24 hours, and includes the whole /64', async () => {
    trust.remember('2001:db8:1:2::1', 'a');
    clock.advance(24 * hour - 1);
    await guessFromFresh(128);
    expect(await attempt('2001:db8:1:2::3', 'a')).toBe('allowed');
    clock.advance(1);
    expect(await attempt('2001:db8:1:2::3', 'a')).not.toBe('allowed');
  });

  it('is synchronised to other instances every hour, so that it never expires there while in use', async () => {
    let syncs = 0;
    const own = throughStore((...call) => {
      syncs++;
      return store.updateGuessCounters(...call);
    });
    for (let n = 0; n < 60; n++) {
      own.remember('192.0.2.1', 'a');
      clock.advance(minute);
    }
    await new Promise(setImmediate);
    expect(syncs).toBe(1);
    own.remember('192.0.2.1', 'a');
    expect(syncs).toBe(2);
    clock.advance(24 * hour - 1);
    await guessFromFresh(128);
    expect(await attempt('192.0.2.1', 'a', instance().limit)).toBe('allowed');
  });

  it('is synchronised for many sources per batch, one batch at a time, without loss', async () => {
    const batchSizes: number[] = [];
    const own = throughStore(async (sources, change) => {
      batchSizes.push(sources.length);
      await new Promise(setImmediate);
      return store.updateGuessCounters(sources, change);
    });
    const sources = Array.from({ length: 250 }, newAddress);
    for (const source of sources) for (const tenant of ['a', 'b']) own.remember(source, tenant);
    // A source whose second tenant is in the next batch appears in both batches.
    await expect.poll(() => batchSizes).toEqual([1, 51, 51, 51, 51, 50]);
    await new Promise(setImmediate);
    const { limit: other } = instance();
    for (const source of [sources[0], sources[124], sources[249]]) {
      for (const tenant of ['a', 'b'])
        expect(await attempt(source as string, tenant, other)).toBe('allowed');
    }
  });

  it('is synchronised at the next use after a failed write', async () => {
    let fails = true;
    const own = throughStore((...call) =>
      fails ? Promise.reject(new Error('injected')) : store.updateGuessCounters(...call),
    );
    own.remember('192.0.2.1', 'a');
    await new Promise(setImmediate);
    expect(await attempt('192.0.2.1', 'a', instance().limit)).not.toBe('allowed');
    fails = false;
    own.remember('192.0.2.1', 'a');
    expect(await attempt('192.0.2.1', 'a', instance().limit)).toBe('allowed');
  });

  it('is recorded for a locked-out source, and does not allow unknown codes from it', async () => {
    clock.advance(15 * minute);
    for (let n = 0; n < 10; n++) expect(await attempt('192.0.2.1')).toBe('allowed');
    trust.remember('192.0.2.1', 'a');
    const { limit: other } = instance();
    expect(await attempt('192.0.2.1', undefined, other)).toBe(60);
    expect(await attempt('192.0.2.1', 'a', other)).toBe('allowed');
  });
});

describe('a lock-out', () => {
  const lockOutsInAudit = async () =>
    (await store.audit({ tenantIds: [null], action: 'registration.locked_out', limit: 10 })).items;

  it('of a source is reported and audited once', async () => {
    for (let n = 0; n < 15; n++) await attempt('2001:db8:1:2::7');
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
    for (let n = 0; n < 15; n++) await attempt('2001:db8:1:2::7');
    expect(lockOuts).toEqual([lockOut, lockOut]);
    expect(await lockOutsInAudit()).toHaveLength(2);
  });

  it('of all untrusted sources is reported and audited once, across sources and instances', async () => {
    const { limit: other } = instance();
    await guessFromFresh(128);
    expect(lockOuts).toEqual([]);
    for (let n = 0; n < 50; n++) await attempt(newAddress(), undefined, n % 2 ? limit : other);
    expect(lockOuts).toEqual([{ scope: 'service', source: expect.any(String) }]);
    expect(await lockOutsInAudit()).toEqual([
      expect.objectContaining({
        subject: { kind: 'service', id: null },
        details: { unknownCodes: 128, withinMinutes: 15 },
      }),
    ]);
  });

  it('is answered with unavailable while the audit entry cannot be written', async () => {
    await guessFromFresh(128);
    const down = Object.assign(Object.create(store) as Store, {
      updateGuessCounters: (...call: Parameters<Store['updateGuessCounters']>) =>
        store.updateGuessCounters(...call),
      write: () => Promise.reject(Object.assign(new Error('injected'), { code: 'unavailable' })),
    });
    const own = makeGuessRateLimit(depsOf(down), trust, { codeTtlMs: 15 * minute });
    await expect(own.judge({ address: newAddress(), requestId: null }, 'a')).rejects.toThrow(
      'injected',
    );
    await expect(own.judge({ address: newAddress(), requestId: null }, 'a')).rejects.toMatchObject({
      code: 'too_many_attempts',
    });
  });
});

describe('the trusted sources of one instance', () => {
  const many = 100_000;
  const addressOf = (n: number) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
  /** Trust from this instance alone. */
  const alone = () => throughStore(async () => undefined as never);
  const of = (one: TrustedSources, source: string) => one.of(source, undefined, clock.now());

  it('are limited in number: the least recently used one is evicted', () => {
    const own = alone();
    own.remember('192.0.2.1', 'a');
    own.remember('192.0.2.2', 'a');
    own.remember('192.0.2.1', 'b');
    for (let n = 0; n < many - 1; n++) own.remember(addressOf(n), 'a');
    expect(of(own, '192.0.2.1').toSorted()).toEqual(['a', 'b']);
    expect(of(own, '192.0.2.2')).toEqual([]);
    expect(of(own, '192.0.2.9')).toEqual([]);
  });
});
