import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** Addresses of this machine and its link, where a model must not look around. */
const refused = new BlockList();
refused.addSubnet('0.0.0.0', 8);
refused.addSubnet('127.0.0.0', 8);
refused.addSubnet('169.254.0.0', 16);
refused.addSubnet('::', 127, 'ipv6');
refused.addSubnet('fe80::', 10, 'ipv6');

const isRefused = (address: string) =>
  refused.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * Whether a URL may be requested to examine its media: not on this machine, and not at a link-local
 * address, where clouds keep credentials. A name that this machine cannot resolve may be known to a
 * proxy.
 */
export async function mayExamine({ hostname }: URL): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return !isRefused(host);
  try {
    const found = await lookup(host, { all: true });
    return !found.some(({ address }) => isRefused(address));
  } catch {
    return true;
  }
}
