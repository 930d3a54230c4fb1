import { type Answer, at, listAt, said, saidAt, textAt } from '../answer.ts';
import { about, type Check, profile } from '../check.ts';
import { heartbeat, impression, item } from '../content.ts';
import type { Fixture, Tv } from '../fixture.ts';
import { schemaViolations } from '../schema-violations.ts';

/** A TV that has reported two impressions of a campaign of its own, and two heartbeats. */
function reported(
  stage: Fixture,
): Promise<{ tv: Tv; campaignId: string; from: string; to: string }> {
  return stage.once('reporting TV', async () => {
    const [tv, campaignId] = [await stage.newTv(), await stage.newVenue()];
    // Of an event in this run only the day matters, and the report may be asked for that day alone.
    const day = Math.floor(stage.clock.now() / 86_400_000) * 86_400;
    const first = [impression(day, { campaignId, duration: 10 }), heartbeat(day)];
    await tv.send('POST', 'events', { body: first });
    await tv.send('POST', 'events', {
      body: [impression(day + 1, { campaignId, duration: 5.5 }), heartbeat(day + 1)],
    });
    const iso = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
    return { tv, campaignId, from: iso(day), to: iso(day + 86_400) };
  });
}

const eventsOf = async (stage: Fixture, query: string) =>
  stage.made('GET', `/v1/events?deviceId=${(await reported(stage)).tv.deviceId}${query}`);
const types = (json: unknown) =>
  listAt(json, 'items')
    .map((one) => String(at(one, 'event.type')))
    .join(', ');
const report = async (
  stage: Fixture,
  query: string,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  stage.manage('GET', `/v1/reports/impressions?${query}`, undefined, { headers });

const events = about({ id: 'event-list', subject: 'GET /v1/events', section: '5.5' }, [
  profile(
    'members',
    'an item has id, deviceId, screenId, receivedAt and event',
    'all of them, each of its type',
    async (stage) =>
      schemaViolations(at(await eventsOf(stage, '&limit=1'), 'items.0'), {
        id: 'text',
        deviceId: 'uuid',
        screenId: 'uuid',
        receivedAt: 'time',
        event: 'object',
      }),
  ),
  profile('type', 'filters by type', 'heartbeat, heartbeat', async (stage) =>
    types(await eventsOf(stage, '&type=heartbeat')),
  ),
  profile('screen', 'filters by screen', '4', async (stage) => {
    const { screenId } = (await reported(stage)).tv;
    return String(
      listAt(await stage.made('GET', `/v1/events?screenId=${screenId}`), 'items').length,
    );
  }),
  profile(
    'follow',
    'order=asc with after answers what came later, oldest first',
    'impression, heartbeat',
    async (stage) => {
      const all = listAt(await eventsOf(stage, '&order=asc'), 'items');
      return types(
        await eventsOf(stage, `&order=asc&after=${encodeURIComponent(textAt(all[1], 'id'))}`),
      );
    },
  ),
  profile(
    'wait',
    'waitSeconds holds an empty answer until there is something',
    'heartbeat',
    async (stage) => {
      const { send } = (await reported(stage)).tv;
      const last = listAt(await eventsOf(stage, '&order=asc'), 'items').at(-1);
      const held = eventsOf(
        stage,
        `&order=asc&after=${encodeURIComponent(textAt(last, 'id'))}&waitSeconds=10`,
      );
      await send('POST', 'events', { body: [heartbeat(stage.moment())] });
      return types(await held);
    },
  ),
]);

const reports = about({ id: 'report', subject: 'GET /v1/reports/impressions', section: '5.6' }, [
  profile(
    'campaign',
    'counts impressions and their seconds, by campaign',
    '2 impressions, 15.5 seconds',
    async (stage) => {
      const { campaignId, from, to } = await reported(stage);
      const { json } = await report(stage, `groupBy=campaign&from=${from}&to=${to}`);
      const row = listAt(json, 'items').find((one) => at(one, 'key') === campaignId);
      return `${at(row, 'impressions')} impressions, ${at(row, 'seconds')} seconds`;
    },
  ),
  profile('screen', 'counts by screen', '2', async (stage) => {
    const { tv } = await reported(stage);
    const { json } = await report(stage, 'groupBy=screen');
    return String(
      at(
        listAt(json, 'items').find((one) => at(one, 'key') === tv.screenId),
        'impressions',
      ),
    );
  }),
  profile(
    'csv',
    'is CSV with Accept: text/csv',
    'text/csv, key,impressions,seconds',
    async (stage) => {
      const { headers, text } = await report(stage, 'groupBy=campaign', { accept: 'text/csv' });
      return `${headers['content-type']?.split(';')[0]}, ${text.split(/\r?\n/)[0]}`;
    },
  ),
  profile(
    '400',
    '400 for a time that is no whole day',
    '400 invalid_request at query.from',
    async (stage) => saidAt(await report(stage, 'from=2026-11-20T12:00:00Z')),
  ),
]);

const devices = about({ id: 'device', subject: 'GET /v1/devices/:id', section: '5.3' }, [
  profile(
    'members',
    'id, screenId, state, deviceInfo, createdAt, the latest of its doings, online',
    'all of them, each of its type',
    async (stage) =>
      schemaViolations(
        await stage.made('GET', `/v1/devices/${(await reported(stage)).tv.deviceId}`),
        {
          ...{
            id: 'uuid',
            screenId: 'uuid',
            state: 'text',
            deviceInfo: 'object',
            createdAt: 'time',
            lastSeenAt: 'time?',
            lastAddress: 'text?',
          },
          ...{
            lastPlaylistAt: 'time?',
            lastPlaylistVersion: 'integer?',
            lastPlaylistStatus: 'integer?',
            lastConfigAt: 'time?',
            lastEventAt: 'time?',
          },
          ...{ online: 'boolean', suspendedAt: 'time?', suspendReason: 'text?' },
        },
      ),
  ),
  profile(
    'online',
    'it is online after it was seen, and its last batch is noted',
    'true, noted',
    async (stage) => {
      const json = await stage.made('GET', `/v1/devices/${(await reported(stage)).tv.deviceId}`);
      return `${at(json, 'online')}, ${typeof at(json, 'lastEventAt') === 'string' ? 'noted' : 'not noted'}`;
    },
  ),
  profile(
    'playlist',
    'the version and status of its last playlist are noted',
    '1, 200',
    async (stage) => {
      const tv = await stage.newTv();
      await stage.made('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
      await tv.send('GET', 'playlist');
      const json = await stage.made('GET', `/v1/devices/${tv.deviceId}`);
      return `${at(json, 'lastPlaylistVersion')}, ${at(json, 'lastPlaylistStatus')}`;
    },
  ),
]);

const audit = about({ id: 'audit', subject: 'GET /v1/audit', section: '5.7', needs: 'tokens' }, [
  profile(
    'entries',
    'a registration and a revoke leave an entry each, newest first',
    'device.revoke, device.register',
    async (stage) => {
      const { deviceId } = await stage.newTv();
      await stage.made('POST', `/v1/devices/${deviceId}/revoke`);
      const { json } = await stage.manage('GET', `/v1/audit?subjectId=${deviceId}`);
      return listAt(json, 'items')
        .map((one) => String(at(one, 'action')))
        .join(', ');
    },
  ),
  profile(
    'denied',
    'a token that was refused with 403 leaves an entry',
    'access.denied, 403 insufficient_role',
    async (stage) => {
      const viewer = stage.token('viewer');
      const refused = await stage.as(viewer, 'POST', '/v1/venues', { name: 'x' });
      const id = textAt((await stage.as(viewer, 'GET', '/v1/me')).json, 'tokenId');
      // The entry is written beside the answer.
      for (let looks = 0; looks < 50; looks++) {
        const { json } = await stage.manage(
          'GET',
          `/v1/audit?subjectId=${id}&action=access.denied`,
        );
        const [entry] = listAt(json, 'items');
        if (entry !== undefined) return `${at(entry, 'action')}, ${said(refused)}`;
      }
      return `no entry, ${said(refused)}`;
    },
  ),
  profile('no-secret', 'no entry shows a code or a key', 'none', async (stage) => {
    const { deviceId, screenId, code, apiKey } = await stage.tv();
    const { text, ...answer } = await stage.manage(
      'GET',
      `/v1/audit?limit=200&subjectId=${screenId}`,
    );
    const more = await stage.manage('GET', `/v1/audit?subjectId=${deviceId}`);
    if (answer.status !== 200) return said({ ...answer, text });
    return [code, apiKey].some((secret) => `${text}${more.text}`.includes(secret))
      ? 'a secret'
      : 'none';
  }),
]);

/** What the service tells of the TVs (docs/protocol.md §5.3, §5.5–§5.7). */
export const readingChecks: readonly Check[] = [...events, ...reports, ...devices, ...audit];
