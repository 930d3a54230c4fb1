import { BlockList, isIP } from 'node:net';
import { SignageError } from '../../../domain/error.ts';

/** Addresses of this machine and its link, and those at which clouds keep credentials. */
const refused = new BlockList();
refused.addSubnet('0.0.0.0', 8);
refused.addSubnet('127.0.0.0', 8);
refused.addSubnet('169.254.0.0', 16);
refused.addAddress('100.100.100.200');
refused.addSubnet('::', 127, 'ipv6');
refused.addSubnet('fe80::', 10, 'ipv6');
refused.addAddress('fd00:ec2::254', 'ipv6');
// IPv4 behind NAT64 (RFC 6052 §2.1).
refused.addSubnet('64:ff9b::7f00:0', 104, 'ipv6');
refused.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');

/**
 * Throws `address_refused` for an address where a model must not look around. The message does not
 * name it, because answers must not tell how this network resolves names.
 */
export function checkAddress(address: string): void {
  // Only link-local addresses have a zone (`fe80::1%eth0`).
  if (address.includes('%') || refused.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'))
    throw new SignageError(
      'address_refused',
      'Addresses of this machine, and link-local ones, are not asked from here.',
    );
}
