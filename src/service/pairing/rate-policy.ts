import { minuteMs } from '../../domain/clock.ts';
import type { GuessCounter } from '../../domain/records/rows.ts';
import type { GuessCountersOfEach } from '../../store/store.ts';
import type { SourceGroup } from './guess-source.ts';
import { counted, refused, standing } from './sliding-window.ts';

/*
 * There are 31^8 codes, and 198 / 31^8 < 2^-32. A guess is a try at every code that would bind in
 * its place. That is every tenant's code while the source has room in the count of all sources, and
 * else the codes of the tenants that trust the source and have room. So the tries at one tenant's
 * codes within one lifetime of a code are at most 128 + 60 + 10 = 198. A guess that happens to hit
 * another known code is not counted; with fewer than a billion known codes that adds less than half
 * a try.
 */
const ofAll = 128;
/** Shared by the trusted sources of a tenant. */
const ofTenantShared = 60;
/** Kept for trusted sources of the tenant that have used none: one for each. */
const ofTenantReserve = 10;
/** One trusted source may use half of what is left of the shared ones: 20 when it is alone. */
const partsOfTenant = 2;
const shortestSourceWindowMs = 15 * minuteMs;

/**
 * How long a guess counts for its source. No shorter than for all sources, or few sources could use
 * up what all have together.
 */
export const sourceWindowMs = (codeTtlMs: number) => Math.max(shortestSourceWindowMs, codeTtlMs);

/**
 * The fate of a registration: it passes, or it is refused for `waitMs`; `begins` says that it is
 * the first refusal of a lock-out.
 */
export type Verdict =
  | {
      scope: 'source' | 'service';
      waitMs: number;
      begins: boolean;
      place: number;
      unknownCodes: number;
    }
  | undefined;

/** A registration to be judged. */
export interface Claim {
  /** The tenant of its code; `undefined` when the code is unknown. */
  owner: string | undefined;
  /** The groups of its source. */
  groups: readonly SourceGroup[];
  /** The tenants that trust its source. */
  vouching: readonly string[];
  codeTtlMs: number;
}

const allSources = '*';

/**
 * Returns the names of the counters that `judged` takes: of each group, of all sources, and of each
 * tenant in all and at this source.
 */
export function countersOf({ groups, vouching }: Pick<Claim, 'groups' | 'vouching'>): string[] {
  const source = groups[0]?.key;
  return [
    ...groups.map(({ key }) => key),
    allSources,
    ...vouching.flatMap((id) => [`tenant/${id}`, `tenant/${id}/${source}`]),
  ];
}

const shareOf = (left: number, parts: number) =>
  left > 0 ? Math.max(1, Math.floor(left / parts)) : 0;

/** The counter that has no room for one more, if there is one. */
function fullCounter(
  now: readonly GuessCounter[],
  groups: readonly SourceGroup[],
): { scope: 'source' | 'service'; place: number } | undefined {
  const used = (place: number) => (now[place] as GuessCounter).times.length;
  const full = groups.findIndex(({ most }, place) => used(place) >= most);
  if (full >= 0) return { scope: 'source', place: full };
  const left = ofAll - used(groups.length);
  const hasShare = groups.every(({ parts }, place) => used(place) < shareOf(left, parts));
  return hasShare ? undefined : { scope: 'service', place: groups.length };
}

/**
 * Whether a trusted source may use one more try of its tenant: its share of the shared ones, or the
 * first of its own.
 */
function hasReserve(ofTenant: GuessCounter, ofSource: GuessCounter): boolean {
  const used = ofTenant.times.length;
  if (ofSource.times.length === 0) return used < ofTenantShared + ofTenantReserve;
  return ofSource.times.length < shareOf(ofTenantShared - used, partsOfTenant);
}

function standingOf(
  known: GuessCountersOfEach,
  nowMs: number,
  { groups, codeTtlMs }: Pick<Claim, 'groups' | 'codeTtlMs'>,
): GuessCounter[] {
  return known.map((one, place) =>
    standing(one, nowMs, place < groups.length ? sourceWindowMs(codeTtlMs) : codeTtlMs),
  );
}

/**
 * Whether codes of every tenant bind. `known` holds the counters of the groups and of all sources.
 */
export function hasRoom(
  known: GuessCountersOfEach,
  nowMs: number,
  claim: Pick<Claim, 'groups' | 'codeTtlMs'>,
): boolean {
  return fullCounter(standingOf(known, nowMs, claim), claim.groups) === undefined;
}

/** Judges one registration, and counts it. `known` holds the counters of `countersOf`. */
export function judged(
  known: GuessCountersOfEach,
  nowMs: number,
  claim: Claim,
): { attempts: GuessCountersOfEach; result: Verdict } {
  const { owner, groups, vouching, codeTtlMs } = claim;
  const now = standingOf(known, nowMs, claim);
  const next: (GuessCounter | undefined)[] = [...known];
  const count = (place: number, windowMs: number) => {
    next[place] = counted(now[place] as GuessCounter, nowMs, windowMs);
  };
  const full = fullCounter(now, groups);
  if (!full) {
    if (owner !== undefined) return { attempts: known, result: undefined };
    for (const place of groups.keys()) count(place, sourceWindowMs(codeTtlMs));
    count(groups.length, codeTtlMs);
    return { attempts: next, result: undefined };
  }
  const tenants = vouching.map((tenantId, n) => ({ tenantId, place: groups.length + 1 + 2 * n }));
  const open = tenants.filter(({ place }) =>
    hasReserve(now[place] as GuessCounter, now[place + 1] as GuessCounter),
  );
  if (open.some(({ tenantId }) => tenantId === owner))
    return { attempts: known, result: undefined };
  // Another tenant's code counts as unknown: else the room that is left would tell them apart.
  for (const { place } of open) {
    count(place, codeTtlMs);
    count(place + 1, codeTtlMs);
  }
  const counter = now[full.place] as GuessCounter;
  const { guesses, ...wait } = refused(counter, nowMs);
  if (guesses !== counter) next[full.place] = guesses;
  return { attempts: next, result: { ...full, ...wait, unknownCodes: counter.times.length } };
}
