import { pause } from '../../client/pause.ts';
import { at, listAt, schemaViolations, textAt } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from '../fixture/check.ts';
import { heartbeat, impression, item } from '../fixture/content.ts';
import type { Fixture, Tv } from '../fixture/fixture.ts';

/** Sets up a TV that has reported two impressions of its own campaign, and two heartbeats. */
export function reported(
  fixture: Fixture,
): Promise<{ tv: Tv; campaignId: string; from: string; to: string }> {
  return fixture.once('reporting TV', async () => {
    const tv = await fixture.newTv();
    const campaignId = await fixture.newVenue();
    // Only the day of these events matters, because the report covers whole days.
    const day = Math.floor(fixture.clock.now() / 86_400_000) * 86_400;
    const first = [impression(day, { campaignId, duration: 10 }), heartbeat(day)];
    await tv.send('POST', 'events', { body: first });
    await tv.send('POST', 'events', {
      body: [impression(day + 1, { campaignId, duration: 5.5 }), heartbeat(day + 1)],
    });
    const iso = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
    return { tv, campaignId, from: iso(day), to: iso(day + 86_400) };
  });
}

const eventsOf = async (fixture: Fixture, query: string) =>
  fixture.requireOk('GET', `/v1/events?deviceId=${(await reported(fixture)).tv.deviceId}${query}`);
const types = (json: unknown) => listAt(json, 'items').map((one) => at(one, 'event.type'));
const events = checkGroup({ id: 'event-list', subject: 'GET /v1/events', section: '5.5' }, [
  profile('members', 'an item has id, deviceId, screenId, receivedAt and event').expects(
    'all members with the right types',
    async (fixture) =>
      schemaViolations(at(await eventsOf(fixture, '&limit=1'), 'items.0'), {
        text: ['id'],
        uuid: ['deviceId', 'screenId'],
        time: ['receivedAt'],
        object: ['event'],
      }),
  ),
  profile('type', 'filters by type').expects('heartbeat, heartbeat', async (fixture) =>
    types(await eventsOf(fixture, '&type=heartbeat')),
  ),
  profile('screen', 'filters by screen').expects('4', async (fixture) => {
    const { screenId } = (await reported(fixture)).tv;
    const listed = await fixture.requireOk('GET', `/v1/events?screenId=${screenId}`);
    return listAt(listed, 'items').length;
  }),
  profile('follow', 'order=asc with after lists later events, oldest first').expects(
    'impression, heartbeat',
    async (fixture) => {
      const all = listAt(await eventsOf(fixture, '&order=asc'), 'items');
      return types(
        await eventsOf(fixture, `&order=asc&after=${encodeURIComponent(textAt(all[1], 'id'))}`),
      );
    },
  ),
  profile('wait', 'waitSeconds holds an empty response until an event arrives').expects(
    'heartbeat',
    async (fixture) => {
      const { send } = (await reported(fixture)).tv;
      const last = listAt(await eventsOf(fixture, '&order=asc'), 'items').at(-1);
      const held = eventsOf(
        fixture,
        `&order=asc&after=${encodeURIComponent(textAt(last, 'id'))}&waitSeconds=10`,
      );
      await send('POST', 'events', { body: [heartbeat(fixture.uniqueTimestamp())] });
      return types(await held);
    },
  ),
]);

const devices = checkGroup({ id: 'device', subject: 'GET /v1/devices/:id', section: '5.3' }, [
  profile(
    'members',
    'id, screenId, state, deviceInfo, createdAt, last activity and online',
  ).expects('all members with the right types', async (fixture) =>
    schemaViolations(await fixture.device((await reported(fixture)).tv.deviceId), {
      uuid: ['id', 'screenId'],
      text: ['state'],
      object: ['deviceInfo'],
      time: ['createdAt'],
      'time?': ['lastSeenAt', 'lastPlaylistAt', 'lastConfigAt', 'lastEventAt', 'suspendedAt'],
      'text?': ['lastAddress', 'suspendReason'],
      'integer?': ['lastPlaylistVersion', 'lastPlaylistStatus'],
      boolean: ['online'],
    }),
  ),
  profile('online', 'online is true after a request, and lastEventAt is set').expects(
    'true, set',
    async (fixture) => {
      const json = await fixture.device((await reported(fixture)).tv.deviceId);
      return [at(json, 'online'), textAt(json, 'lastEventAt') === '' ? 'not set' : 'set'];
    },
  ),
  profile('playlist', 'lastPlaylistVersion and lastPlaylistStatus are set').expects(
    '1, 200',
    async (fixture) => {
      const tv = await fixture.newTv();
      await fixture.publish(tv.screenId, [item()]);
      await tv.send('GET', 'playlist');
      const json = await fixture.device(tv.deviceId);
      return [at(json, 'lastPlaylistVersion'), at(json, 'lastPlaylistStatus')];
    },
  ),
]);

const audit = checkGroup(
  { id: 'audit', subject: 'GET /v1/audit', section: '5.7', needs: 'tokens' },
  [
    profile('entries', 'a registration and a revocation each leave an entry, newest first').expects(
      'device.revoke, device.register',
      async (fixture) => {
        const { deviceId } = await fixture.newTv();
        await fixture.revoke(deviceId);
        const { json } = await fixture.manage('GET', `/v1/audit?subjectId=${deviceId}`);
        return listAt(json, 'items').map((one) => at(one, 'action'));
      },
    ),
    profile('denied', 'a 403 leaves an entry').expects(
      'access.denied, 403 insufficient_role',
      async (fixture) => {
        const viewer = fixture.token('viewer');
        const refused = await fixture.as(viewer, 'POST', '/v1/venues', { name: 'x' });
        const id = textAt((await fixture.as(viewer, 'GET', '/v1/me')).json, 'tokenId');
        // The entry may be written after the response.
        for (let attempt = 0; attempt < 50; attempt++) {
          const { json } = await fixture.manage(
            'GET',
            `/v1/audit?subjectId=${id}&action=access.denied`,
          );
          const [entry] = listAt(json, 'items');
          if (entry !== undefined) return [at(entry, 'action'), refused];
        }
        return ['no entry', refused];
      },
    ),
    profile('no-secret', 'no entry contains a code or a key').expects('none', async (fixture) => {
      const { deviceId, screenId, code, apiKey } = await fixture.tv();
      const answer = await fixture.manage('GET', `/v1/audit?limit=200&subjectId=${screenId}`);
      const more = await fixture.manage('GET', `/v1/audit?subjectId=${deviceId}`);
      if (answer.status !== 200) return answer;
      return [code, apiKey].some((secret) => `${answer.text}${more.text}`.includes(secret))
        ? 'a secret'
        : 'none';
    }),
  ],
);

/** Returns the first item of a list, which may appear within a few seconds. */
async function firstOf(
  fixture: Fixture,
  list: () => Promise<readonly unknown[]>,
): Promise<unknown> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const [found] = await list();
    if (found !== undefined) return found;
    await pause(fixture.clock, 200, fixture.signal);
  }
  return undefined;
}

const requests = checkGroup({ id: 'requests', subject: 'GET /v1/requests', section: '5.12' }, [
  profile('refused', 'a request with a revoked key is listed with its code').expects(
    '401 device_key_revoked, getPlaylist',
    async (fixture) => {
      const tv = await fixture.newTv();
      await fixture.revoke(tv.deviceId);
      await tv.send('GET', 'playlist');
      const path = `/v1/requests?refused=true&deviceId=${tv.deviceId}`;
      // Another instance may list the request a second later.
      const found = await firstOf(fixture, async () =>
        listAt(await fixture.requireOk('GET', path), 'items'),
      );
      return [`${at(found, 'status')} ${at(found, 'code')}`, at(found, 'operation')];
    },
  ),
]);

/**
 * Checks of events, devices, the audit trail and requests of TVs (docs/protocol.md §5.3, §5.5,
 * §5.7, §5.12).
 */
export const readingChecks: readonly ConformanceCheck[] = [
  ...events,
  ...devices,
  ...audit,
  ...requests,
];
