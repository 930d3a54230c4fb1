import type { IncomingHttpHeaders } from 'node:http';
import { isIP, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { SignageError } from '../../domain/error.ts';

/** The other end of a connection. An `IncomingMessage` has this shape. */
export interface Peer {
  socket: { remoteAddress?: string | undefined };
  headers: IncomingHttpHeaders;
}

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** Regular expressions for `[IPv6]` with or without a port, and for `IPv4:port`. */
const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/;
const ipv4WithPort = /^([\d.]+):\d{1,5}$/;

/**
 * Returns an address in its standard form. An IPv4-mapped IPv6 address becomes an IPv4 address.
 * Returns `undefined` if the text is not an address.
 */
function normalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  // A zone (`fe80::1%eth0`) names an interface of the machine that wrote the address.
  return isIPv6(text) && !text.includes('%') ? ipaddr.process(text).toString() : undefined;
}

/**
 * Like `normalAddress`, but also accepts the forms of proxies: with a port, in brackets, or in
 * quotes.
 */
export function parseAddress(text: string): string | undefined {
  const trimmed = text.trim();
  const plain =
    trimmed.length > 1 && trimmed.startsWith('"') && trimmed.endsWith('"')
      ? trimmed.slice(1, -1)
      : trimmed;
  const [, inBrackets] = bracketed.exec(plain) ?? [];
  if (inBrackets !== undefined) return isIPv6(inBrackets) ? normalAddress(inBrackets) : undefined;
  return normalAddress(ipv4WithPort.exec(plain)?.[1] ?? plain);
}

const ipv4MappedBits = 96;

/**
 * Converts a range of IPv4-mapped IPv6 addresses to the IPv4 range. Returns other ranges unchanged.
 */
function unmapped([address, bits]: Network): Network {
  const isMapped =
    address.kind() === 'ipv6' &&
    (address as ipaddr.IPv6).isIPv4MappedAddress() &&
    bits >= ipv4MappedBits;
  return isMapped
    ? [(address as ipaddr.IPv6).toIPv4Address(), bits - ipv4MappedBits]
    : [address, bits];
}

/**
 * Reads one `trustProxy` entry: an address, or a range such as `10.0.0.0/8`. Throws
 * `invalid_option`.
 */
export function parseProxy(text: string): Network {
  const named = `The trusted proxy ${JSON.stringify(text)}`;
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
      `${named} contains all addresses. Name only the addresses of your proxies.`,
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

/**
 * Returns a function that tells whether an address in its standard form belongs to a trusted proxy.
 */
function makeIsProxy(trustedProxies: readonly string[]): (address: string) => boolean {
  const networks = trustedProxies.map(parseProxy);
  if (networks.length === 0) return () => false;
  return (text) => {
    const address = ipaddr.parse(text);
    return networks.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
  };
}

/** Returns a function that tells whether a trusted proxy is at the other end of a connection. */
export function makeIsTrusted(trustedProxies: readonly string[]): (peer: Peer) => boolean {
  const isProxy = makeIsProxy(trustedProxies);
  return ({ socket }) => {
    const address = normalAddress(socket.remoteAddress ?? '');
    return address !== undefined && isProxy(address);
  };
}

/**
 * Returns a function that determines the client's address (docs/protocol.md §3.5). Without trusted
 * proxies, it is the address of the socket. Behind trusted proxies, it is the last address in
 * `X-Forwarded-For` that belongs to no trusted proxy. If there is no such address, or a malformed
 * entry comes first, it is the address of the socket. If the connection is unknown, the address is
 * `null`. Throws `invalid_option` for a malformed range.
 */
export function makeAddressOf(
  trustedProxies: readonly string[],
): (peer: Peer | undefined) => string | null {
  const isProxy = makeIsProxy(trustedProxies);

  return (peer) => {
    if (!peer) return null;
    const address = normalAddress(peer.socket.remoteAddress ?? '') ?? null;
    if (address === null || !isProxy(address)) return address;
    const forwarded = [peer.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').reverse();
    for (const text of forwarded) {
      const hop = parseAddress(text);
      if (hop === undefined) return address;
      if (!isProxy(hop)) return hop;
    }
    return address;
  };
}
