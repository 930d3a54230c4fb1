import type { Clock } from '../../src/domain/clock.ts';
import { item } from './content.ts';
import type { TestService } from './service.ts';

/** Creates a screen with a playlist and a code. */
export async function tvPlace(service: TestService<Clock>) {
  const { code, screenId } = await service.code();
  const items = [item({ campaignId: '00000000-0000-4000-8000-0000000000ca' }), item()];
  await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items });
  return {
    code,
    screenId,
    /** Returns the device that was bound last. */
    device: async () =>
      (await service.manage('GET', `/v1/devices?screenId=${screenId}`)).body.items.at(-1),
    /** Returns the stored events in order of arrival. */
    async events() {
      const { body } = await service.manage(
        'GET',
        `/v1/events?screenId=${screenId}&order=asc&limit=200`,
      );
      return body.items.map(({ event }: { event: object }) => event);
    },
  };
}

/** The config and the answer of a registration. */
export const config = {
  syncIntervalMinutes: 5,
  heartbeatIntervalMinutes: 1,
  cachePolicy: { maxSizeGB: 10, retentionDays: 7 },
};
export const registered = {
  deviceId: 'device',
  screenId: 'screen',
  apiKey: 'dak_key',
  tenantId: 'tenant',
  config,
};
