import { type Answer, at, textAt } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from '../fixture/check.ts';
import { items } from '../fixture/content.ts';
import type { Fixture } from '../fixture/fixture.ts';

const etagOf = ({ headers }: Answer) => headers.etag ?? 'no ETag';

/** Creates a venue and returns its path and its ETag. */
async function newVenue(fixture: Fixture): Promise<{ path: string; etag: string }> {
  const name = fixture.newName();
  const answer = await fixture.manage('POST', '/v1/venues', { name });
  return { path: `/v1/venues/${textAt(answer.json, 'id')}`, etag: etagOf(answer) };
}

const label = (fixture: Fixture, path: string, ifMatch: string) => {
  const body = { labels: { revision: `${fixture.nextNumber()}` } };
  return fixture.manage('PATCH', path, body, { headers: { 'if-match': ifMatch } });
};

/** Checks of revisions (docs/protocol.md §5.10). */
export const revisionChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'revision', subject: 'A record', section: '5.10' },
  [
    profile('etag', 'reads and changes have the same strong ETag').expects(
      'one ETag, strong',
      async (fixture) => {
        const { path, etag } = await newVenue(fixture);
        const read = etagOf(await fixture.manage('GET', path));
        return [
          read === etag ? 'one ETag' : `${etag} and ${read}`,
          /^"/.test(etag) ? 'strong' : 'weak',
        ];
      },
    ),
    profile('if-match', 'If-Match with the current ETag changes it, with a former one 412').expects(
      '200, 412 precondition_failed',
      async (fixture) => {
        const { path, etag } = await newVenue(fixture);
        return [await label(fixture, path, etag), await label(fixture, path, etag)];
      },
    ),
    profile(
      'if-match.coding',
      'If-Match with the ETag and the suffix of a coding changes it',
    ).expects('200', async (fixture) => {
      const { path, etag } = await newVenue(fixture);
      return label(fixture, path, etag.replace(/"$/, '-gzip"'));
    }),
    profile('if-match.delete', 'If-Match with another ETag deletes nothing').expects(
      '412 precondition_failed, 200',
      async (fixture) => {
        const { path } = await newVenue(fixture);
        const headers = { 'if-match': '"another"' };
        return [
          await fixture.manage('DELETE', path, undefined, { headers }),
          await fixture.manage('GET', path),
        ];
      },
    ),
    profile('create-only', 'If-None-Match: * publishes only the first playlist').expects(
      '200, 412 precondition_failed',
      async (fixture) => {
        const path = `/v1/screens/${await fixture.screen()}/playlist`;
        const publish = () =>
          fixture.manage('PUT', path, { items }, { headers: { 'if-none-match': '*' } });
        return [await publish(), await publish()];
      },
    ),
    profile('takeover', 'If-None-Match: * sets a takeover only where there is none').expects(
      '200, 412 precondition_failed',
      async (fixture) => {
        const path = `/v1/screens/${await fixture.screen()}/takeover`;
        const body = { items, until: '2100-01-01T00:00:00Z' };
        const take = () => fixture.manage('PUT', path, body, { headers: { 'if-none-match': '*' } });
        return [await take(), await take()];
      },
    ),
  ],
);

const codes = '/v1/devices/provisioning-codes';

/** Sends a creation with an `Idempotency-Key`. */
function create(fixture: Fixture, path: string, key: string, body: unknown) {
  return fixture.manage('POST', path, body, { headers: { 'idempotency-key': key } });
}

/** Sends the same creation twice. Calls `between` with the first body before the second request. */
async function createTwice(
  fixture: Fixture,
  path: string,
  body: unknown,
  between: (json: unknown) => Promise<unknown> = async () => {},
) {
  const key = fixture.idempotencyKey();
  const first = await create(fixture, path, key, body);
  await between(first.json);
  return { first, second: await create(fixture, path, key, body) };
}

/** Checks of `Idempotency-Key` on creations (docs/protocol.md §5.11). */
export const creationChecks: readonly ConformanceCheck[] = [
  ...checkGroup(
    { id: 'creation', subject: 'A creation with an Idempotency-Key', section: '5.11' },
    [
      profile('same', 'the same key and body get the same venue again').expects(
        '201, 201, the same venue',
        async (fixture) => {
          const body = { name: fixture.newName(), labels: fixture.labels() };
          const { first, second } = await createTwice(fixture, '/v1/venues', body);
          return [first, second, first.text === second.text ? 'the same venue' : 'another venue'];
        },
      ),
      profile('code', 'the same key and body get the same pairing code again').expects(
        '201, 201, the same code',
        async (fixture) => {
          const body = { screenId: await fixture.screen() };
          const { first, second } = await createTwice(fixture, codes, body);
          const isSame = textAt(first.json, 'code') === textAt(second.json, 'code');
          return [first, second, isSame ? 'the same code' : 'another code'];
        },
      ),
      profile('code.used', 'a pairing code that was used is not given again').expects(
        '409 not_repeatable',
        async (fixture) => {
          const body = { screenId: await fixture.screen() };
          const register = (json: unknown) => fixture.register(textAt(json, 'code'));
          return (await createTwice(fixture, codes, body, register)).second;
        },
      ),
      profile('deleted', 'a record that was deleted is not created again').expects(
        '409 not_repeatable',
        async (fixture) => {
          const body = { name: fixture.newName(), labels: fixture.labels() };
          const remove = (json: unknown) =>
            fixture.manage('DELETE', `/v1/venues/${textAt(json, 'id')}`);
          return (await createTwice(fixture, '/v1/venues', body, remove)).second;
        },
      ),
      profile('reused', 'the same key with another body is 400').expects(
        '201, 400 idempotency_key_reused',
        async (fixture) => {
          const key = fixture.idempotencyKey();
          const labels = fixture.labels();
          return [
            await create(fixture, '/v1/venues', key, { name: fixture.newName(), labels }),
            await create(fixture, '/v1/venues', key, { name: fixture.newName(), labels }),
          ];
        },
      ),
      profile('short', 'an Idempotency-Key of 15 characters is 400').expects(
        '400 invalid_request at header.idempotency-key',
        (fixture) => create(fixture, '/v1/venues', 'x'.repeat(15), { name: fixture.newName() }),
      ),
    ],
  ),
  ...checkGroup(
    {
      id: 'creation.token',
      subject: 'A token created with an Idempotency-Key',
      section: '5.11',
      needs: 'tokens',
    },
    [
      profile('same', 'the same key and body get the same secret, until it is used').expects(
        'the same secret, 409 not_repeatable, its id',
        async (fixture) => {
          const key = fixture.idempotencyKey();
          const body = { name: fixture.newName(), role: 'viewer' };
          const { json } = await create(fixture, '/v1/tokens', key, body);
          const again = await create(fixture, '/v1/tokens', key, body);
          const token = textAt(json, 'token');
          await fixture.send('GET', '/v1/me', { key: token });
          const late = await create(fixture, '/v1/tokens', key, body);
          return [
            token !== '' && textAt(again.json, 'token') === token
              ? 'the same secret'
              : 'another secret',
            late,
            at(late.json, 'existingId') === textAt(json, 'id') ? 'its id' : 'no id',
          ];
        },
      ),
    ],
  ),
];
