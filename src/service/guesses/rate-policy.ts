import { minuteMs, secondMs } from '../../domain/clock.ts';
import type { GuessCounter } from '../../domain/records/pairing-code.ts';
import type { GuessCountersOfEach } from '../../store/store.ts';
import type { SourceGroup } from './guess-source.ts';

/*
 * Security bound: at most 198 guesses at one tenant's codes within the lifetime of a code. With
 * 31^8 possible codes, the chance to hit one given code is at most 198 / 31^8 < 2^-32.
 *
 * A guess is an attempt with an unknown code. It counts against every code that the service would
 * have accepted instead. While a source is below its own limit and below the limit shared by all
 * sources, the service accepts the codes of every tenant. Beyond them, it accepts only the codes of
 * tenants that trust the source and have guesses left. The sum of the limits, 128 + 60 + 10 = 198,
 * is the bound.
 *
 * An attempt that happens to hit another existing code is not counted. With fewer than a billion
 * codes, this adds less than half a guess.
 */
const limitOfAllSources = 128;
/** Number of guesses shared by the trusted sources of a tenant. */
const sharedLimitOfTenant = 60;
/**
 * Guesses reserved for trusted sources that have not guessed yet at codes of the tenant, one for
 * each source.
 */
const reserveOfTenant = 10;
/** A trusted source may use half of the remaining shared guesses: 20 if it is the only one. */
const shareDivisorOfTenant = 2;
const minSourceWindowMs = 15 * minuteMs;
const firstWaitMs = 60 * secondMs;
const maxWaitMs = 15 * minuteMs;
const emptyCounter: GuessCounter = { times: [], waitUntil: 0, waitMs: 0, forgetAt: 0 };

/**
 * Milliseconds for which a guess counts for its source. Never shorter than the window of all
 * sources: otherwise, a few sources could use up the limit of all.
 */
export const sourceWindowMs = (codeTtlMs: number) => Math.max(minSourceWindowMs, codeTtlMs);

/**
 * Decision about a registration. `undefined`: the registration proceeds. Otherwise it is refused
 * for `waitMs`.
 */
export type RateDecision =
  | {
      scope: 'source' | 'service';
      waitMs: number;
      /** Whether this is the first refusal of a lock-out. */
      isFirstRefusal: boolean;
      /** Index of the counter that has reached its limit. */
      index: number;
      unknownCodes: number;
    }
  | undefined;

/** A registration to decide about. */
export interface RegistrationAttempt {
  /** The tenant of the code. `undefined`: the code is unknown. */
  owner: string | undefined;
  /** The groups of addresses that contain the source, the smallest first. */
  groups: readonly SourceGroup[];
  /** The tenants that trust the source. */
  trustingTenants: readonly string[];
  codeTtlMs: number;
}

/** Number of unknown codes that a source may still send (docs/protocol.md §3.5). */
export interface GuessQuota {
  /** Maximum number of unknown codes in any `windowMs`. */
  limit: number;
  windowMs: number;
  remaining: number;
  /** Milliseconds until `remaining` grows. `undefined` if no guess counts currently. */
  resetMs: number | undefined;
}

const allSources = '*';

/**
 * Returns the keys of the counters that `applyRatePolicy` takes: one per group, one of all sources,
 * and two per trusting tenant. Of the two, the first counts guesses of all sources that the tenant
 * trusts, the second only guesses of this source.
 */
export function counterKeysOf({
  groups,
  trustingTenants,
}: Pick<RegistrationAttempt, 'groups' | 'trustingTenants'>): string[] {
  const source = groups[0]?.key;
  return [
    ...groups.map(({ key }) => key),
    allSources,
    ...trustingTenants.flatMap((id) => [`tenant/${id}`, `tenant/${id}/${source}`]),
  ];
}

const shareOf = (remaining: number, divisor: number) =>
  remaining > 0 ? Math.max(1, Math.floor(remaining / divisor)) : 0;

/** Returns the scope and the index of a counter that has reached its limit, if any. */
function findFullCounter(
  counters: readonly GuessCounter[],
  groups: readonly SourceGroup[],
): { scope: 'source' | 'service'; index: number } | undefined {
  const used = (index: number) => (counters[index] as GuessCounter).times.length;
  const full = groups.findIndex(({ maxGuesses }, index) => used(index) >= maxGuesses);
  if (full >= 0) return { scope: 'source', index: full };
  const remaining = limitOfAllSources - used(groups.length);
  const hasShare = groups.every(
    ({ shareDivisor }, index) => used(index) < shareOf(remaining, shareDivisor),
  );
  return hasShare ? undefined : { scope: 'service', index: groups.length };
}

/**
 * Whether a trusted source may make one more guess at codes of a tenant, from its fair share or its
 * reserved first guess.
 */
function hasGuessesLeft(ofTenant: GuessCounter, ofSource: GuessCounter): boolean {
  const used = ofTenant.times.length;
  if (ofSource.times.length === 0) return used < sharedLimitOfTenant + reserveOfTenant;
  return ofSource.times.length < shareOf(sharedLimitOfTenant - used, shareDivisorOfTenant);
}

function currentCounters(
  stored: GuessCountersOfEach,
  nowMs: number,
  { groups, codeTtlMs }: Pick<RegistrationAttempt, 'groups' | 'codeTtlMs'>,
): GuessCounter[] {
  return stored.map((counter, index) =>
    currentGuesses(counter, nowMs, index < groups.length ? sourceWindowMs(codeTtlMs) : codeTtlMs),
  );
}

/**
 * Whether the source is within the limits that apply to codes of every tenant. `stored` holds the
 * counters of the groups and of all sources.
 */
export function isWithinLimits(
  stored: GuessCountersOfEach,
  nowMs: number,
  attempt: Pick<RegistrationAttempt, 'groups' | 'codeTtlMs'>,
): boolean {
  return findFullCounter(currentCounters(stored, nowMs, attempt), attempt.groups) === undefined;
}

/**
 * Applies the guess limits to one registration. Counts a guess if the code is unknown. `stored`
 * holds the counters of `counterKeysOf`.
 */
export function applyRatePolicy(
  stored: GuessCountersOfEach,
  nowMs: number,
  attempt: RegistrationAttempt,
): { attempts: GuessCountersOfEach; result: RateDecision } {
  const { owner, groups, trustingTenants, codeTtlMs } = attempt;
  const counters = currentCounters(stored, nowMs, attempt);
  const updated: (GuessCounter | undefined)[] = [...stored];
  const count = (index: number, windowMs: number) => {
    updated[index] = addGuess(counters[index] as GuessCounter, nowMs, windowMs);
  };
  const full = findFullCounter(counters, groups);
  if (!full) {
    if (owner !== undefined) return { attempts: stored, result: undefined };
    for (const index of groups.keys()) count(index, sourceWindowMs(codeTtlMs));
    count(groups.length, codeTtlMs);
    return { attempts: updated, result: undefined };
  }
  const tenants = trustingTenants.map((tenantId, n) => ({
    tenantId,
    index: groups.length + 1 + 2 * n,
  }));
  const tenantsWithGuesses = tenants.filter(({ index }) =>
    hasGuessesLeft(counters[index] as GuessCounter, counters[index + 1] as GuessCounter),
  );
  if (tenantsWithGuesses.some(({ tenantId }) => tenantId === owner))
    return { attempts: stored, result: undefined };
  // A code of a tenant that does not trust the source counts as unknown. Otherwise the number of
  // guesses left would reveal that the code exists.
  for (const { index } of tenantsWithGuesses) {
    count(index, codeTtlMs);
    count(index + 1, codeTtlMs);
  }
  const counter = counters[full.index] as GuessCounter;
  const { guesses, ...wait } = recordRefusal(counter, nowMs);
  if (guesses !== counter) updated[full.index] = guesses;
  return { attempts: updated, result: { ...full, ...wait, unknownCodes: counter.times.length } };
}

/**
 * Returns the quota of the source's group with the fewest guesses left. Ignores the limits that all
 * sources share. `stored` holds the counters of the groups.
 */
export function quotaOf(
  stored: GuessCountersOfEach,
  nowMs: number,
  { groups, codeTtlMs }: Pick<RegistrationAttempt, 'groups' | 'codeTtlMs'>,
): GuessQuota {
  const windowMs = sourceWindowMs(codeTtlMs);
  const quotas = groups.map(({ maxGuesses }, index) => {
    const { times } = currentGuesses(stored[index], nowMs, windowMs);
    const [oldest] = times;
    return {
      limit: maxGuesses,
      windowMs,
      remaining: Math.max(0, maxGuesses - times.length),
      resetMs:
        oldest === undefined
          ? undefined
          : Math.min(Math.max(0, oldest + windowMs - nowMs), windowMs),
    };
  });
  return quotas.reduce((least, one) => (one.remaining < least.remaining ? one : least));
}

/**
 * Removes guesses outside the sliding window. If no guess remains, the wait ends too. If the clock
 * was set back, guesses with future timestamps count if they are less than one window ahead.
 */
export function currentGuesses(
  stored: GuessCounter = emptyCounter,
  nowMs: number,
  windowMs: number,
): GuessCounter {
  const counts = (time: number) => Math.abs(nowMs - time) < windowMs;
  if (stored.times.every(counts))
    return stored.times.length > 0 ? stored : { ...stored, waitUntil: 0, waitMs: 0 };
  const times = stored.times.filter(counts);
  return { ...stored, times, ...(times.length === 0 && { waitUntil: 0, waitMs: 0 }) };
}

function addGuess(guesses: GuessCounter, nowMs: number, windowMs: number): GuessCounter {
  return {
    ...guesses,
    times: [...guesses.times, nowMs],
    forgetAt: Math.max(guesses.forgetAt, nowMs + windowMs),
  };
}

/**
 * Exponential backoff: returns the updated counter, and the time for which a refused caller must
 * wait. A refusal after the end of a wait doubles the next wait.
 */
export function recordRefusal(
  guesses: GuessCounter,
  nowMs: number,
): { guesses: GuessCounter; waitMs: number; isFirstRefusal: boolean } {
  const { waitUntil, waitMs } = guesses;
  const remainingMs = Math.min(waitUntil - nowMs, waitMs);
  if (remainingMs > 0) return { guesses, waitMs: remainingMs, isFirstRefusal: false };
  const nextMs = Math.min(waitMs === 0 ? firstWaitMs : waitMs * 2, maxWaitMs);
  return {
    guesses: { ...guesses, waitUntil: nowMs + nextMs, waitMs: nextMs },
    waitMs: nextMs,
    isFirstRefusal: waitMs === 0,
  };
}
