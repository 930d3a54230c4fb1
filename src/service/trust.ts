import ipaddr from 'ipaddr.js';
import { type Clock, hourMs } from '../domain/clock.ts';

const trustMs = 24 * hourMs;
/** More sources than this are not remembered: the one used least recently goes. */
const mostSources = 100_000;

/** What counts as one source of requests: an IPv4 address whole, of IPv6 the /64; an address that is not known is one source too. */
export function sourceOf(address: string | null): string {
  if (address === null || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return (parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}

/** Remembers from where a tenant's tokens and device keys have worked (docs/protocol.md §3.5). */
export interface Trust {
  remember(address: string | null, tenantId: string): void;
  /** Whether a credential of some tenant, or of this one, worked there within 24 hours. */
  of(source: string, tenantId?: string): boolean;
}

export function makeTrust(clock: Clock): Trust {
  const sources = new Map<string, Map<string, number>>();

  return {
    remember(address, tenantId) {
      const source = sourceOf(address);
      const tenants = sources.get(source) ?? new Map<string, number>();
      sources.delete(source);
      sources.set(source, tenants.set(tenantId, clock.now()));
      if (sources.size > mostSources) sources.delete(sources.keys().next().value as string);
    },
    of(source, tenantId) {
      const tenants = sources.get(source);
      const since = clock.now() - trustMs;
      if (tenantId !== undefined) return (tenants?.get(tenantId) ?? Number.NEGATIVE_INFINITY) > since;
      return tenants !== undefined && [...tenants.values()].some((time) => time > since);
    },
  };
}
