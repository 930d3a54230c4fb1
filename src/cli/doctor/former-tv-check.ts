import { dayMs } from '../../domain/clock.ts';
import type { Reader } from '../api/client.ts';
import type { Device, Screen } from '../records/find.ts';
import { ago } from './ago.ts';
import { type Finding, warn } from './finding.ts';

/** A revoked TV without a call for this long is switched off or removed. */
const recentMs = 7 * dayMs;

/** Returns the name of a TV for people. */
export function tvName({ id, deviceInfo }: Device): string {
  const { manufacturer, model, deviceName } = deviceInfo;
  return (
    deviceName ??
    ([manufacturer, model].filter((text) => text !== null && text !== undefined).join(' ') || id)
  );
}

/** Finds revoked TVs of a screen that still call the service. `next` is the command to suggest. */
export async function checkFormerTvs(
  reader: Reader,
  { id: screenId }: Screen,
  nowMs: number,
  next: string,
): Promise<Finding[]> {
  const devices = await reader.all('listDevices', { query: { screenId, state: 'suspended' } });
  return devices.flatMap((device) => {
    const { lastRefusedAt, lastAddress } = device;
    if (lastRefusedAt === null || nowMs - Date.parse(lastRefusedAt) > recentMs) return [];
    const where = lastAddress === null ? '' : ` Its address was ${lastAddress}.`;
    const what = `The revoked TV ${tvName(device)} (${device.id}) still calls the service with its old key, last at ${ago(lastRefusedAt, nowMs)}.`;
    return [warn('former', `${what}${where} Switch it off, or pair it again.`, next)];
  });
}
