import { minuteMs } from '../domain/clock.ts';
import type { Attempts } from '../domain/records.ts';
import type { AttemptsOfEach } from '../store/store.ts';
import { counted, refused, standing } from './guess-window.ts';

/*
 * There are 31^8 codes. A guess is a try at all codes that a right one would bind: those of every tenant while its source has some of its ten and all sources
 * together have some of their 128 left, else those of the tenants that vouch for its source and have some of their 60 left. So within one lifetime of a code at
 * most 128 + 60 = 188 guesses are tries at it, and one of them hits it with a chance of at most 188 / 31^8 = 0.95 / 2^32. (A guess that hits another code is not
 * counted. That would have to happen ten times before there are 31^8 / 2^32 = 198 tries.)
 */
export const ofSource = 10;
const ofSourceMoreIfTrusted = 60;
export const ofAll = 128;
const ofTenant = 60;
/** How long guesses count for their source; for all sources, and for tenants, it is the lifetime of a code. */
export const ofSourceMs = 15 * minuteMs;

/** What is made of a registration: nothing, or for how long it is refused, and whether that is the first of a lock-out. */
export type Verdict = { scope: 'source' | 'service'; waitMs: number; begins: boolean } | undefined;

/** What still counts: of the source, of all, and of each tenant that vouches for the source. */
type Standing = [own: Attempts, everybody: Attempts, ...tenants: Attempts[]];

/** A registration to be judged. */
export interface Claim {
  /** The tenant of its code; `undefined` when that is unknown. */
  owner: string | undefined;
  /** The tenants that vouch for its source. */
  vouching: readonly string[];
  codeTtlMs: number;
}

function standingOf(known: AttemptsOfEach, nowMs: number, codeTtlMs: number): Standing {
  return known.map((one, place) => standing(one, nowMs, place === 0 ? ofSourceMs : codeTtlMs)) as Standing;
}

const hasRoomIn = ([own, everybody]: Standing) => own.times.length < ofSource && everybody.times.length < ofAll;

/** Whether codes of every tenant bind: of what is known of the source and of all. */
export function hasRoom(known: AttemptsOfEach, nowMs: number, codeTtlMs: number): boolean {
  return hasRoomIn(standingOf(known, nowMs, codeTtlMs));
}

/** `known` is of the source, of all, and of each tenant that vouches for the source. */
export function judged(known: AttemptsOfEach, nowMs: number, claim: Claim): { attempts: AttemptsOfEach; result: Verdict } {
  const { owner, vouching, codeTtlMs } = claim;
  const now = standingOf(known, nowMs, codeTtlMs);
  const [own, everybody, ...tenants] = now;
  const next: (Attempts | undefined)[] = [...known];
  if (hasRoomIn(now)) {
    if (owner === undefined) next.splice(0, 2, counted(own, nowMs, ofSourceMs), counted(everybody, nowMs, codeTtlMs));
    return { attempts: next, result: undefined };
  }
  const hasMore = own.times.length < ofSource + ofSourceMoreIfTrusted;
  const open = tenants.map(({ times }) => hasMore && times.length < ofTenant);
  if (owner !== undefined && open[vouching.indexOf(owner)]) return { attempts: known, result: undefined };
  // Another tenant's code counts as one that is unknown: else what is left would tell them apart.
  for (const [place, tenant] of tenants.entries()) if (open[place]) next[place + 2] = counted(tenant, nowMs, codeTtlMs);
  const tried = open.includes(true) ? counted(own, nowMs, ofSourceMs) : own;
  if (tried !== own) next[0] = tried;
  const [scope, place, guesses] = own.times.length < ofSource ? (['service', 1, everybody] as const) : (['source', 0, tried] as const);
  const { guesses: told, ...wait } = refused(guesses, nowMs);
  if (told !== guesses) next[place] = told;
  return { attempts: next, result: { scope, ...wait } };
}
