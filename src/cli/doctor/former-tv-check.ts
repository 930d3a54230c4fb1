import { dayMs } from '../../domain/clock.ts';
import type { Reader } from '../api/client.ts';
import type { Device, Screen } from '../records/find.ts';
import { ago } from './ago.ts';
import { type Finding, warn } from './finding.ts';

/** One that has not called for so long has been switched off, or taken away. */
const recentMs = 7 * dayMs;

/** What a TV is called by those who look at it. */
export function tvName({ id, deviceInfo }: Device): string {
  const { manufacturer, model, deviceName } = deviceInfo;
  return (
    deviceName ??
    ([manufacturer, model].filter((text) => text !== null && text !== undefined).join(' ') || id)
  );
}

/** The TVs that were revoked on a screen and do not seem to know it; `next` is what to type about it. */
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
    const where = lastAddress === null ? '' : ` It was at ${lastAddress}.`;
    const what = `The former TV ${tvName(device)} (${device.id}) still calls with its revoked key, last at ${ago(lastRefusedAt, nowMs)}.`;
    return [warn('former', `${what}${where} Switch it off, or pair it anew.`, next)];
  });
}
