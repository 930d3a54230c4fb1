import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The one source of all callers whose address is not known. */
export const unknownSource = 'unknown';

/** Source addresses that are counted together. */
export interface SourceGroup {
  /** Its name among the guess counters. */
  key: string;
  /** The most unknown codes from there in one window. */
  most: number;
  /** It may use one part in so many of what is left for all sources together. */
  parts: number;
}

/**
 * An IPv6 /48 is what one customer can get for nothing, so it has no more guesses than an IPv4
 * address.
 */
const mostOfCustomer = 10;
/** One /56 cannot use up the /48, nor one /64 the /56. */
const ipv6Prefixes = [
  { bits: 56, most: 8 },
  { bits: 48, most: mostOfCustomer },
];
const mostOfSlash64 = 6;
const partsOfAll = 8;
/** Half of what all sources have together. */
const mostUnknown = 64;

/**
 * Returns the source of a request: an IPv4 address, or the first four groups of an IPv6 address.
 */
export function sourceOf(address: string | null): string {
  // The most frequent form needs no parsing.
  if (address !== null && isIPv4(address)) return address;
  if (address === null || !ipaddr.isValid(address)) return unknownSource;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return (parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}

/** Returns the prefix of a /64 that is given by its first four groups: `2001:db8:0:1200::/56`. */
function prefixOf(source: string, bits: number): string {
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${source}::/${bits}`)}/${bits}`;
}

/**
 * Returns the groups that a source belongs to, the smallest first; the first has the name of the
 * source. Callers whose address is not known have half of what the others leave: nobody can tell
 * one from another, and none of them must lock out the others.
 */
export function groupsOf(source: string): readonly SourceGroup[] {
  if (source === unknownSource) return [{ key: source, most: mostUnknown, parts: 1 }];
  if (!source.includes(':')) return [{ key: source, most: mostOfCustomer, parts: partsOfAll }];
  const wider = ipv6Prefixes.map(({ bits, most }) => ({
    key: prefixOf(source, bits),
    most,
    parts: partsOfAll,
  }));
  return [{ key: source, most: mostOfSlash64, parts: partsOfAll }, ...wider];
}

/** Returns how operators write a group: `203.0.113.7`, `2001:db8:1:2::/64`, `2001:db8:1::/48`. */
export const shownGroup = (key: string) =>
  key.includes(':') && !key.includes('/') ? prefixOf(key, 64) : key;
