import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { SignageError } from '../domain/error.ts';
import { type AddressRange, type IpAddress, isInRanges, parseRange } from './address-range.ts';

/** Names an entry of `webhookAllow` in errors. */
export const webhookRangeSubject = 'The address of webhooks';

/** Global unicast (RFC 4291 §2.4). ipaddr.js also calls unassigned addresses unicast. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * The well-known prefix of NAT64 (RFC 6052 §2.1). A prefix for local use (RFC 8215) has the IPv4
 * address at a place that only its network knows, so its addresses are not public.
 */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Returns the IPv4 address that an IPv6 address stands for: an IPv4-mapped one, or one behind a
 * NAT64 gateway. Returns other addresses unchanged.
 */
function unwrapped(text: string): IpAddress {
  const address = ipaddr.process(text);
  return address.kind() === 'ipv6' && (address as ipaddr.IPv6).match(nat64)
    ? ipaddr.fromByteArray(address.toByteArray().slice(-4))
    : address;
}

/** Returns whether an IPv6 address tunnels to an IPv4 address within a site (ISATAP, RFC 5214). */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return [0, 0x200].includes(parts[4] as number) && parts[5] === 0x5efe;
}

function isPublic(address: IpAddress): boolean {
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return true;
  return (address as ipaddr.IPv6).match(globalUnicast) && !isIsatap(address as ipaddr.IPv6);
}

/** Which addresses may be called, against server-side request forgery. */
export interface CallableAddresses {
  /**
   * Throws `address_refused` if the URL can never be called: a wrong scheme, credentials, or a
   * refused address in place of the host name. Call `checkAddress` for each address of a name.
   */
  checkUrl(url: URL): void;
  /**
   * Throws `address_refused` unless an IP address may be called under this URL. The message does
   * not name the address, because answers must not tell how the network of the service resolves
   * names.
   */
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
      throw refused('The address may not be called: it names an interface of this machine.');
    const address = unwrapped(text);
    if (isInRanges(address, ranges)) return;
    if (!isPublic(address))
      throw refused(
        'The address is not public. To call your own network, start the service with --webhook-allow and the address.',
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
