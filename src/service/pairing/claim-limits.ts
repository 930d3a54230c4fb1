import { derivedRandom } from '../../domain/api-key.ts';
import { minuteMs, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { Claim } from '../../domain/records/rows.ts';
import type { Ticket } from '../../domain/tickets/rows.ts';
import { networkOf, sourceOf, unknownSource } from '../guesses/guess-source.ts';

/**
 * Number of shards. A shard has the waiting claims of some networks and is counted in one
 * transaction, so only claims of one shard conflict with each other.
 */
const shards = 50;

/**
 * A row that waits: the claim of a TV, or a login request. Each kind is counted by itself, so that
 * login requests never take the place of a claim.
 */
export type Waiter = Pick<Claim, 'id' | 'address' | 'network' | 'share' | 'createdAt'>;

/**
 * Limits that depend on trust. Callers without an address cannot be told apart, so they are not
 * counted as one customer.
 */
type LimitByTrust = Record<'trusted' | 'untrusted' | 'unknown', number>;

export interface WaitingLimits {
  ofAddress: LimitByTrust;
  /** A customer can get a whole IPv6 /48 for free. */
  ofNetwork: LimitByTrust;
  /** Returns what to say beyond a limit. `whose`: `at this address`. */
  tooMany(whose: string): string;
}

/** Limits of waiting claims (docs/protocol.md §3.6). */
export const claimLimits: WaitingLimits = {
  ofAddress: { trusted: 50, untrusted: 5, unknown: 50 },
  ofNetwork: { trusted: 50, untrusted: 20, unknown: 50 },
  tooMany: (whose) => `Too many TVs ${whose} wait to be paired: pair them`,
};

/** Limits of every kind (docs/protocol.md §3.6). */
const ofShard = 200;
/** Limit of all addresses in a shard that no tenant trusts. The rest is a reserve. */
const ofUntrusted = 100;
/** Limit of all addresses in a shard that count for one tenant. */
const ofTenant = 80;

/** Waiting claims of a shared ticket, beyond its remaining uses; and all claims of a link. */
const ofTicket = 20;
const ofLink = 5;

/**
 * Time in which somebody can type a new claim. Without it, more TVs than fit would displace each
 * other all the time.
 */
const minAgeMs = minuteMs;

/** A TV that asks for a claim, or somebody who asks for a token. */
export interface ClaimApplicant {
  source: string;
  network: string;
  shard: string;
  /** The tenants that trust the source. */
  trusting: readonly string[];
}

/** Returns the applicant at an address. The key of the shards stops attackers from choosing one. */
export function applicantAt(
  address: string | null,
  trusting: readonly string[],
  secret: Uint8Array,
): ClaimApplicant {
  const source = sourceOf(address);
  const network = networkOf(source);
  const [high = 0, low = 0] = derivedRandom(secret, network, 'claim-shard')(2);
  return { source, network, shard: String((high * 256 + low) % shards), trusting };
}

type KeyOf = (waiter: Waiter) => string | null;
const networkKey: KeyOf = ({ network }) => network;
const byAge = (one: Waiter, other: Waiter) => one.createdAt - other.createdAt;
const shareKey: KeyOf = ({ share }) => share;

function sizes(claims: readonly Waiter[], keyOf: KeyOf) {
  const counts = new Map<string | null, number>();
  for (const claim of claims) counts.set(keyOf(claim), (counts.get(keyOf(claim)) ?? 0) + 1);
  return (key: string | null) => counts.get(key) ?? 0;
}

/** A limit of the waiting claims that `counts` selects. */
interface ClaimLimit {
  limit: number;
  counts(waiter: Waiter): boolean;
  /** The key of those that share the limit, and the applicant's key. */
  keyOf: KeyOf;
  own: string | null;
  whose: string;
}

/**
 * Returns the claim that gives way to a new one: of those with the most claims, the oldest of the
 * network with the most. They give way at once if they still have as many claims as the applicant
 * afterwards. Otherwise the claim must be a minute old. Throws `too_many_attempts`.
 */
function nextToGiveWay<T extends Waiter>(
  claims: readonly T[],
  { keyOf, own, whose }: ClaimLimit,
  tooMany: WaitingLimits['tooMany'],
  nowMs: number,
): T {
  const sizeOf = sizes(claims, keyOf);
  const sizeOfNetwork = sizes(claims, networkKey);
  const isOwn = (claim: T) => Number(keyOf(claim) === own);
  const [first] = claims.toSorted(
    (one, other) =>
      sizeOf(keyOf(other)) - sizeOf(keyOf(one)) ||
      isOwn(other) - isOwn(one) ||
      sizeOfNetwork(other.network) - sizeOfNetwork(one.network) ||
      byAge(one, other),
  ) as [T, ...T[]];
  const waitMs = first.createdAt + minAgeMs - nowMs;
  if (sizeOf(keyOf(first)) >= sizeOf(own) + 2 || waitMs <= 0) return first;
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / secondMs));
  const detail = `${tooMany(whose)}, or try again in ${retryAfterSeconds} seconds.`;
  throw new SignageError('too_many_attempts', detail, { retryAfterSeconds });
}

/**
 * Makes room for a claim beside the live claims of its ticket. A link has few at a time, and the
 * oldest gives way. Throws `too_many_attempts`.
 */
export function makeRoomWithTicket(
  live: readonly Claim[],
  { screenId, uses, used }: Ticket,
  network: string,
  nowMs: number,
): Claim[] {
  if (screenId !== null)
    return live.toSorted(byAge).slice(0, Math.max(0, live.length - ofLink + 1));
  const waiting = live.filter(({ state }) => state === 'waiting');
  const limit = uses - used + ofTicket;
  const counts = () => true;
  const level = { limit, counts, keyOf: networkKey, own: network, whose: 'with this ticket' };
  return waiting.length < limit ? [] : [nextToGiveWay(waiting, level, claimLimits.tooMany, nowMs)];
}

/**
 * Makes room for a claim beside the waiting claims of its shard. Returns the claims that give way,
 * and the share that the new claim uses. Throws `too_many_attempts`.
 */
export function makeRoom<T extends Waiter>(
  waiting: readonly T[],
  { source, network, trusting }: ClaimApplicant,
  { ofAddress, ofNetwork, tooMany }: WaitingLimits,
  nowMs: number,
): { displaced: T[]; share: string | null } {
  const sizeOfShare = sizes(waiting, shareKey);
  const share = trusting.toSorted((one, other) => sizeOfShare(one) - sizeOfShare(other))[0] ?? null;
  const known = share === null ? 'untrusted' : 'trusted';
  const trust = source === unknownSource ? 'unknown' : known;
  const inNetwork = (claim: Waiter) => claim.network === network;
  const byNetwork = { keyOf: networkKey, own: network };
  const levels: ClaimLimit[] = [
    {
      limit: ofAddress[trust],
      counts: (claim) => inNetwork(claim) && sourceOf(claim.address) === source,
      ...byNetwork,
      whose: 'at this address',
    },
    { limit: ofNetwork[trust], counts: inNetwork, ...byNetwork, whose: 'in this network' },
    {
      limit: share === null ? ofUntrusted : ofTenant,
      counts: (claim) => claim.share === share,
      ...byNetwork,
      whose: 'of this service',
    },
    { limit: ofShard, counts: () => true, keyOf: shareKey, own: share, whose: 'of this service' },
  ];
  const displaced: T[] = [];
  for (const level of levels) {
    const counted = waiting.filter((claim) => level.counts(claim) && !displaced.includes(claim));
    if (counted.length >= level.limit)
      displaced.push(nextToGiveWay(counted, level, tooMany, nowMs));
  }
  return { displaced, share };
}
