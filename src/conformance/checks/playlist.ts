import { isDeepStrictEqual } from 'node:util';
import { type Answer, at, listAt, schemaViolations } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile, required, skip } from '../fixture/check.ts';
import { item, items } from '../fixture/content.ts';
import type { Fixture, Tv } from '../fixture/fixture.ts';

/** Returns the playlist response of the shared TV. */
const getPlaylist = (fixture: Fixture): Promise<Answer> =>
  fixture.once('playlist', async () => (await fixture.tv()).send('GET', 'playlist'));

/** Publishes each body for a TV. Returns the playlist that the TV gets after each publication. */
async function publish(
  fixture: Fixture,
  bodies: readonly object[],
  tv?: Tv,
): Promise<{ tv: Tv; answers: Answer[] }> {
  const target = tv ?? (await fixture.newTv());
  const answers: Answer[] = [];
  for (const body of bodies) {
    await fixture.requireOk('PUT', `/v1/screens/${target.screenId}/playlist`, body);
    answers.push(await target.send('GET', 'playlist'));
  }
  return { tv: target, answers };
}

/** Returns the version, or `NaN` if it is not an integer. */
function version(answer: Answer | undefined): number {
  const value = at(answer?.json, 'version');
  return Number.isSafeInteger(value) ? Number(value) : Number.NaN;
}

const conditional = (tv: Tv, etag: string | undefined) =>
  tv.send('GET', 'playlist', { headers: { 'if-none-match': etag ?? 'none' } });
const daySeconds = 86_400;

/** Checks of playlists (docs/protocol.md §2.3). */
export const playlistChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'playlist', subject: 'GET /devices/:id/playlist', section: '2.3' },
  [
    required('200', '200 with the active playlist').expects('200', getPlaylist),
    required('404', '404 when there is none').expects('404', async (fixture) =>
      (await fixture.plainTv()).send('GET', 'playlist'),
    ),
    required('500', '500 when the playlist cannot be loaded').expects('500', async () =>
      skip('cannot be provoked from outside'),
    ),
    required('members', 'id, tenantId, screenId, status, version, validUntil and items').expects(
      'all members with the right types',
      async (fixture) =>
        schemaViolations((await getPlaylist(fixture)).json, {
          uuid: ['id', 'tenantId', 'screenId'],
          text: ['status'],
          integer: ['version', 'validUntil'],
          array: ['items'],
        }),
    ),
    required(
      'item-members',
      'items have creativeId, creativeUrl, creativeType and duration',
    ).expects('all members with the right types', async (fixture) =>
      schemaViolations((await getPlaylist(fixture)).json, {
        uuid: ['items.0.creativeId'],
        url: ['items.0.creativeUrl'],
        text: ['items.0.creativeType'],
        number: ['items.0.duration'],
      }),
    ),
    required('status', 'status is active').expects('active', async (fixture) =>
      at((await getPlaylist(fixture)).json, 'status'),
    ),
    required('screen', 'screenId and tenantId are those of the TV').expects(
      'the same',
      async (fixture) => {
        const { json } = await getPlaylist(fixture);
        const { screenId, tenantId } = await fixture.tv();
        return at(json, 'screenId') === screenId && at(json, 'tenantId') === tenantId
          ? 'the same'
          : 'others';
      },
    ),
    required('version-header', 'X-Playlist-Version equals version').expects(
      'equal',
      async (fixture) => {
        const answer = await getPlaylist(fixture);
        const header = answer.headers['x-playlist-version'];
        return header !== undefined && header === String(at(answer.json, 'version'))
          ? 'equal'
          : `${header ?? 'no header'}, ${at(answer.json, 'version')} in the body`;
      },
    ),
    required(
      'version-header-later',
      'X-Playlist-Version still equals version after another publication',
    ).expects('equal', async (fixture) => {
      const { answers } = await publish(fixture, [{ items }, { items: [item()] }]);
      return answers.every(
        ({ headers, json }) => headers['x-playlist-version'] === String(at(json, 'version')),
      )
        ? 'equal'
        : 'not equal';
    }),
    required('source', 'X-Source, if present, is not empty').expects(
      'a word, or no header',
      async (fixture) => {
        const source = (await getPlaylist(fixture)).headers['x-source'];
        return source === undefined || /^[\w-]+$/.test(source)
          ? 'a word, or no header'
          : JSON.stringify(source);
      },
    ),
    required('order', 'items keep the published order').expects(
      items.map(({ creativeId }) => creativeId).join(', '),
      async (fixture) => {
        const { answers } = await publish(fixture, [{ items }]);
        return listAt(answers[0]?.json, 'items').map((one) => at(one, 'creativeId'));
      },
    ),
    profile('404.code', 'playlist_not_found when there is none').expects(
      '404 playlist_not_found',
      async (fixture) => (await fixture.plainTv()).send('GET', 'playlist'),
    ),
    profile('404.screen', 'without a playlist, the answer names screen and venue').expects(
      'names of both',
      async (fixture) => {
        const { json } = await (await fixture.plainTv()).send('GET', 'playlist');
        const names = [at(json, 'screen.name'), at(json, 'screen.venue.name')];
        return names.every((name) => typeof name === 'string') ? 'names of both' : names;
      },
    ),
    profile('source-values', 'X-Source is on-demand, store or object-store').expects(
      'one of them',
      async (fixture) => {
        const source = (await getPlaylist(fixture)).headers['x-source'] ?? 'no header';
        return ['on-demand', 'store', 'object-store'].includes(source) ? 'one of them' : source;
      },
    ),
    profile('json', 'Content-Type is application/json').expects(
      'application/json',
      async (fixture) => (await getPlaylist(fixture)).headers['content-type']?.split(';')[0],
    ),
    profile('cache-control', 'Cache-Control is private, no-cache').expects(
      'private, no-cache',
      async (fixture) => (await getPlaylist(fixture)).headers['cache-control'],
    ),
    profile('etag', 'the playlist has a strong ETag').expects('a strong ETag', async (fixture) => {
      const { etag } = (await getPlaylist(fixture)).headers;
      return etag !== undefined && /^"[^"]+"$/.test(etag) ? 'a strong ETag' : etag;
    }),
    profile('304', 'If-None-Match gives 304, without a body and with the same headers').expects(
      '304',
      async (fixture) => {
        const first = await getPlaylist(fixture);
        const answer = await conditional(await fixture.tv(), first.headers.etag);
        const different = ['etag', 'x-playlist-version', 'x-source', 'cache-control'].filter(
          (name) => answer.headers[name] !== first.headers[name],
        );
        const violations = different.map((name) => `another ${name}`);
        if (answer.text !== '') violations.push('a body');
        return [answer, ...violations];
      },
    ),
    profile('if-match', 'If-Match with another ETag gives 412').expects(
      '412 precondition_failed',
      async (fixture) =>
        (await fixture.tv()).send('GET', 'playlist', { headers: { 'if-match': '"another"' } }),
    ),
    profile('304.over', '200 again after the content has changed').expects(
      '200',
      async (fixture) => {
        const { tv, answers } = await publish(fixture, [{ items }]);
        await fixture.publish(tv.screenId, [item()]);
        return (await conditional(tv, answers[0]?.headers.etag)).status;
      },
    ),
    profile('next-version', 'new content makes the next version, with the same id').expects(
      'one more, the same id',
      async (fixture) => {
        const {
          answers: [first, second],
        } = await publish(fixture, [{ items }, { items: [item()] }]);
        const isNext = version(second) === version(first) + 1;
        const same = at(first?.json, 'id') === at(second?.json, 'id');
        return [
          isNext ? 'one more' : `${version(first)} and ${version(second)}`,
          same ? 'the same id' : 'another id',
        ];
      },
    ),
    profile('same-content', 'publishing the same content changes neither version nor ETag').expects(
      'no change',
      async (fixture) => {
        const {
          answers: [first, second],
        } = await publish(fixture, [{ items }, { items }]);
        const same =
          version(first) === version(second) &&
          first?.headers.etag !== undefined &&
          first.headers.etag === second?.headers.etag;
        return same ? 'no change' : 'another version or ETag';
      },
    ),
    profile('valid-until', 'validUntil is the published one').expects(
      'the same',
      async (fixture) => {
        const validUntil = fixture.nowSeconds() + 30 * daySeconds;
        const { answers } = await publish(fixture, [{ items, validUntil }]);
        const seen = at(answers[0]?.json, 'validUntil');
        return seen === validUntil ? 'the same' : seen;
      },
    ),
    profile('no-valid-until', 'the default validUntil is at least 180 days ahead').expects(
      'at least 180 days ahead',
      async (fixture) => {
        const validUntil = at((await getPlaylist(fixture)).json, 'validUntil');
        const days = Number.isSafeInteger(validUntil)
          ? (Number(validUntil) - fixture.clock.now() / 1000) / daySeconds
          : Number.NaN;
        return days >= 179 && days <= 366
          ? 'at least 180 days ahead'
          : `${Math.round(days)} days ahead`;
      },
    ),
    profile('further-members', 'custom members of items reach the TV unchanged').expects(
      'as published',
      async (fixture) => {
        const { answers } = await publish(fixture, [{ items }]);
        const same = isDeepStrictEqual(listAt(answers[0]?.json, 'items'), items);
        return same ? 'as published' : JSON.stringify(listAt(answers[0]?.json, 'items')[1]);
      },
    ),
    profile('withdrawn', '404 after the playlist was withdrawn').expects(
      '404 playlist_not_found',
      async (fixture) => {
        const { tv } = await publish(fixture, [{ items }]);
        await fixture.requireOk('DELETE', `/v1/screens/${tv.screenId}/playlist`);
        return tv.send('GET', 'playlist');
      },
    ),
    profile('head', 'HEAD is answered like GET, without the body').expects(
      '200, no body, the same ETag',
      async (fixture) => {
        const answer = await (await fixture.tv()).send('HEAD', 'playlist');
        const same = answer.headers.etag === (await getPlaylist(fixture)).headers.etag;
        return [
          answer,
          answer.text === '' ? 'no body' : 'a body',
          same ? 'the same ETag' : 'another ETag',
        ];
      },
    ),
  ],
);
