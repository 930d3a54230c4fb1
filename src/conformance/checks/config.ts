import { isDeepStrictEqual } from 'node:util';
import { type Answer, at, said, saidAll, saidAt, status } from '../answer.ts';
import { about, type Check, profile, required, skip } from '../check.ts';
import type { Fixture, Tv } from '../fixture.ts';
import { schemaViolations } from '../schema-violations.ts';

/** The config of a TV for which none is stored, as far as the run can help it. */
async function fallback(stage: Fixture): Promise<Answer> {
  const { tenantId } = await stage.plainTv();
  const stored = await stage.manage('GET', `/v1/tenants/${tenantId}/config`);
  if (stored.status === 200)
    skip('the tenant has a stored config, so no TV here is given the default');
  return stage.once('default config', async () => (await stage.plainTv()).send('GET', 'config'));
}

const ofScreen = {
  syncIntervalMinutes: 7,
  cachePolicy: { maxSizeGB: 3 },
  ours: { list: [1], more: true },
};
const ofVenue = {
  syncIntervalMinutes: 9,
  heartbeatIntervalMinutes: 2,
  cachePolicy: { retentionDays: 30 },
  ours: { list: [2, 3], venue: 'kept' },
};

/** A TV in a venue of its own, where venue and screen have a config each; and what it is answered. */
function configured(stage: Fixture): Promise<{ tv: Tv; venueId: string; answer: Answer }> {
  return stage.once('configured TV', async () => {
    const venueId = await stage.newVenue();
    const tv = await stage.newTv(await stage.screen(venueId));
    await stage.made('PUT', `/v1/venues/${venueId}/config`, ofVenue);
    await stage.made('PUT', `/v1/screens/${tv.screenId}/config`, ofScreen);
    return { tv, venueId, answer: await tv.send('GET', 'config') };
  });
}

const known = {
  syncIntervalMinutes: 'number',
  heartbeatIntervalMinutes: 'number',
  cachePolicy: 'object',
  'cachePolicy.maxSizeGB': 'number',
  'cachePolicy.retentionDays': 'number',
} as const;
const source = ({ headers }: Answer) => headers['x-config-source'] ?? 'no header';

const documented = about({ id: 'config', subject: 'GET /devices/:id/config', section: '2.4' }, [
  required('200.default', '200 when none is stored', '200', async (stage) =>
    status(await fallback(stage)),
  ),
  required('200.custom', '200 when one is stored', '200', async (stage) =>
    status((await configured(stage)).answer),
  ),
  required(
    'source.default',
    'X-Config-Source is default when none is stored',
    'default',
    async (stage) => source(await fallback(stage)),
  ),
  required(
    'source.custom',
    'X-Config-Source is not default when one is stored',
    'not default',
    async (stage) =>
      source((await configured(stage)).answer) === 'default' ? 'default' : 'not default',
  ),
  required(
    'members',
    'the default has intervals and a cachePolicy',
    'all of them, each of its type',
    async (stage) => schemaViolations((await fallback(stage)).json, known),
  ),
  required('custom', 'a stored value reaches the TV', '7', async (stage) =>
    String(at((await configured(stage)).answer.json, 'syncIntervalMinutes')),
  ),
  required('500', '500 when it cannot be fetched', '500', async () =>
    skip('cannot be provoked from outside'),
  ),
]);

const expectedDefault = {
  syncIntervalMinutes: 5,
  heartbeatIntervalMinutes: 1,
  cachePolicy: { maxSizeGB: 10, retentionDays: 7 },
};
const merged = {
  ...ofVenue,
  syncIntervalMinutes: 7,
  cachePolicy: { maxSizeGB: 3, retentionDays: 30 },
  ours: { list: [1], venue: 'kept', more: true },
};

const decided = about({ id: 'config', subject: 'GET /devices/:id/config', section: '2.4' }, [
  profile(
    'default',
    'the default is 5 and 1 minutes, 10 GB and 7 days',
    JSON.stringify(expectedDefault),
    async (stage) => {
      const { json } = await fallback(stage);
      return JSON.stringify(isDeepStrictEqual(json, expectedDefault) ? expectedDefault : json);
    },
  ),
  profile(
    'source.screen',
    'X-Config-Source is the most specific level that has one: screen',
    'screen',
    async (stage) => source((await configured(stage)).answer),
  ),
  profile(
    'source.venue',
    'X-Config-Source is venue when only the venue has one',
    'venue',
    async (stage) => {
      const { venueId } = await configured(stage);
      return source(await (await stage.newTv(await stage.screen(venueId))).send('GET', 'config'));
    },
  ),
  profile(
    'merge',
    'levels are laid over each other: objects merge, arrays and scalars replace',
    JSON.stringify(merged),
    async (stage) => {
      const { json } = (await configured(stage)).answer;
      return JSON.stringify(isDeepStrictEqual(json, merged) ? merged : json);
    },
  ),
  profile('etag', 'it has a strong ETag, and 304 to it', 'a strong ETag, 304', async (stage) => {
    const { tv, answer } = await configured(stage);
    const { etag = 'none' } = answer.headers;
    const again = await tv.send('GET', 'config', { headers: { 'if-none-match': etag } });
    return `${/^"[^"]+"$/.test(etag) ? 'a strong ETag' : etag}, ${said(again)}`;
  }),
  profile('304.source', '304 carries X-Config-Source too', 'screen', async (stage) => {
    const { tv, answer } = await configured(stage);
    return source(
      await tv.send('GET', 'config', {
        headers: { 'if-none-match': answer.headers.etag ?? 'none' },
      }),
    );
  }),
  profile(
    'cache-control',
    'Cache-Control is private, no-cache',
    'private, no-cache',
    async (stage) => String((await configured(stage)).answer.headers['cache-control']),
  ),
  profile(
    'removed',
    'what is stored for the screen goes with DELETE; the venue’s shows again',
    'venue, 9',
    async (stage) => {
      const { venueId } = await configured(stage);
      const tv = await stage.newTv(await stage.screen(venueId));
      await stage.made('PUT', `/v1/screens/${tv.screenId}/config`, ofScreen);
      await stage.made('DELETE', `/v1/screens/${tv.screenId}/config`);
      const answer = await tv.send('GET', 'config');
      return `${source(answer)}, ${at(answer.json, 'syncIntervalMinutes')}`;
    },
  ),
]);

const setting = about({ id: 'set-config', subject: 'PUT /v1/screens/:id/config', section: '5.4' }, [
  profile(
    'read',
    'GET answers what is stored at that level, and only that',
    JSON.stringify(ofScreen),
    async (stage) => {
      const { tv } = await configured(stage);
      const json = await stage.made('GET', `/v1/screens/${tv.screenId}/config`);
      return JSON.stringify(isDeepStrictEqual(json, ofScreen) ? ofScreen : json);
    },
  ),
  profile(
    'none',
    '404 config_not_found when none is stored; DELETE is 204 also then',
    '404 config_not_found, 204',
    async (stage) => {
      const path = `/v1/screens/${await stage.screen()}/config`;
      return saidAll([await stage.manage('GET', path), await stage.manage('DELETE', path)]);
    },
  ),
  profile(
    'interval',
    '400 for an interval outside of 1 to 1440',
    '400 invalid_request at /syncIntervalMinutes',
    async (stage) =>
      saidAt(
        await stage.manage('PUT', `/v1/screens/${await stage.screen()}/config`, {
          syncIntervalMinutes: 0,
        }),
      ),
  ),
  profile(
    'size',
    '400 for a cache of no size',
    '400 invalid_request at /cachePolicy/maxSizeGB',
    async (stage) =>
      saidAt(
        await stage.manage('PUT', `/v1/screens/${await stage.screen()}/config`, {
          cachePolicy: { maxSizeGB: 0 },
        }),
      ),
  ),
  profile('413', '413 for more than 16 KiB', '413 body_too_large', async (stage) =>
    said(
      await stage.manage('PUT', `/v1/screens/${await stage.screen()}/config`, {
        ours: 'x'.repeat(16_384),
      }),
    ),
  ),
]);

/** How a TV behaves (docs/protocol.md §2.4, §5.4). */
export const configChecks: readonly Check[] = [...documented, ...decided, ...setting];
