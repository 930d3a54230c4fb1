import { isDeepStrictEqual } from 'node:util';
import { type Answer, at, listAt, said, status } from '../answer.ts';
import { about, type Check, profile, required, skip } from '../check.ts';
import { item, items } from '../content.ts';
import type { Fixture, Tv } from '../fixture.ts';
import { schemaViolations } from '../schema-violations.ts';

/** What the TV that plays is answered. */
const fetched = (stage: Fixture): Promise<Answer> =>
  stage.once('playlist', async () => (await stage.tv()).send('GET', 'playlist'));

/** A TV whose playlist was published, as often as the bodies say; the last answer that each publication led to. */
async function published(
  stage: Fixture,
  bodies: readonly object[],
  tv?: Tv,
): Promise<{ tv: Tv; answers: Answer[] }> {
  const of = tv ?? (await stage.newTv());
  const answers: Answer[] = [];
  for (const body of bodies) {
    await stage.made('PUT', `/v1/screens/${of.screenId}/playlist`, body);
    answers.push(await of.send('GET', 'playlist'));
  }
  return { tv: of, answers };
}

/** `NaN` when it is no whole number. */
function version(answer: Answer | undefined): number {
  const value = at(answer?.json, 'version');
  return Number.isSafeInteger(value) ? Number(value) : Number.NaN;
}

const conditional = (tv: Tv, etag: string | undefined) =>
  tv.send('GET', 'playlist', { headers: { 'if-none-match': etag ?? 'none' } });
const daySeconds = 86_400;

const documented = about({ id: 'playlist', subject: 'GET /devices/:id/playlist', section: '2.3' }, [
  required('200', '200 with the active playlist', '200', async (stage) =>
    status(await fetched(stage)),
  ),
  required('404', '404 when there is none', '404', async (stage) =>
    status(await (await stage.plainTv()).send('GET', 'playlist')),
  ),
  required('500', '500 when it cannot be fetched', '500', async () =>
    skip('cannot be provoked from outside'),
  ),
  required(
    'members',
    'id, tenantId, screenId, status, version, validUntil and items',
    'all of them, each of its type',
    async (stage) =>
      schemaViolations((await fetched(stage)).json, {
        id: 'uuid',
        tenantId: 'uuid',
        screenId: 'uuid',
        status: 'text',
        version: 'integer',
        validUntil: 'integer',
        items: 'array',
      }),
  ),
  required(
    'item-members',
    'items have creativeId, creativeUrl, creativeType and duration',
    'all of them, each of its type',
    async (stage) =>
      schemaViolations((await fetched(stage)).json, {
        'items.0.creativeId': 'uuid',
        'items.0.creativeUrl': 'url',
        'items.0.creativeType': 'text',
        'items.0.duration': 'number',
      }),
  ),
  required('status', 'its status is active', 'active', async (stage) =>
    String(at((await fetched(stage)).json, 'status')),
  ),
  required('screen', 'its screenId and tenantId are those of the TV', 'the same', async (stage) => {
    const [{ json }, { screenId, tenantId }] = [await fetched(stage), await stage.tv()];
    return at(json, 'screenId') === screenId && at(json, 'tenantId') === tenantId
      ? 'the same'
      : 'others';
  }),
  required(
    'version-header',
    'X-Playlist-Version is there and equals version',
    'equal',
    async (stage) => {
      const answer = await fetched(stage);
      const header = answer.headers['x-playlist-version'];
      return header !== undefined && header === String(at(answer.json, 'version'))
        ? 'equal'
        : `${header ?? 'no header'}, ${at(answer.json, 'version')} in the body`;
    },
  ),
  required(
    'version-header-later',
    'X-Playlist-Version still equals version after another publication',
    'equal',
    async (stage) => {
      const { answers } = await published(stage, [{ items }, { items: [item()] }]);
      return answers.every(
        ({ headers, json }) => headers['x-playlist-version'] === String(at(json, 'version')),
      )
        ? 'equal'
        : 'not equal';
    },
  ),
  required(
    'source',
    'X-Source, if there is one, is not empty',
    'a word, or no header',
    async (stage) => {
      const source = (await fetched(stage)).headers['x-source'];
      return source === undefined || /^[\w-]+$/.test(source)
        ? 'a word, or no header'
        : JSON.stringify(source);
    },
  ),
  required(
    'order',
    'items come in the order in which they were published',
    items.map(({ creativeId }) => creativeId).join(', '),
    async (stage) => {
      const { answers } = await published(stage, [{ items }]);
      return listAt(answers[0]?.json, 'items')
        .map((one) => String(at(one, 'creativeId')))
        .join(', ');
    },
  ),
]);

const decided = about({ id: 'playlist', subject: 'GET /devices/:id/playlist', section: '2.3' }, [
  profile(
    '404.code',
    'playlist_not_found when there is none',
    '404 playlist_not_found',
    async (stage) => said(await (await stage.plainTv()).send('GET', 'playlist')),
  ),
  profile(
    'source-values',
    'X-Source is on-demand, store or object-store',
    'one of them',
    async (stage) => {
      const source = (await fetched(stage)).headers['x-source'] ?? 'no header';
      return ['on-demand', 'store', 'object-store'].includes(source) ? 'one of them' : source;
    },
  ),
  profile(
    'json',
    'it is application/json',
    'application/json',
    async (stage) => String((await fetched(stage)).headers['content-type']).split(';')[0] ?? '',
  ),
  profile(
    'cache-control',
    'Cache-Control is private, no-cache',
    'private, no-cache',
    async (stage) => String((await fetched(stage)).headers['cache-control']),
  ),
  profile('etag', 'it has a strong ETag', 'a strong ETag', async (stage) => {
    const { etag } = (await fetched(stage)).headers;
    return etag !== undefined && /^"[^"]+"$/.test(etag) ? 'a strong ETag' : String(etag);
  }),
  profile(
    '304',
    '304 to its ETag, without a body and with the same headers',
    '304',
    async (stage) => {
      const first = await fetched(stage);
      const answer = await conditional(await stage.tv(), first.headers.etag);
      const same = ['etag', 'x-playlist-version', 'x-source', 'cache-control'].filter(
        (name) => answer.headers[name] !== first.headers[name],
      );
      return answer.status === 304
        ? [...same.map((name) => `another ${name}`), ...(answer.text === '' ? [] : ['a body'])]
        : said(answer);
    },
  ),
  profile('304.over', '200 again once the content is another', '200', async (stage) => {
    const { tv, answers } = await published(stage, [{ items }]);
    await stage.made('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
    return status(await conditional(tv, answers[0]?.headers.etag));
  }),
  profile(
    'next-version',
    'other content makes the next version, under the same id',
    'one more, the same id',
    async (stage) => {
      const {
        answers: [first, second],
      } = await published(stage, [{ items }, { items: [item()] }]);
      const isNext = version(second) === version(first) + 1;
      const same = at(first?.json, 'id') === at(second?.json, 'id');
      return isNext && same
        ? 'one more, the same id'
        : `${version(first)}, ${version(second)}, ${same ? 'the same id' : 'another id'}`;
    },
  ),
  profile(
    'same-content',
    'the same content again changes neither version nor ETag',
    'no change',
    async (stage) => {
      const {
        answers: [first, second],
      } = await published(stage, [{ items }, { items }]);
      const same =
        version(first) === version(second) &&
        first?.headers.etag !== undefined &&
        first.headers.etag === second?.headers.etag;
      return same ? 'no change' : 'another version or ETag';
    },
  ),
  profile('valid-until', 'validUntil is what the publisher gave', 'the same', async (stage) => {
    const validUntil = Math.floor(stage.clock.now() / 1000) + 30 * daySeconds;
    const { answers } = await published(stage, [{ items, validUntil }]);
    const seen = at(answers[0]?.json, 'validUntil');
    return seen === validUntil ? 'the same' : String(seen);
  }),
  profile(
    'no-valid-until',
    'without one, validUntil is at least 180 days ahead',
    'at least 180 days ahead',
    async (stage) => {
      const validUntil = at((await fetched(stage)).json, 'validUntil');
      const days = Number.isSafeInteger(validUntil)
        ? (Number(validUntil) - stage.clock.now() / 1000) / daySeconds
        : Number.NaN;
      return days >= 179 && days <= 366
        ? 'at least 180 days ahead'
        : `${Math.round(days)} days ahead`;
    },
  ),
  profile(
    'further-members',
    'further members of items reach the TV as they were published',
    'as published',
    async (stage) => {
      const { answers } = await published(stage, [{ items }]);
      const same = isDeepStrictEqual(listAt(answers[0]?.json, 'items'), items);
      return same ? 'as published' : JSON.stringify(listAt(answers[0]?.json, 'items')[1]);
    },
  ),
  profile('withdrawn', '404 once it was withdrawn', '404 playlist_not_found', async (stage) => {
    const { tv } = await published(stage, [{ items }]);
    await stage.made('DELETE', `/v1/screens/${tv.screenId}/playlist`);
    return said(await tv.send('GET', 'playlist'));
  }),
  profile(
    'head',
    'HEAD is answered like GET, without the body',
    '200, no body, the same ETag',
    async (stage) => {
      const answer = await (await stage.tv()).send('HEAD', 'playlist');
      const same = answer.headers.etag === (await fetched(stage)).headers.etag;
      return `${said(answer)}, ${answer.text === '' ? 'no body' : 'a body'}, ${same ? 'the same ETag' : 'another ETag'}`;
    },
  ),
]);

/** What a TV plays (docs/protocol.md §2.3). */
export const playlistChecks: readonly Check[] = [...documented, ...decided];
