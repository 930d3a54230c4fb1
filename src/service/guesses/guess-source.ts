import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Key of the source that stands for all callers of unknown address. */
export const unknownSource = 'unknown';

/** A group of source addresses with one guess counter. */
export interface SourceGroup {
  /** Key of the guess counter. */
  key: string;
  /** Limit of unknown codes per window. */
  maxGuesses: number;
  /**
   * Divisor of the fair share: the group may use `1 / shareDivisor` of the guesses left for all
   * sources.
   */
  shareDivisor: number;
}

/**
 * Limit of an IPv4 address, and of an IPv6 /48. A /48 has no higher limit than an IPv4 address,
 * because a customer can get a whole /48 for free.
 */
const maxOfCustomer = 10;
/**
 * A wider prefix has a higher limit. So a /64 cannot use up the guesses of its /56, nor a /56 the
 * guesses of its /48.
 */
const ipv6Prefixes = [
  { bits: 56, maxGuesses: 8 },
  { bits: 48, maxGuesses: maxOfCustomer },
];
const maxOfSlash64 = 6;
const shareDivisorOfAll = 8;
/** Limit of all callers of unknown address: half of the guesses of all sources together. */
const maxUnknown = 64;

/**
 * Returns the source of a request: an IPv4 address, the first four groups of an IPv6 address, or
 * `unknown`.
 */
export function sourceOf(address: string | null): string {
  // Fast path: an IPv4 address needs no parsing.
  if (address !== null && isIPv4(address)) return address;
  if (address === null || !ipaddr.isValid(address)) return unknownSource;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return (parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}

/**
 * Returns the prefix of this length that contains a source, such as `2001:db8:0:1200::/56`.
 * `source` is the first four groups of an IPv6 address.
 */
function prefixOf(source: string, bits: number): string {
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${source}::/${bits}`)}/${bits}`;
}

/**
 * Returns the groups that contain a source, the smallest first. The key of the first group is the
 * source itself. Callers of unknown address cannot be told apart. Together they get up to half of
 * the guesses that other sources leave, so they never lock out the others.
 */
export function groupsOf(source: string): readonly SourceGroup[] {
  if (source === unknownSource) return [{ key: source, maxGuesses: maxUnknown, shareDivisor: 1 }];
  if (!source.includes(':'))
    return [{ key: source, maxGuesses: maxOfCustomer, shareDivisor: shareDivisorOfAll }];
  const wider = ipv6Prefixes.map(({ bits, maxGuesses }) => ({
    key: prefixOf(source, bits),
    maxGuesses,
    shareDivisor: shareDivisorOfAll,
  }));
  return [{ key: source, maxGuesses: maxOfSlash64, shareDivisor: shareDivisorOfAll }, ...wider];
}

/** Returns the widest group that contains a source: an IPv4 address, an IPv6 /48, or `unknown`. */
export const networkOf = (source: string): string => groupsOf(source).at(-1)?.key ?? source;

/** Formats a group for operators: `203.0.113.7`, `2001:db8:1:2::/64`, `2001:db8:1::/48`. */
export const formatGroup = (key: string) =>
  key.includes(':') && !key.includes('/') ? prefixOf(key, 64) : key;
