import type { Clock } from '../../../src/domain/clock.ts';
import { item } from './content.ts';
import type { TestService } from './service.ts';

const campaignId = '00000000-0000-4000-8000-0000000000ca';

/** Creates a screen with a playlist and a code. Default: one item with a campaign, one without. */
export async function tvPlace(
  service: TestService<Clock>,
  items: readonly object[] = [item({ campaignId }), item()],
) {
  const { code, screenId } = await service.code();
  await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items });
  const devices = async () =>
    (await service.manage('GET', `/v1/devices?screenId=${screenId}`)).body.items;
  return {
    code,
    screenId,
    devices,
    /** Returns the device that was bound last. */
    device: async () => (await devices()).at(-1),
    /** Returns the stored events in order of arrival. */
    async events() {
      const path = `/v1/events?screenId=${screenId}&order=asc&limit=200`;
      const { items } = (await service.manage('GET', path)).body;
      return items.map(({ event }: { event: object }) => event);
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
