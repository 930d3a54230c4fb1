// A TV that shows a claim, and registers when a screen is offered to it.
import type { Clock } from '../../../src/domain/clock.ts';
import type { TestService } from '../../support/service.ts';

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

/** Waits for the offer of a claim, and registers with its code. */
export async function registerWhenOffered(service: TestService<Clock>, shown: Shown) {
  const { pairingCode } = await statusOfClaim(service, shown, '?waitSeconds=50');
  return (await service.register(pairingCode, { deviceInfo })).body;
}
