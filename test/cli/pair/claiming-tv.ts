// A TV that shows a claim, and registers when a screen is offered to it.
import { expect } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { TestService } from '../../support/service/service.ts';

const deviceInfo = { manufacturer: 'Samsung', model: 'QM55C' };

export interface Shown {
  claim: string;
  token: string;
}

/** The address of the TV must be trusted: a credential has worked there before. */
export async function showClaim(service: TestService<Clock>): Promise<Shown> {
  return (await service.send('POST', '/devices/claims', { body: { deviceInfo } })).body;
}

export const statusOfClaim = async (
  service: TestService<Clock>,
  { claim, token }: Shown,
  query = '',
) => (await service.send('GET', `/devices/claims/${claim}${query}`, { key: token })).body;

/** Creates a venue with screens, and a TV with a claim for each. */
export async function claimingVenue(service: TestService<Clock>, names: readonly string[]) {
  const { id: venueId, name: venue } = await service.venue();
  const ids: string[] = [];
  const shown: Shown[] = [];
  for (const name of names) {
    ids.push((await service.screen({ venueId, name })).id);
    shown.push(await showClaim(service));
  }
  return {
    venue,
    ids,
    shown,
    claims: shown.map(({ claim }) => claim),
    /** Lets the TVs at these places wait for their offers. Returns the ids of their screens. */
    register: (...places: number[]) =>
      Promise.all(
        places.map(async (at) => (await registerWhenOffered(service, shown[at]!)).screenId),
      ),
    async expectUntouched() {
      for (const one of shown) expect((await statusOfClaim(service, one)).status).toBe('waiting');
    },
  };
}

/** Waits for the offer of a claim, and registers with its code. */
export async function registerWhenOffered(service: TestService<Clock>, shown: Shown) {
  const { pairingCode } = await statusOfClaim(service, shown, '?waitSeconds=50');
  return (await service.register(pairingCode, { deviceInfo })).body;
}
