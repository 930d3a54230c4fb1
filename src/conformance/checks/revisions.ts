import { type Answer, textAt } from '../answer.ts';
import { type Check, checkGroup, profile } from '../check.ts';
import { items } from '../content.ts';
import type { Fixture } from '../fixture.ts';

const etagOf = ({ headers }: Answer) => headers.etag ?? 'no ETag';

/** Creates a venue and returns its path and its ETag. */
async function newVenue(fixture: Fixture): Promise<{ path: string; etag: string }> {
  const name = `${fixture.name} ${fixture.nextNumber()}`;
  const answer = await fixture.manage('POST', '/v1/venues', { name });
  return { path: `/v1/venues/${textAt(answer.json, 'id')}`, etag: etagOf(answer) };
}

const label = (fixture: Fixture, path: string, ifMatch: string) =>
  fixture.manage(
    'PATCH',
    path,
    { labels: { revision: `${fixture.nextNumber()}` } },
    { headers: { 'if-match': ifMatch } },
  );

/** Checks of revisions (docs/protocol.md §5.10). */
export const revisionChecks: readonly Check[] = checkGroup(
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
  ],
);
