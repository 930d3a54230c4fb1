import { mapInTurn } from '../../domain/concurrency.ts';
import {
  allMembers,
  at,
  listAt,
  schemaViolations,
  statusAndPaths,
  textAt,
} from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from '../fixture/check.ts';
import { item, items } from '../fixture/content.ts';

/** Checks of publishing (docs/protocol.md §5.4). */
export const publishingChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'publish', subject: 'PUT /v1/screens/:id/playlist', section: '5.4' },
  [
    profile('members', '200 with the playlist; validUntil is null if not given').expects(
      'all of them, and null',
      async (fixture) => {
        const json = await fixture.publish(await fixture.screen(), items);
        const seen = schemaViolations(json, {
          uuid: ['id', 'screenId'],
          text: ['status'],
          integer: ['version'],
          array: ['items'],
        });
        return [
          seen === allMembers ? 'all of them' : seen,
          at(json, 'validUntil') === null ? 'and null' : 'validUntil is not null',
        ];
      },
    ),
    profile('provisioning', 'works for a screen without a TV, and GET reads it back').expects(
      '200, 200',
      async (fixture) => {
        const path = `/v1/screens/${await fixture.screen()}/playlist`;
        return [await fixture.manage('PUT', path, { items }), await fixture.manage('GET', path)];
      },
    ),
    profile(
      '400',
      '400 for no items, an unknown creativeType, a duration of 0 and an invalid URL',
    ).expects(
      '400 /items, 400 /items/0/creativeType, 400 /items/0/duration, 400 /items/0/creativeUrl',
      async (fixture) => {
        const path = `/v1/screens/${await fixture.screen()}/playlist`;
        const wrong = [
          { items: [] },
          { items: [item({ creativeType: 'film' })] },
          { items: [item({ duration: 0 })] },
          { items: [item({ creativeUrl: 'ftp://x/y' })] },
        ];
        return mapInTurn(wrong, async (body) => {
          const { status, json } = await fixture.manage('PUT', path, body);
          const paths = listAt(json, 'errors').map((error) => at(error, 'path'));
          return `${status} ${paths.join(' ')}`;
        });
      },
    ),
    profile('url', 'a media URL is stored in the form of the WHATWG URL parser').expects(
      'https://media.example.com/a%20b',
      async (fixture) => {
        const oddUrl = item({ creativeUrl: 'HTTPS:Media.example.com\\a b' });
        const json = await fixture.publish(await fixture.screen(), [oddUrl]);
        return textAt(json, 'items.0.creativeUrl');
      },
    ),
    profile(
      '400.url',
      '400 for a media URL with credentials, a control character or a leading blank',
    ).expects('400 invalid_request at /items/0/creativeUrl, three times', async (fixture) => {
      const urls = [
        'https://tom:secret@media.example.com/',
        'https://media.example.com/a\tb',
        ' https://media.example.com/',
      ];
      const answers = await mapInTurn(urls, async (creativeUrl) => {
        const body = { items: [item({ creativeUrl })] };
        return statusAndPaths(await fixture.setOfNewScreen('playlist', body));
      });
      const [first = ''] = answers;
      return answers.every((answer) => answer === first)
        ? `${first}, three times`
        : answers.join(', ');
    }),
    profile(
      'campaign',
      'an item with a campaign gets a campaignId, the same for another spelling of the name',
    ).expects('the same UUID', async (fixture) => {
      const path = `/v1/screens/${await fixture.screen()}/playlist`;
      const ids: unknown[] = [];
      for (const campaign of ['Summer Sale', 'summer\u00a0SALE']) {
        const json = await fixture.requireOk('PUT', path, { items: [item({ campaign })] });
        const seen = schemaViolations(listAt(json, 'items')[0], { uuid: ['campaignId'] });
        if (seen !== allMembers) return seen;
        ids.push(at(listAt(json, 'items')[0], 'campaignId'));
      }
      return ids[0] === ids[1] ? 'the same UUID' : ids.map(String);
    }),
    profile('400.campaign', '400 for a campaignId that is no UUID').expects(
      '400 invalid_request at /items/0/campaignId',
      (fixture) => fixture.setOfNewScreen('playlist', { items: [item({ campaignId: 'summer' })] }),
    ),
    profile('past', '400 for a validUntil in the past').expects('400 invalid_request', (fixture) =>
      fixture.setOfNewScreen('playlist', { items, validUntil: fixture.nowSeconds() - 60 }),
    ),
    profile('history', 'GET …/playlists lists the versions, newest first').expects(
      '2, 1',
      async (fixture) => {
        const screenId = await fixture.screen();
        for (const version of [items, [item()]]) await fixture.publish(screenId, version);
        const listed = await fixture.requireOk('GET', `/v1/screens/${screenId}/playlists`);
        return listAt(listed, 'items').map((one) => at(one, 'version'));
      },
    ),
    profile(
      'large',
      'GET …/playlists returns at most about 1 MiB per page: one version of 700 KB each',
    ).expects('2; 1; no more', async (fixture) => {
      const path = `/v1/screens/${await fixture.screen()}/playlist`;
      for (const n of [1, 2])
        await fixture.requireOk('PUT', path, { items: [item({ n, text: 'x'.repeat(700_000) })] });
      const first = await fixture.requireOk('GET', `${path}s?limit=200`);
      const cursor = encodeURIComponent(textAt(first, 'nextCursor'));
      const second = await fixture.requireOk('GET', `${path}s?limit=200&cursor=${cursor}`);
      const shown = [first, second].map((page) =>
        listAt(page, 'items')
          .map((one) => String(at(one, 'version')))
          .join(', '),
      );
      return [...shown, at(second, 'nextCursor') === null ? 'no more' : 'more'].join('; ');
    }),
    profile(
      'refresh',
      'POST …/playlist/refresh is 200 with version and changed, or 501 without a source',
    ).expects('as described', async (fixture) => {
      const path = `/v1/screens/${await fixture.screen()}/playlist`;
      await fixture.requireOk('PUT', path, { items });
      const answer = await fixture.manage('POST', `${path}/refresh`);
      const isWithoutSource = at(answer.json, 'code') === 'not_supported';
      if (answer.status === 501 && isWithoutSource) return 'as described';
      if (answer.status !== 200) return answer;
      const seen = schemaViolations(answer.json, { integer: ['version'], boolean: ['changed'] });
      return seen === allMembers ? 'as described' : seen;
    }),
    profile('none', 'without a playlist, GET is 404 playlist_not_found and DELETE is 204').expects(
      '404 playlist_not_found, 204',
      (fixture) => fixture.askNewScreen('playlist'),
    ),
  ],
);

/** Returns what was done on each screen: `2 changed`, or a code. */
const outcomesIn = (json: unknown) =>
  listAt(json, 'results').map((one) => {
    const code = textAt(one, 'code');
    return code === ''
      ? `${at(one, 'version')} ${at(one, 'changed') ? 'changed' : 'unchanged'}`
      : code;
  });

const many = '/v1/publications';

/** Checks of changes of many screens (docs/protocol.md §5.4). */
export const bulkChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'publish.many', subject: 'POST /v1/publications', section: '5.4' },
  [
    profile('actions', 'publishes, rolls back and withdraws on several screens').expects(
      '1 changed, 1 changed; 2 changed, 2 changed; 3 changed, 3 changed; null changed, null changed',
      async (fixture) => {
        const screenIds = [await fixture.screen(), await fixture.screen()];
        const bodies = [
          { screenIds, action: 'publish', items },
          { screenIds, action: 'publish', items: [item()] },
          { screenIds, action: 'rollback' },
          { screenIds, action: 'withdraw' },
        ];
        const seen = await mapInTurn(bodies, async (body) =>
          outcomesIn(await fixture.requireOk('POST', many, body)).join(', '),
        );
        return seen.join('; ');
      },
    ),
    profile('codes', 'reports unknown screens and other versions, and changes the rest').expects(
      'screen_not_found, precondition_failed, 1 changed',
      async (fixture) => {
        const [other, one] = [await fixture.screen(), await fixture.screen()];
        const screenIds = ['00000000-0000-4000-8000-000000000000', other, one];
        const body = { screenIds, action: 'publish', items, ifVersions: { [other]: 7 } };
        return outcomesIn(await fixture.requireOk('POST', many, body));
      },
    ),
    profile('selector', 'selects the screens of a venue with a label').expects(
      '1 changed',
      async (fixture) => {
        const screenId = await fixture.screen();
        const { json } = await fixture.manage('GET', `/v1/screens/${screenId}`);
        await fixture.requireOk('PATCH', `/v1/screens/${screenId}`, { labels: { many: 'one' } });
        const body = { venueId: textAt(json, 'venueId'), selector: 'many=one', action: 'publish' };
        return outcomesIn(await fixture.requireOk('POST', many, { ...body, items }));
      },
    ),
    profile('repeat', 'the same Idempotency-Key rolls back once').expects(
      '3 changed, 3 changed',
      async (fixture) => {
        const screenIds = [await fixture.screen()];
        for (const one of [items, [item()]])
          await fixture.requireOk('POST', many, { screenIds, action: 'publish', items: one });
        const headers = { 'idempotency-key': fixture.idempotencyKey() };
        const rollback = () =>
          fixture.manage('POST', many, { screenIds, action: 'rollback' }, { headers });
        return [await rollback(), await rollback()].flatMap(({ json }) => outcomesIn(json));
      },
    ),
    profile('400', '400 for an id twice').expects(
      '400 invalid_request at /screenIds/1',
      async (fixture) => {
        const id = await fixture.screen();
        return fixture.manage('POST', many, { screenIds: [id, id], action: 'withdraw' });
      },
    ),
  ],
);
