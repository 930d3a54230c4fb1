import { ManagementClient } from '../../src/client/management-client.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { SignageError } from '../../src/domain/error.ts';
import type { Acknowledged } from './kill-load.ts';

/** A service to be asked, and its platform token. */
interface Asked {
  url: string;
  token: string;
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'ok',
    (error: unknown) => (error instanceof SignageError ? error.code : String(error)),
  );
}

/** A batch whose answer was lost goes out again: whether it was stored before or not, it then counts once. */
export async function sendLostAgain({ url }: Pick<Asked, 'url'>, seen: Acknowledged): Promise<void> {
  for (const { deviceId, apiKey, key, batch } of seen.lost.splice(0)) {
    const tally = seen.events.get(deviceId);
    const tv = new RuntimeClient({ url, apiKey });
    const received = await tv.postEvents(deviceId, batch, { idempotencyKey: key });
    if (tally) tally.acknowledged += received;
  }
}

async function checkKeys({ url }: Asked, seen: Acknowledged, missing: string[]): Promise<void> {
  const authenticate = (id: string, apiKey: string) => codeOf(new RuntimeClient({ url, apiKey }).fetchConfig(id));
  for (const [id, key] of seen.keys) {
    const code = await authenticate(id, key);
    if (code !== 'ok') missing.push(`the key of device ${id} answers ${code}`);
  }
  for (const [id, key] of seen.revoked) {
    const code = await authenticate(id, key);
    if (code !== 'device_key_revoked') missing.push(`the revoked key of device ${id} answers ${code}`);
  }
}

/** Each acknowledged thing that is not there; empty when all is well. */
export async function checkAcknowledged(asked: Asked, seen: Acknowledged): Promise<string[]> {
  const missing: string[] = [];
  const management = new ManagementClient(asked);
  const screens = new Set<string>();
  for await (const screen of management.all('listScreens', { query: { limit: 200 } })) screens.add(screen.id);
  for (const id of seen.screens) if (!screens.has(id)) missing.push(`screen ${id}`);
  await checkKeys(asked, seen, missing);
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
