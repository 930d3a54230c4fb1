// Limits of all sources together, and of the trusted sources of a tenant.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeIdSource } from '../../../src/domain/id.ts';
import {
  type GuessRateLimit,
  type LockOut,
  makeGuessRateLimit,
} from '../../../src/service/pairing/rate-limit.ts';
import {
  makeTrustedSources,
  type TrustedSources,
} from '../../../src/service/pairing/trusted-sources.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';

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

/** Starts another instance on the store. */
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

describe('unknown codes from all sources together', () => {
  it('are allowed 128 times, then refused from every source, like correct codes', async () => {
    await guessFromFresh(128);
    expect(await attempt(newAddress())).toBe(60);
    expect(await attempt(newAddress(), 'a')).toBe(60);
  });

  it('cannot be used up by few sources: each may use an eighth of the rest, so it takes 35', async () => {
    let sources = 0;
    for (let used = 0; used < 128; sources++) {
      const source = newAddress();
      expect(await attempt(source, 'a')).toBe('allowed');
      while ((await attempt(source)) === 'allowed') used++;
    }
    expect(sources).toBe(35);
    expect(await attempt(newAddress(), 'a')).not.toBe('allowed');
  });

  it('cannot be used up by fewer IPv6 /48s than IPv4 addresses, from any of their /64s', async () => {
    let prefixes = 0;
    for (let used = 0; used < 128; prefixes++) {
      for (let n = 0; n < 100; n++)
        if ((await attempt(`2001:db8:${prefixes}:${n}00::1`)) === 'allowed') used++;
    }
    expect(prefixes).toBe(35);
  });

  it('leave half to the others if the address of the caller is unknown', async () => {
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

  it('are allowed exactly 128 times for concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 300 }, () => attempt(newAddress())));
    expect(answers.filter((answer) => answer === 'allowed')).toHaveLength(128);
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

  it.each([1, 60])('count for %i minutes with an equal code lifetime', async (minutes) => {
    const { limit: own } = instance(minutes);
    await guessFromFresh(128, own);
    clock.advance(minutes * minute - 1);
    expect(await attempt(newAddress(), 'a', own)).toEqual(expect.any(Number));
    clock.advance(1);
    await guessFromFresh(128, own);
    expect(await attempt(newAddress(), undefined, own)).toEqual(expect.any(Number));
  });

  it('are counted across all instances, by the clock of the store', async () => {
    const ahead = new ManualClock(clock.now() + 20 * minute);
    const { limit: other } = instance(15, ahead);
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
    for (const part of [1, 1, 1, 1, 1, 1, 1]) {
      const seconds = (await attempt(newAddress())) as number;
      seen.push(seconds);
      clock.advance(seconds * 1000 * part);
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

  it('count for the same time when the clock is set back', async () => {
    await guessFromFresh(128);
    clock.set(clock.now() - hour);
    expect(await attempt(newAddress(), 'a')).toEqual(expect.any(Number));
    clock.advance(15 * minute);
    await guessFromFresh(128);
    expect(await attempt(newAddress())).toEqual(expect.any(Number));
  });

  it('never extend the announced wait when the clock is set back', async () => {
    await guessFromFresh(128);
    expect(await attempt(newAddress())).toBe(60);
    clock.set(clock.now() - 10 * minute);
    expect(await attempt(newAddress())).toBe(60);
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

  it('it takes 20 trusted addresses to refuse the tenant’s codes at the others', async () => {
    const venues = Array.from({ length: 21 }, newAddress);
    for (const venue of venues) trust.remember(venue, 'a');
    let tries = 0;
    for (const venue of venues.slice(0, 20)) {
      expect(await attempt(venues[20] as string, 'a')).toBe('allowed');
      tries += await guessWhileTrusted(venue, 'a');
    }
    expect(tries).toBe(70);
    expect(await attempt(venues[20] as string, 'a')).not.toBe('allowed');
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

  it('is shared by all instances, and survives a restart', async () => {
    trust.remember('192.0.2.1', 'a');
    const { limit: other } = instance();
    expect(await attempt('192.0.2.1', 'a', other)).toBe('allowed');
    clock.advance(24 * hour);
    await guessFromFresh(128);
    expect(await attempt('192.0.2.1', 'a', other)).not.toBe('allowed');
  });

  it('is synchronised to other instances every hour, so that it never expires there while in use', async () => {
    let syncs = 0;
    const counting = {
      updateGuessCounters: (...call: Parameters<Store['updateGuessCounters']>) => {
        syncs++;
        return store.updateGuessCounters(...call);
      },
    } as Pick<Store, 'updateGuessCounters'>;
    const own = makeTrustedSources(counting, clock);
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
    const slow = {
      async updateGuessCounters(
        sources: readonly string[],
        change: Parameters<Store['updateGuessCounters']>[1],
      ) {
        batchSizes.push(sources.length);
        await new Promise(setImmediate);
        return store.updateGuessCounters(sources, change);
      },
    } as Pick<Store, 'updateGuessCounters'>;
    const own = makeTrustedSources(slow, clock);
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
    const failing = {
      updateGuessCounters: (...call: Parameters<Store['updateGuessCounters']>) =>
        fails ? Promise.reject(new Error('injected')) : store.updateGuessCounters(...call),
    } as Pick<Store, 'updateGuessCounters'>;
    const own = makeTrustedSources(failing, clock);
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
    const deps = {
      store: down,
      clock,
      random: randomBytes,
      newId: makeIdSource(clock, randomBytes),
    };
    const own = makeGuessRateLimit(deps, trust, { codeTtlMs: 15 * minute });
    await expect(own.judge({ address: newAddress(), requestId: null }, 'a')).rejects.toThrow(
      'injected',
    );
    await expect(own.judge({ address: newAddress(), requestId: null }, 'a')).rejects.toMatchObject({
      code: 'too_many_attempts',
    });
  });
});
