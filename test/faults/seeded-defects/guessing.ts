import { SignageError } from '../../../src/domain/error.ts';
import type { GuessCounter } from '../../../src/domain/records/pairing-code.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import type { GuessCounterChange, GuessCountersOfEach } from '../../../src/store/store.ts';
import { runAttacks } from '../guessing/run-attacks.ts';
import { registerBySkewedClocks, type StoreDefect } from '../guessing/skewed-clocks.ts';
import type { TopologyDefect, UpdateCounters } from '../guessing/topology.ts';
import { seeded } from './seeded-defect.ts';

const lifetimeMs = 15 * 60_000;

/** Shows other counters to a change. */
const showing =
  (
    attempts: UpdateCounters,
    show: (known: GuessCounter, source: string, nowMs: number) => GuessCounter | undefined,
  ): UpdateCounters =>
  (sources, change) =>
    attempts(sources, (known, nowMs) => {
      const shown = known.map((one, place) => one && show(one, sources[place] as string, nowMs));
      const changed = change(shown, nowMs);
      const attemptsOfEach = changed.attempts.map((one, place) =>
        one === shown[place] ? known[place] : one,
      );
      return { attempts: attemptsOfEach, result: changed.result };
    });

/** Resets the counters of some sources. */
const forgetting = async (attempts: UpdateCounters, sources: readonly string[]): Promise<void> => {
  const change: GuessCounterChange<void> = (known) => ({
    attempts: known.map((one) => one && { ...one, times: [] }),
    result: undefined,
  });
  await attempts(sources, change);
};

/** Shows the shared counter as empty until it is full, so that no allowance shrinks. */
const withoutShares =
  (attempts: UpdateCounters): UpdateCounters =>
  (sources, change) =>
    attempts(sources, (known, nowMs) => {
      const place = sources.indexOf('*');
      const all = known[place];
      const times = all?.times.filter((time) => time > nowMs - lifetimeMs) ?? [];
      if (!all || times.length >= 128) return change(known, nowMs);
      const { attempts: changed, result } = change(known.with(place, { ...all, times: [] }), nowMs);
      const next = changed[place] as GuessCounter;
      return {
        attempts: changed.with(place, { ...next, times: [...times, ...next.times] }),
        result,
      };
    });

const isTooMany = (error: unknown) =>
  error instanceof SignageError && error.code === 'too_many_attempts';

const defects: Record<string, TopologyDefect> = {
  'limit by fixed window': {
    attempts: (attempts) =>
      showing(attempts, (known, _, nowMs) => {
        const since = nowMs - (nowMs % lifetimeMs);
        return { ...known, times: known.times.filter((time) => time >= since) };
      }),
  },
  'success resets the limit': {
    limit: (limit, { shared }) => ({
      async judge(from, owner) {
        await limit.judge(from, owner);
        if (owner !== undefined) await forgetting(shared, [from.address as string, '*']);
      },
    }),
  },
  'limit of each instance by itself': { attempts: (_, { separate }) => separate() },
  'limit by the instance’s clock': {
    attempts:
      (attempts, { own }) =>
      (sources, change) =>
        attempts(sources, (known) => change(known, own.now())),
  },
  'right guess let through where wrong ones are refused': {
    limit: (limit) => ({
      judge: (from, owner) =>
        limit.judge(from, owner).catch((error: unknown) => {
          if (owner === undefined || !isTooMany(error)) throw error;
        }),
    }),
  },
  'right guess refused in other words': {
    limit: (limit) => ({
      judge: (from, owner) =>
        limit.judge(from, owner).catch((error: unknown) => {
          if (owner === undefined || !isTooMany(error)) throw error;
          throw new SignageError('too_many_attempts', 'Later.', { retryAfterSeconds: 1 });
        }),
    }),
  },
  'fixed Retry-After': {
    attempts: (attempts) =>
      showing(attempts, (known) => ({ ...known, waitMs: Math.min(known.waitMs, 30_000) })),
  },
  'no limit for all sources together': {
    attempts: (attempts) =>
      showing(attempts, (known, source) => (source === '*' ? undefined : known)),
  },
  'no limit for the trusted sources of a tenant together': {
    attempts: (attempts) =>
      showing(attempts, (known, source) => (/^tenant\/[^/]+$/.test(source) ? undefined : known)),
  },
  'one trusted source may use all that its tenant has': {
    attempts: (attempts) =>
      showing(attempts, (known, source) => (/^tenant\/[^/]+\//.test(source) ? undefined : known)),
  },
  'few sources may use up what all have': { attempts: withoutShares },
  'no limit for an IPv6 /56': {
    attempts: (attempts) =>
      showing(attempts, (known, source) => (source.endsWith('/56') ? undefined : known)),
  },
  'no limit for an IPv6 /48': {
    attempts: (attempts) =>
      showing(attempts, (known, source) => (source.endsWith('/48') ? undefined : known)),
  },
  'another tenant’s code counts for nothing': {
    limit: (limit, { shared }) => ({
      async judge(from, owner) {
        const tenants = ['tenant/own', 'tenant/victim'];
        const keys = [
          from.address as string,
          '*',
          ...tenants,
          ...tenants.map((tenant) => `${tenant}/${from.address}`),
        ];
        const before = await shared(keys, (known) => ({ attempts: known, result: known }));
        try {
          await limit.judge(from, owner);
        } catch (error) {
          if (owner !== undefined)
            await shared(keys, (known) => ({
              attempts: withTimesOf(before, known),
              result: undefined,
            }));
          throw error;
        }
      },
    }),
  },
  'address of IPv6 taken whole': {
    attempts:
      (attempts, { separate }) =>
      (sources, change) =>
        sources[0]?.includes(':') ? separate()(sources, change) : attempts(sources, change),
  },
  'trust of this instance alone': {
    attempts: (attempts) => showing(attempts, ({ vouched: _, ...known }) => known),
  },
};

function withTimesOf(before: GuessCountersOfEach, now: GuessCountersOfEach): GuessCountersOfEach {
  return now.map((one, place) => one && { ...one, times: before[place]?.times ?? [] });
}

/** Codes expire by the clock of the instance. */
const ownExpiry: StoreDefect = (store, own) =>
  decorateStore(store, {
    write: (change) => store.write((tx) => change(decorateStore(tx, { now: own.now() }))),
  });

const attacks = { count: 100, seed: 1, enough: 1 };

/** Defects of the guess limits and the lifetime of codes. */
export const guessing = [
  seeded(
    'run-attacks',
    async (defect?: TopologyDefect) =>
      (await runAttacks({ ...attacks, ...(defect && { defect }) })).findings,
    defects,
  ),
  seeded('skewed-clocks', registerBySkewedClocks, { 'expiry by the instance’s clock': ownExpiry }),
];
