import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { SignageError } from '../domain/error.ts';
import { type AddressRange, type IpAddress, isInRanges, parseRange } from './address-range.ts';

/** Names an entry of `webhookAllow` in errors. */
export const webhookRangeSubject = 'The address of webhooks';

/** Global unicast (RFC 4291 §2.4). ipaddr.js also calls unassigned addresses unicast. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Returns the IPv4 address that an IPv6 address stands for: an IPv4-mapped one, or one behind a
 * NAT64 gateway (RFC 6052). Returns other addresses unchanged.
 */
function unwrapped(text: string): IpAddress {
  const address = ipaddr.process(text);
  return address.kind() === 'ipv6' && address.range() === 'rfc6052'
    ? ipaddr.fromByteArray(address.toByteArray().slice(-4))
    : address;
}

function isPublic(address: IpAddress): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(globalUnicast);
}

/** Which addresses may be called, against server-side request forgery. */
export interface CallableAddresses {
  /**
   * Throws `address_refused` if the URL can never be called: a wrong scheme, credentials, or a
   * refused address in place of the host name. Call `checkAddress` for each address of a name.
   */
  checkUrl(url: URL): void;
  /** Throws `address_refused` unless an IP address may be called under this URL. */
  checkAddress(url: URL, address: string): void;
}

const refused = (message: string) => new SignageError('address_refused', message);

/**
 * Allows public addresses by HTTPS. Addresses in `allowed` ranges may also be called by plain HTTP.
 * Throws `invalid_option` for a malformed range.
 */
export function makeCallableAddresses(allowed: readonly string[]): CallableAddresses {
  const ranges: AddressRange[] = allowed.map((text) => parseRange(text, webhookRangeSubject));

  function checkAddress({ protocol }: URL, text: string): void {
    // A zone (`fe80::1%eth0`) names an interface of this machine.
    if (isIP(text) === 0 || text.includes('%'))
      throw refused(`${JSON.stringify(text)} is not an address that may be called.`);
    const address = unwrapped(text);
    if (isInRanges(address, ranges)) return;
    if (!isPublic(address))
      throw refused(
        `The address ${text} is not public. To call your own network, start the service with --webhook-allow and the address.`,
      );
    if (protocol !== 'https:')
      throw refused('Plain http is only for addresses that --webhook-allow names. Use https.');
  }

  return {
    checkUrl(url) {
      if (url.protocol !== 'https:' && !(url.protocol === 'http:' && ranges.length > 0))
        throw refused('The URL must begin with https://.');
      if (url.username !== '' || url.password !== '')
        throw refused('The URL must not contain a user name or password.');
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      if (isIP(host) !== 0) checkAddress(url, host);
    },
    checkAddress,
  };
}
