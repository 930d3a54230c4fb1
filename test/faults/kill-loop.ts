import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ManagementClient } from '../../src/client/management-client.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { SignageError } from '../../src/domain/error.ts';
import { type Acknowledged, load, nothingYet } from './kill-load.ts';
import { type KilledService, startService } from './killed-service.ts';

const token = `mak_${'KillLoop'.repeat(4)}`;

/** What a run has seen. */
export interface KillReport {
  kills: number;
  screens: number;
  bound: number;
  revoked: number;
  events: number;
  /** Each acknowledged thing that was not there again; empty when all is well. */
  missing: string[];
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'ok',
    (error: unknown) => (error instanceof SignageError ? error.code : String(error)),
  );
}

/** A batch whose answer was lost goes out again: whether it was stored before or not, it then counts once. */
async function sendLostAgain(service: KilledService, seen: Acknowledged): Promise<void> {
  for (const { deviceId, apiKey, key, batch } of seen.lost.splice(0)) {
    const tally = seen.events.get(deviceId);
    const tv = new RuntimeClient({ url: service.url, apiKey });
    const received = await tv.postEvents(deviceId, batch, { idempotencyKey: key });
    if (tally) tally.acknowledged += received;
  }
}

async function checkKeys(service: KilledService, seen: Acknowledged, missing: string[]): Promise<void> {
  const authenticate = (id: string, apiKey: string) => codeOf(new RuntimeClient({ url: service.url, apiKey }).fetchConfig(id));
  for (const [id, key] of seen.keys) {
    const code = await authenticate(id, key);
    if (code !== 'ok') missing.push(`the key of device ${id} answers ${code}`);
  }
  for (const [id, key] of seen.revoked) {
    const code = await authenticate(id, key);
    if (code !== 'device_key_revoked') missing.push(`the revoked key of device ${id} answers ${code}`);
  }
}

async function check(service: KilledService, seen: Acknowledged): Promise<string[]> {
  const missing: string[] = [];
  const management = new ManagementClient({ url: service.url, token });
  const screens = new Set<string>();
  for await (const screen of management.all('listScreens', { query: { limit: 200 } })) screens.add(screen.id);
  for (const id of seen.screens) if (!screens.has(id)) missing.push(`screen ${id}`);
  await checkKeys(service, seen, missing);
  const stored = new Map<string, number>();
  for await (const { deviceId } of management.all('listEvents', { query: { limit: 200 } }))
    stored.set(deviceId, (stored.get(deviceId) ?? 0) + 1);
  for (const [id, { acknowledged, sent }] of seen.events) {
    const found = stored.get(id) ?? 0;
    if (found < acknowledged || found > sent)
      missing.push(`device ${id}: ${found} events stored, ${acknowledged} acknowledged of ${sent} sent`);
  }
  const report = await management.call('reportImpressions', { query: { groupBy: 'day' } });
  const [counted, listed] = [report.items.reduce((sum, row) => sum + row.impressions, 0), [...stored.values()].reduce((a, b) => a + b, 0)];
  if (counted !== listed) missing.push(`the report counts ${counted} impressions, the list holds ${listed}`);
  return missing;
}

/**
 * Starts the service on a folder, puts load on it, kills it at a random moment, starts it again and compares what was acknowledged with what
 * is there; `kills` times, on the same folder.
 */
export async function killLoop(data: string, kills: number): Promise<KillReport> {
  const seen = nothingYet();
  let service = await startService(data, token);
  const venue = await new ManagementClient({ url: service.url, token }).call('createVenue', { body: { name: 'Kill test' } });
  const missing: string[] = [];
  for (let kill = 0; kill < kills && missing.length === 0; kill++) {
    const working = load(service.url, token, venue.id, seen);
    await sleep(randomInt(50, 500));
    await service.kill();
    await working;
    service = await startService(data, token);
    await sendLostAgain(service, seen);
    if (kill % 10 === 9 || kill === kills - 1) missing.push(...(await check(service, seen)));
  }
  const exitCode = await service.stop();
  if (exitCode !== 0) missing.push(`the last service ended with ${exitCode}`);
  const events = [...seen.events.values()].reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  return { kills, screens: seen.screens.size, bound: seen.keys.size, revoked: seen.revoked.size, events, missing };
}
