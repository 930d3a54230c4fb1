import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isInRanges, parseRange } from '../../network/address-range.ts';

/** The other end of a connection. An `IncomingMessage` has this shape. */
export interface Peer {
  socket: { remoteAddress?: string | undefined };
  headers: IncomingHttpHeaders;
}

/** Names an entry of `trustProxy` in errors. */
export const proxySubject = 'The trusted proxy';

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

/**
 * Returns a function that tells whether an address in its standard form belongs to a trusted proxy.
 */
function makeIsProxy(trustedProxies: readonly string[]): (address: string) => boolean {
  const ranges = trustedProxies.map((text) => parseRange(text, proxySubject));
  return (text) => ranges.length > 0 && isInRanges(ipaddr.parse(text), ranges);
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
