import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { SignageError } from '../domain/error.ts';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = readonly [address: IpAddress, bits: number];

const ipv4MappedBits = 96;

/**
 * Converts a range of IPv4-mapped IPv6 addresses to the IPv4 range. Returns other ranges unchanged.
 */
function unmapped([address, bits]: AddressRange): AddressRange {
  const isMapped =
    address.kind() === 'ipv6' &&
    (address as ipaddr.IPv6).isIPv4MappedAddress() &&
    bits >= ipv4MappedBits;
  return isMapped
    ? [(address as ipaddr.IPv6).toIPv4Address(), bits - ipv4MappedBits]
    : [address, bits];
}

/**
 * Reads an address, or a range such as `10.0.0.0/8`. Throws `invalid_option`, with `subject` as the
 * beginning of its message.
 */
export function parseRange(text: string, subject: string): AddressRange {
  const named = `${subject} ${JSON.stringify(text)}`;
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (
    family === 0 ||
    address.includes('%') ||
    rest.length > 0 ||
    (bits !== undefined && !/^(0|[1-9]\d{0,2})$/.test(bits))
  ) {
    throw new SignageError(
      'invalid_option',
      `${named} is neither an IP address nor a range such as 10.0.0.0/8 or 2001:db8::/32.`,
    );
  }
  const maxBits = family === 4 ? 32 : 128;
  const length = bits === undefined ? maxBits : Number(bits);
  if (length > maxBits)
    throw new SignageError('invalid_option', `${named} has a prefix of more than ${maxBits} bits.`);
  const [network, networkBits] = unmapped([ipaddr.parse(address), length]);
  if (networkBits === 0)
    throw new SignageError(
      'invalid_option',
      `${named} contains all addresses. Name only the addresses that you mean.`,
    );
  const kind = network.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  const first = kind.networkAddressFromCIDR(`${network}/${networkBits}`);
  if (first.toString() !== network.toString())
    throw new SignageError(
      'invalid_option',
      `${named} has bits beyond its prefix. Write ${first}/${networkBits}.`,
    );
  return [network, networkBits];
}

export function isInRanges(address: IpAddress, ranges: readonly AddressRange[]): boolean {
  return ranges.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}
