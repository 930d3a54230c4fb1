import type { TestService } from '../service/service.ts';

/** Returns how many requests for changes the service holds. */
export async function heldDevices(service: Pick<TestService, 'send'>): Promise<number> {
  const { text } = await service.send('GET', '/metrics');
  return Number(/^signage_held_devices (\d+)$/m.exec(text)?.[1]);
}
