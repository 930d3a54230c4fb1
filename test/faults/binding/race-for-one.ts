import { Agent, request } from 'undici';
import { startService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/**
 * Registers TVs with one code at the same time, over 500 connections. Returns the statuses and the
 * number of devices.
 */
export async function raceForOne(
  racers: number,
): Promise<{ statuses: Record<number, number>; devices: number }> {
  const service = await startService({ store: await temporaryFolder() });
  const { code, screenId } = await service.code();
  const dispatcher = new Agent({ connections: 500, pipelining: 1 });
  const statuses: Record<number, number> = {};
  const register = async (place: number) => {
    const body = JSON.stringify({ pairingCode: code, deviceInfo: { model: `TV ${place}` } });
    const headers = { 'content-type': 'application/json' };
    const answer = await request(`${service.url}/devices/register`, {
      method: 'POST',
      headers,
      body,
      dispatcher,
    });
    await answer.body.dump();
    statuses[answer.statusCode] = (statuses[answer.statusCode] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: racers }, (_, place) => register(place)));
  await dispatcher.close();
  const { items } = (await service.manage('GET', `/v1/devices?screenId=${screenId}`)).body;
  return { statuses, devices: items.length };
}
