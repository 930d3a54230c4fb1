import { setTimeout as sleep } from 'node:timers/promises';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import { SignageError } from '../../../src/domain/error.ts';
import type { Acknowledged } from './model.ts';

/** A service and its platform token. */
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

/** Repeats batches whose answer was lost. Each must count once. */
export async function sendLostAgain(
  { url }: Pick<Asked, 'url'>,
  seen: Acknowledged,
): Promise<void> {
  for (const { deviceId, apiKey, key, batch } of seen.lost.splice(0)) {
    const tally = seen.events.get(deviceId);
    const tv = new RuntimeClient({ url, apiKey });
    const received = await tv.postEvents(deviceId, batch, { idempotencyKey: key });
    if (tally) tally.acknowledged += received;
  }
}

/** Number of dead keys that the service remembers for a device (docs/protocol.md §2.8). */
const remembered = 4;

/**
 * Returns the codes that a dead key may get after this many successors. A call without an answer
 * may have added one.
 */
function deadAfter(others: number): string[] {
  return others + 1 < remembered
    ? ['device_key_revoked']
    : ['device_key_revoked', 'device_key_invalid'];
}

async function checkKeys({ url }: Asked, seen: Acknowledged, missing: string[]): Promise<void> {
  const anyone = new RuntimeClient({ url });
  const authenticate = (id: string, apiKey: string) =>
    codeOf(anyone.withKey(apiKey).fetchConfig(id));
  for (const [id, key] of seen.keys) {
    const code = await authenticate(id, key);
    if (code !== 'ok') missing.push(`the key of device ${id} answers ${code}`);
  }
  for (const [id, key] of seen.revoked) {
    const code = await authenticate(id, key);
    if (code !== 'device_key_revoked')
      missing.push(`the revoked key of device ${id} answers ${code}`);
  }
  const later = new Map<string, number>();
  for (const [key, { deviceId }] of [...seen.rotated].reverse()) {
    const after = later.get(deviceId) ?? 0;
    later.set(deviceId, after + 1);
    const code = await authenticate(deviceId, key);
    if (!deadAfter(after).includes(code))
      missing.push(`a key of device ${deviceId} that was rotated away answers ${code}`);
  }
}

/** Expects the last acknowledged value, or the one requested after it. */
async function checkEdits(
  management: ManagementClient,
  seen: Acknowledged,
  missing: string[],
): Promise<void> {
  const undefinedIfMissing = (error: unknown) =>
    isMissing(error) ? undefined : Promise.reject(error);
  const read = async (name: string): Promise<string | undefined> => {
    const [kind, id = ''] = name.split(' ');
    if (kind === 'config')
      return String(
        (await management.call('getScreenConfig', { params: { id } })).syncIntervalMinutes,
      );
    const shown = await Promise.all(
      id.split(',').map(async (screenId) => {
        const reading = management.call('readPlaylist', { params: { id: screenId } });
        return (await reading.catch(undefinedIfMissing))?.items[0]?.creativeId;
      }),
    );
    const [first, ...others] = new Set(shown);
    return others.length === 0 ? first : `different on its screens (${[first, ...others]})`;
  };
  const isMissing = (error: unknown) =>
    error instanceof SignageError && /_not_found$/.test(error.code);
  for (const [name, { acknowledged, asked }] of seen.edits) {
    const found = await read(name).catch(undefinedIfMissing);
    if (found !== acknowledged && found !== asked)
      missing.push(`${name} is ${found}, not ${acknowledged} or ${asked}`);
    seen.edits.set(name, { acknowledged: found, asked });
  }
}

/**
 * Checks the acknowledged data of one life by single requests. The cost does not grow with the rest
 * of the data.
 */
export async function checkLife(asked: Asked, life: Acknowledged): Promise<string[]> {
  const missing: string[] = [];
  const management = new ManagementClient(asked);
  for (const id of life.screens) {
    const code = await codeOf(management.call('getScreen', { params: { id } }));
    if (code !== 'ok') missing.push(`screen ${id} answers ${code}`);
  }
  await checkKeys(asked, life, missing);
  await checkEdits(management, life, missing);
  for (const [deviceId, { acknowledged, sent }] of life.events) {
    let stored = 0;
    for await (const _ of management.all('listEvents', { query: { deviceId, limit: 200 } }))
      stored++;
    if (stored < acknowledged || stored > sent)
      missing.push(
        `device ${deviceId}: ${stored} events stored, ${acknowledged} acknowledged of ${sent} sent`,
      );
  }
  return missing;
}

/** Number of records of each screen. */
type Counts = Map<string | null, number>;

async function countAudit(management: ManagementClient): Promise<Counts> {
  const counts: Counts = new Map();
  const query = { action: 'playlist.publish', limit: 200 };
  for await (const { subject } of management.all('listAudit', { query }))
    counts.set(subject.id, (counts.get(subject.id) ?? 0) + 1);
  return counts;
}

async function countNotices(management: ManagementClient): Promise<Counts> {
  const counts: Counts = new Map();
  const query = { type: 'playlist.published', limit: 200 } as const;
  for await (const { screenId } of management.all('listNotices', { query }))
    counts.set(screenId, (counts.get(screenId) ?? 0) + 1);
  return counts;
}

/** The watcher of notices logs those of a kill within this time. */
const noticesLoggedMs = 60_000;

/** Expects one audit entry and one notice for each screen of each publication. */
async function checkPublications(
  management: ManagementClient,
  { publications }: Acknowledged,
): Promise<string[]> {
  if (publications.size === 0) return [];
  const wrongIn = (what: string, counts: Counts) =>
    [...publications].flatMap(([ids, { acknowledged, asked }]) => {
      const found = new Set(ids.split(',').map((id) => counts.get(id) ?? 0));
      const [count = 0, ...others] = found;
      return others.length === 0 && count >= acknowledged && count <= asked
        ? []
        : [`of ${acknowledged} to ${asked} publications, the screens have ${[...found]} ${what}`];
    });
  const audit = await countAudit(management);
  const until = performance.now() + noticesLoggedMs;
  let wrongNotices: string[];
  do {
    const notices = await countNotices(management);
    wrongNotices = wrongIn('notices', notices);
    const differs = [...audit].some(([id, count]) => notices.get(id) !== count);
    if (wrongNotices.length === 0 && differs)
      wrongNotices = ['the screens have different numbers of notices and audit entries'];
    if (wrongNotices.length > 0) await sleep(1000);
  } while (wrongNotices.length > 0 && performance.now() < until);
  return [...wrongIn('audit entries', audit), ...wrongNotices];
}

/**
 * Checks the acknowledged data of all lives, and that the report counts as many impressions as are
 * listed.
 */
export async function checkAcknowledged(asked: Asked, seen: Acknowledged): Promise<string[]> {
  const missing = await checkLife(asked, seen);
  const management = new ManagementClient(asked);
  let listed = 0;
  for await (const { event } of management.all('listEvents', { query: { limit: 200 } }))
    if (event.type === 'impression') listed++;
  missing.push(...(await checkPublications(management, seen)));
  const report = await management.call('reportImpressions', { query: { groupBy: 'day' } });
  const counted = report.items.reduce((sum, row) => sum + row.impressions, 0);
  if (counted !== listed)
    missing.push(`the report counts ${counted} impressions, the list holds ${listed}`);
  return missing;
}
