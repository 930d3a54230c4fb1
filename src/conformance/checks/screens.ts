import {
  type Answer,
  at,
  conflictAndId,
  locationSeen,
  schemaViolations,
  textAt,
} from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from '../fixture/check.ts';
import { items, unknownId } from '../fixture/content.ts';
import type { Fixture, Tv } from '../fixture/fixture.ts';

function createdScreen(fixture: Fixture): Promise<{ name: string; answer: Answer }> {
  return fixture.once('made screen', async () => {
    const name = `Screen ${fixture.nextNumber()}`;
    const body = { venueId: await fixture.venue(), name, labels: { floor: '2' } };
    return { name, answer: await fixture.manage('POST', '/v1/screens', body) };
  });
}

/** Checks of screens (docs/protocol.md §5.3). */
export const screenChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'screen', subject: 'POST /v1/screens', section: '5.3' },
  [
    profile('201', '201 with its Location').expects('201, its Location', async (fixture) => {
      const { answer } = await createdScreen(fixture);
      return [answer, locationSeen(answer, `/v1/screens/${textAt(answer.json, 'id')}`)];
    }),
    profile(
      'members',
      'id, tenantId, venueId, name, labels, state, deviceId, provisioningCode and times',
    ).expects('all members with the right types', async (fixture) =>
      schemaViolations((await createdScreen(fixture)).answer.json, {
        uuid: ['id', 'tenantId', 'venueId'],
        text: ['name', 'state'],
        object: ['labels'],
        'uuid?': ['deviceId'],
        'object?': ['provisioningCode'],
        time: ['createdAt', 'updatedAt'],
      }),
    ),
    profile('404', '404 for an unknown venue').expects('404 venue_not_found', (fixture) =>
      fixture.manage('POST', '/v1/screens', { venueId: unknownId, name: 'x' }),
    ),
    profile('409', '409 for a name taken in the venue, with the id of the other screen').expects(
      '409 name_taken, its id',
      async (fixture) => {
        const { name, answer } = await createdScreen(fixture);
        return conflictAndId(
          await fixture.manage('POST', '/v1/screens', { venueId: await fixture.venue(), name }),
          at(answer.json, 'id'),
        );
      },
    ),
    profile('name', 'the same name is allowed in another venue').expects('201', async (fixture) => {
      const { name } = await createdScreen(fixture);
      return fixture.manage('POST', '/v1/screens', { venueId: await fixture.newVenue(), name });
    }),
    profile('exceptions', 'keeps exceptions of its hours, and null removes them').expects(
      '201, kept, 200, removed',
      async (fixture) => {
        const venueId = await fixture.newVenue();
        await fixture.manage('PATCH', `/v1/venues/${venueId}`, { timezone: 'Europe/Berlin' });
        const hoursExceptions = [{ dates: { from: '2026-12-24', until: '2026-12-26' } }];
        const body = { venueId, name: `Screen ${fixture.nextNumber()}`, hoursExceptions };
        const made = await fixture.manage('POST', '/v1/screens', body);
        const path = `/v1/screens/${textAt(made.json, 'id')}`;
        const kept = at((await fixture.manage('GET', path)).json, 'hoursExceptions');
        const patched = await fixture.manage('PATCH', path, { hoursExceptions: null });
        return [
          made,
          JSON.stringify(kept) === JSON.stringify(hoursExceptions) ? 'kept' : 'others',
          patched,
          at(patched.json, 'hoursExceptions') === null ? 'removed' : 'there',
        ];
      },
    ),
    profile('code', 'the screen has the status of its newest code, but not the code').expects(
      'pending, no code',
      async (fixture) => {
        const { code, screenId } = await fixture.code();
        const answer = await fixture.manage('GET', `/v1/screens/${screenId}`);
        const shown = answer.text.includes(code) ? 'the code' : 'no code';
        return [at(answer.json, 'provisioningCode.status'), shown];
      },
    ),
    profile('venue', 'the venue cannot be changed').expects('400', async (fixture) => {
      const body = { venueId: await fixture.newVenue() };
      return (await fixture.manage('PATCH', `/v1/screens/${await fixture.screen()}`, body)).status;
    }),
    profile('delete.409', 'DELETE is 409 for an active screen').expects(
      '409 screen_active',
      async (fixture) =>
        fixture.manage('DELETE', `/v1/screens/${(await fixture.newTv()).screenId}`),
    ),
    profile('delete.force', 'DELETE with force=true is 204, and removes the screen').expects(
      '204, 404 screen_not_found',
      async (fixture) => {
        const path = `/v1/screens/${(await fixture.newTv()).screenId}`;
        return [
          await fixture.manage('DELETE', `${path}?force=true`),
          await fixture.manage('GET', path),
        ];
      },
    ),
    profile('delete.code', 'DELETE cancels the codes of the screen').expects(
      '410 pairing_code_cancelled',
      async (fixture) => {
        const { code, screenId } = await fixture.code();
        await fixture.requireOk('DELETE', `/v1/screens/${screenId}`);
        return fixture.register(code);
      },
    ),
  ],
);

/** Sets up a venue with a screen without a TV, and a screen with a TV and a playlist. */
function twoScreens(fixture: Fixture): Promise<{ venueId: string; tv: Tv }> {
  return fixture.once('two screens', async () => {
    const venueId = await fixture.newVenue();
    await fixture.screen(venueId);
    const tv = await fixture.newTvIn(venueId);
    await fixture.publish(tv.screenId, items);
    return { venueId, tv };
  });
}

/** Checks of the status of screens (docs/protocol.md §5.3). */
export const statusChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'status', subject: 'GET /v1/status', section: '5.3' },
  [
    profile(
      'device',
      'a screen without a TV has a null device, and a screen with a TV its online device',
    ).expects('null, the device, true', async (fixture) => {
      const { venueId, tv } = await twoScreens(fixture);
      const { json } = await fixture.manage('GET', `/v1/status?venueId=${venueId}`);
      const isDevice = at(json, 'items.1.device.id') === tv.deviceId;
      return [
        at(json, 'items.0.device'),
        isDevice ? 'the device' : 'another device',
        at(json, 'items.1.device.online'),
      ];
    }),
    profile('playlist', 'has the newest version of the playlist, without items').expects(
      'null, 1, active, no items',
      async (fixture) => {
        const { venueId } = await twoScreens(fixture);
        const { json } = await fixture.manage('GET', `/v1/status?venueId=${venueId}`);
        return [
          at(json, 'items.0.playlist'),
          at(json, 'items.1.playlist.version'),
          at(json, 'items.1.playlist.status'),
          at(json, 'items.1.playlist.items') === undefined ? 'no items' : 'items',
        ];
      },
    ),
    profile('restored', 'each page counts the webhooks that a restore has paused').expects(
      '200, a count',
      async (fixture) => {
        const answer = await fixture.manage('GET', '/v1/status?limit=1');
        const count = at(answer.json, 'restoredWebhooks');
        return [answer, Number.isSafeInteger(count) ? 'a count' : 'no count'];
      },
    ),
    profile('400', '400 for a malformed selector').expects(
      '400 invalid_request at query.selector',
      (fixture) => fixture.manage('GET', '/v1/status?selector=a,'),
    ),
  ],
);

/** Checks of the condition of screens (docs/protocol.md §5.15). */
export const conditionChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'condition', subject: 'GET /v1/status', section: '5.15' },
  [
    profile('layer', 'names the layer that is due, and its state by shown').expects(
      'takeover given, takeover shown, playing',
      async (fixture) => {
        const tv = await fixture.newTv();
        const until = fixture.nowSeconds() + 3600;
        const path = `/v1/screens/${tv.screenId}/takeover`;
        await fixture.requireOk('PUT', path, { items, until });
        const { json } = await tv.send('GET', 'playlist');
        const version = at(json, 'version');
        const status = async () =>
          (await fixture.manage('GET', `/v1/status?screenId=${tv.screenId}`)).json;
        const layer = (seen: unknown) =>
          ['name', 'state'].map((name) => at(seen, `items.0.layer.${name}`)).join(' ');
        const given = layer(await status());
        const timestamp = fixture.nowSeconds();
        const event = { type: 'shown', timestamp, version, layer: 'takeover', entryId: 'takeover' };
        await tv.send('POST', 'events', { body: [event] });
        const seen = await status();
        return [given, layer(seen), at(seen, 'items.0.condition')];
      },
    ),
    profile('failing', 'an item that fails is named, and its screen is never playing').expects(
      'unconfirmed, http_404, partly_failing',
      async (fixture) => {
        const venueId = await fixture.newVenue();
        const tv = await fixture.newTvIn(venueId);
        await fixture.publish(tv.screenId, items);
        await tv.send('GET', 'playlist');
        const [first] = items;
        const creativeId = first?.creativeId ?? '';
        const timestamp = Math.floor(Date.now() / 1000);
        await tv.send('POST', 'events', {
          body: [{ type: 'playback_error', timestamp, creativeId, reason: 'http_404' }],
        });
        const failing = await fixture.manage('GET', `/v1/status?screenId=${tv.screenId}`);
        const other = { type: 'play', timestamp, creativeId: unknownId };
        await tv.send('POST', 'events', { body: [other] });
        const partly = await fixture.manage('GET', `/v1/status?screenId=${tv.screenId}`);
        return [
          at(failing.json, 'items.0.condition'),
          at(partly.json, 'items.0.errors.0.reason'),
          at(partly.json, 'items.0.condition'),
        ];
      },
    ),
  ],
);
