// Verifies the bound of the rate policy: at most 198 guesses at a tenant's codes within the
// lifetime of a code, for any mix of sources.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatGroup,
  groupsOf,
  sourceOf,
  unknownSource,
} from '../../../src/service/guesses/guess-source.ts';
import {
  applyRatePolicy,
  counterKeysOf,
  currentGuesses,
  type RateDecision,
  type RegistrationAttempt,
  recordRefusal,
} from '../../../src/service/guesses/rate-policy.ts';
import { MemoryGuessCounters } from '../../../src/store/json/guess-counters.ts';

const minute = 60_000;
const tenants = ['a', 'b'] as const;
const maxGuesses = 198;

/** A service: guess counters in a store, and the tenants that trust each source. */
class Service {
  nowMs = 1_000_000_000;
  readonly codeTtlMs: number;
  readonly #counters = new MemoryGuessCounters(() => this.nowMs);
  readonly #trusted: (source: string) => readonly string[];

  constructor(codeTtlMs: number, trusted: (source: string) => readonly string[]) {
    this.codeTtlMs = codeTtlMs;
    this.#trusted = trusted;
  }

  decide(source: string, owner?: string, isDry = false): RateDecision {
    const attempt: RegistrationAttempt = {
      owner,
      groups: groupsOf(source),
      trustingTenants: this.#trusted(source),
      codeTtlMs: this.codeTtlMs,
    };
    return this.#counters.change(counterKeysOf(attempt), (stored, nowMs) => {
      const { attempts, result } = applyRatePolicy(stored, nowMs, attempt);
      return { attempts: isDry ? stored : attempts, result };
    });
  }

  /** Sends an unknown code. Returns the tenants whose correct codes would have bound instead. */
  guess(source: string): string[] {
    const tenantsAtRisk = tenants.filter(
      (tenant) => this.decide(source, tenant, true) === undefined,
    );
    this.decide(source);
    return tenantsAtRisk;
  }
}

/** Returns the largest number of times within one window. */
function peak(times: readonly number[], windowMs: number): number {
  let first = 0;
  return times.reduce((most, time, last) => {
    while ((times[first] as number) <= time - windowMs) first++;
    return Math.max(most, last - first + 1);
  }, 0);
}

const slash64 = (n: number) =>
  sourceOf(
    `2001:db8:${(n >> 4).toString(16)}:${((n & 3) * 0x100 + ((n >> 2) & 3)).toString(16)}::1`,
  );
const source = fc.oneof(
  fc.nat(400).map((n) => `10.0.${n >> 8}.${n & 255}`),
  fc.nat(800).map(slash64),
  fc.constant(unknownSource),
);
/** Every fifth address is trusted by one tenant or by both. */
const trustedBy = (name: string): readonly string[] => {
  const n = [...name].reduce((sum, char) => sum * 31 + char.charCodeAt(0), 7) % 15;
  return name === unknownSource ? [] : ([['a'], ['b'], ['b', 'a']][n] ?? []);
};

describe('the guesses at the codes of one tenant', () => {
  const burst = fc.record({
    source,
    spread: fc.nat(60),
    count: fc.integer({ min: 1, max: 60 }),
    waitMs: fc.oneof(fc.constant(0), fc.nat(2000), fc.nat(20 * minute)),
  });

  it('are at most 198 in the lifetime of a code, for any mix of sources', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.array(burst, { minLength: 1, maxLength: 40 }),
        (ttlMinutes, bursts) => {
          const decide = new Service(ttlMinutes * minute, trustedBy);
          const tries: Record<string, number[]> = { a: [], b: [] };
          for (const one of bursts) {
            for (let n = 0; n < one.count; n++) {
              // A burst comes from one source, or from many in turn.
              const at =
                one.spread < 30
                  ? one.source
                  : n % 2
                    ? `10.0.1.${(one.spread + n) % 200}`
                    : slash64(one.spread + n);
              for (const tenant of decide.guess(at)) tries[tenant]?.push(decide.nowMs);
            }
            decide.nowMs += one.waitMs;
          }
          for (const tenant of tenants)
            expect(peak(tries[tenant] as number[], decide.codeTtlMs)).toBeLessThanOrEqual(
              maxGuesses,
            );
        },
      ),
      { numRuns: 40 },
    );
  });

  it.each([1, 15, 60])(
    'reach 198 if an attacker has enough sources, also trusted ones, with a code lifetime of %i minutes',
    (minutes) => {
      const decide = new Service(minutes * minute, (name) =>
        name.startsWith('10.9.') ? ['a'] : [],
      );
      let tries = 0;
      const guessFrom = (name: string) => {
        for (let n = 0; n < 12; n++) tries += decide.guess(name).includes('a') ? 1 : 0;
      };
      for (let n = 0; n < 200; n++) guessFrom(`10.0.0.${n}`);
      expect(tries).toBe(128);
      for (let n = 0; n < 200; n++) guessFrom(`10.9.0.${n}`);
      expect(tries).toBe(maxGuesses);
      decide.nowMs += minutes * minute - 1;
      for (let n = 0; n < 200; n++) guessFrom(`10.9.1.${n}`);
      expect(tries).toBe(maxGuesses);
      decide.nowMs += 1;
      guessFrom('10.0.1.1');
      expect(tries).toBeGreaterThan(maxGuesses);
    },
  );

  it('leave each trusted source a guess of its own, if fewer than ten other trusted ones guess', () => {
    const attacker = fc.record({ at: fc.nat(8), count: fc.integer({ min: 1, max: 80 }) });
    fc.assert(
      fc.property(fc.array(attacker, { maxLength: 40 }), (attackers) => {
        const decide = new Service(15 * minute, (name) => (name.startsWith('10.9.') ? ['a'] : []));
        for (let n = 0; n < 200; n++) decide.guess(`10.0.0.${n}`);
        for (const { at, count } of attackers)
          for (let n = 0; n < count; n++) decide.guess(`10.9.0.${at}`);
        expect(decide.decide('10.9.1.1', 'a')).toBeUndefined();
        expect(decide.guess('10.9.1.1')).toEqual(['a']);
        expect(decide.decide('10.9.1.2', 'a')).toBeUndefined();
      }),
      { numRuns: 40 },
    );
  });
});

describe('the guesses of few sources', () => {
  it.each([1, 15, 60])(
    'leave guesses for all others with a code lifetime of %i minutes, however long they go on',
    (minutes) => {
      const decide = new Service(minutes * minute, () => []);
      for (let n = 0; n < 150; n++) {
        for (let m = 0; m < 34; m++) decide.guess(m % 2 ? `10.0.0.${m}` : slash64(m << 4));
        expect(decide.decide(`10.1.0.${n}`, 'a')).toBeUndefined();
        decide.nowMs += minute;
      }
    },
  );

  it('are at most 10 per 15 minutes, or per lifetime of a code if longer, from one IPv4 address or IPv6 /48', () => {
    const oneCustomer = fc.oneof(fc.constant('203.0.113.7'), fc.constant('2001:db8:7'));
    const wait = fc.oneof(fc.constant(0), fc.nat(10 * minute));
    fc.assert(
      fc.property(
        oneCustomer,
        fc.integer({ min: 1, max: 60 }),
        fc.array(wait, { maxLength: 60 }),
        (customer, ttlMinutes, waits) => {
          const decide = new Service(ttlMinutes * minute, () => []);
          const tries: number[] = [];
          for (const [n, waitMs] of waits.entries()) {
            const at = customer.includes(':')
              ? sourceOf(`${customer}:${((n * 7919) & 0xffff).toString(16)}::1`)
              : customer;
            for (let count = 0; count < 3; count++)
              if (decide.guess(at).length > 0) tries.push(decide.nowMs);
            decide.nowMs += waitMs;
          }
          expect(peak(tries, Math.max(15, ttlMinutes) * minute)).toBeLessThanOrEqual(10);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('the groups of a source', () => {
  it.each([
    ['203.0.113.7', ['203.0.113.7']],
    ['::ffff:203.0.113.7', ['203.0.113.7']],
    ['2001:db8:1:2345:6::7', ['2001:db8:1:2345::/64', '2001:db8:1:2300::/56', '2001:db8:1::/48']],
    ['::1', ['::/64', '::/56', '::/48']],
    ['fe80::1%eth0', ['fe80::/64', 'fe80::/56', 'fe80::/48']],
    ['nonsense', ['unknown']],
  ])('%s', (address, groups) => {
    expect(groupsOf(sourceOf(address)).map(({ key }) => formatGroup(key))).toEqual(groups);
  });
});

describe('guesses after the clock of the store was set back', () => {
  const windowMs = 900_000;
  const guesses = { times: [1_000_000], waitUntil: 1_060_000, waitMs: 60_000, forgetAt: 0 };

  it('count while they are less than a window in the future', () => {
    expect(currentGuesses(guesses, 1_000_000 - windowMs + 1, windowMs)).toBe(guesses);
  });

  it('are removed with their wait when they are further in the future', () => {
    expect(currentGuesses(guesses, 1_000_000 - windowMs, windowMs)).toMatchObject({
      times: [],
      waitUntil: 0,
      waitMs: 0,
    });
  });

  it('never extend the announced wait', () => {
    expect(recordRefusal(guesses, 500_000)).toEqual({
      guesses,
      waitMs: 60_000,
      isFirstRefusal: false,
    });
  });
});
