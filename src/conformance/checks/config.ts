import { isDeepStrictEqual } from 'node:util';
import { type Answer, at, schemaViolations } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile, required, skip } from '../fixture/check.ts';
import type { Fixture, Tv } from '../fixture/fixture.ts';

/**
 * Returns the config of a TV for which no config is stored. Skips the check if the tenant has a
 * config.
 */
async function defaultConfig(fixture: Fixture): Promise<Answer> {
  const { tenantId } = await fixture.plainTv();
  const stored = await fixture.manage('GET', `/v1/tenants/${tenantId}/config`);
  if (stored.status === 200) skip('the tenant has a stored config, so no TV gets the default');
  return fixture.once('default config', async () =>
    (await fixture.plainTv()).send('GET', 'config'),
  );
}

const screenConfig = {
  syncIntervalMinutes: 7,
  cachePolicy: { maxSizeGB: 3 },
  ours: { list: [1], more: true },
};
const venueConfig = {
  syncIntervalMinutes: 9,
  heartbeatIntervalMinutes: 2,
  cachePolicy: { retentionDays: 30 },
  ours: { list: [2, 3], venue: 'kept' },
};

/**
 * Sets up a TV in its own venue, and stores a config for the venue and one for the screen. Returns
 * the response with the TV's config.
 */
function configured(fixture: Fixture): Promise<{ tv: Tv; venueId: string; answer: Answer }> {
  return fixture.once('configured TV', async () => {
    const venueId = await fixture.newVenue();
    const tv = await fixture.newTvIn(venueId);
    await fixture.requireOk('PUT', `/v1/venues/${venueId}/config`, venueConfig);
    await fixture.requireOk('PUT', `/v1/screens/${tv.screenId}/config`, screenConfig);
    return { tv, venueId, answer: await tv.send('GET', 'config') };
  });
}

const configMembers = {
  number: [
    'syncIntervalMinutes',
    'heartbeatIntervalMinutes',
    'cachePolicy.maxSizeGB',
    'cachePolicy.retentionDays',
  ],
  object: ['cachePolicy'],
} as const;
/** Returns the text of `expected` if a config is equal, in any order of members. */
const sameContent = (json: unknown, expected: object) =>
  JSON.stringify(isDeepStrictEqual(json, expected) ? expected : json);
const source = ({ headers }: Answer) => headers['x-config-source'] ?? 'no header';

const expectedDefault = {
  syncIntervalMinutes: 5,
  heartbeatIntervalMinutes: 1,
  cachePolicy: { maxSizeGB: 10, retentionDays: 7 },
};
const merged = {
  ...venueConfig,
  syncIntervalMinutes: 7,
  cachePolicy: { maxSizeGB: 3, retentionDays: 30 },
  ours: { list: [1], venue: 'kept', more: true },
};

const readingChecks = checkGroup(
  { id: 'config', subject: 'GET /devices/:id/config', section: '2.4' },
  [
    required('200.default', '200 when none is stored').expects('200', defaultConfig),
    required('200.custom', '200 when one is stored').expects(
      '200',
      async (fixture) => (await configured(fixture)).answer,
    ),
    required('source.default', 'X-Config-Source is default when none is stored').expects(
      'default',
      async (fixture) => source(await defaultConfig(fixture)),
    ),
    required('source.custom', 'X-Config-Source is not default when one is stored').expects(
      'not default',
      async (fixture) =>
        source((await configured(fixture)).answer) === 'default' ? 'default' : 'not default',
    ),
    required('members', 'the default has intervals and a cachePolicy').expects(
      'all members with the right types',
      async (fixture) => schemaViolations((await defaultConfig(fixture)).json, configMembers),
    ),
    required('custom', 'a stored value reaches the TV').expects('7', async (fixture) =>
      at((await configured(fixture)).answer.json, 'syncIntervalMinutes'),
    ),
    required('500', '500 when the config cannot be loaded').expects('500', async () =>
      skip('cannot be provoked from outside'),
    ),
    profile('default', 'the default is 5 and 1 minutes, 10 GB and 7 days').expects(
      JSON.stringify(expectedDefault),
      async (fixture) => sameContent((await defaultConfig(fixture)).json, expectedDefault),
    ),
    profile(
      'source.screen',
      'X-Config-Source is the most specific level that has one: screen',
    ).expects('screen', async (fixture) => source((await configured(fixture)).answer)),
    profile('source.venue', 'X-Config-Source is venue when only the venue has one').expects(
      'venue',
      async (fixture) => {
        const { venueId } = await configured(fixture);
        const tv = await fixture.newTvIn(venueId);
        return source(await tv.send('GET', 'config'));
      },
    ),
    profile('merge', 'levels are merged: objects merge, arrays and scalars replace').expects(
      JSON.stringify(merged),
      async (fixture) => sameContent((await configured(fixture)).answer.json, merged),
    ),
    profile('etag', 'the config has a strong ETag, and If-None-Match gives 304').expects(
      'a strong ETag, 304',
      async (fixture) => {
        const { tv, answer } = await configured(fixture);
        const { etag = 'none' } = answer.headers;
        const again = await tv.send('GET', 'config', { headers: { 'if-none-match': etag } });
        return [/^"[^"]+"$/.test(etag) ? 'a strong ETag' : etag, again];
      },
    ),
    profile('if-match', 'If-Match with another ETag gives 412').expects(
      '412 precondition_failed',
      async (fixture) => {
        const { tv } = await configured(fixture);
        return tv.send('GET', 'config', { headers: { 'if-match': '"another"' } });
      },
    ),
    profile('304.source', '304 also has X-Config-Source').expects('screen', async (fixture) => {
      const { tv, answer } = await configured(fixture);
      const headers = { 'if-none-match': answer.headers.etag ?? 'none' };
      return source(await tv.send('GET', 'config', { headers }));
    }),
    profile('cache-control', 'Cache-Control is private, no-cache').expects(
      'private, no-cache',
      async (fixture) => (await configured(fixture)).answer.headers['cache-control'],
    ),
    profile(
      'removed',
      'DELETE removes the config of the screen, and the one of the venue applies again',
    ).expects('venue, 9', async (fixture) => {
      const { venueId } = await configured(fixture);
      const tv = await fixture.newTvIn(venueId);
      await fixture.requireOk('PUT', `/v1/screens/${tv.screenId}/config`, screenConfig);
      await fixture.requireOk('DELETE', `/v1/screens/${tv.screenId}/config`);
      const answer = await tv.send('GET', 'config');
      return [source(answer), at(answer.json, 'syncIntervalMinutes')];
    }),
  ],
);

const settingChecks = checkGroup(
  { id: 'set-config', subject: 'PUT /v1/screens/:id/config', section: '5.4' },
  [
    profile('read', 'GET returns only what is stored at that level').expects(
      JSON.stringify(screenConfig),
      async (fixture) => {
        const { tv } = await configured(fixture);
        const json = await fixture.requireOk('GET', `/v1/screens/${tv.screenId}/config`);
        return sameContent(json, screenConfig);
      },
    ),
    profile(
      'none',
      'without a stored config, GET is 404 config_not_found and DELETE is 204',
    ).expects('404 config_not_found, 204', (fixture) => fixture.askNewScreen('config')),
    profile('interval', '400 for an interval outside 1 to 1440').expects(
      '400 invalid_request at /syncIntervalMinutes',
      (fixture) => fixture.setOfNewScreen('config', { syncIntervalMinutes: 0 }),
    ),
    profile('size', '400 for a cache size of 0').expects(
      '400 invalid_request at /cachePolicy/maxSizeGB',
      (fixture) => fixture.setOfNewScreen('config', { cachePolicy: { maxSizeGB: 0 } }),
    ),
    profile('413', '413 for more than 16 KiB').expects('413 body_too_large', (fixture) =>
      fixture.setOfNewScreen('config', { ours: 'x'.repeat(16_384) }),
    ),
  ],
);

/** Checks of device config (docs/protocol.md §2.4, §5.4). */
export const configChecks: readonly ConformanceCheck[] = [...readingChecks, ...settingChecks];
