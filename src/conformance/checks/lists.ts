import { mapInTurn } from '../../domain/concurrency.ts';
import { at, listAt, statusAndCode, textAt } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from '../fixture/check.ts';
import { unknownId } from '../fixture/content.ts';
import type { Fixture } from '../fixture/fixture.ts';

/**
 * Sets up a venue with three screens. The second screen is active, and the third has a label and a
 * different name.
 */
function threeScreens(fixture: Fixture): Promise<{ venueId: string; ids: string[] }> {
  return fixture.once('three screens', async () => {
    const venueId = await fixture.newVenue();
    const ids = await mapInTurn([1, 2, 3], () => fixture.screen(venueId));
    await fixture.newTv(ids[1]);
    const body = { name: 'Window', labels: { floor: '2' } };
    await fixture.requireOk('PATCH', `/v1/screens/${ids[2]}`, body);
    return { venueId, ids };
  });
}

/**
 * Returns the `run` of a check that lists screens. `run` returns the numbers of the screens, 1 to
 * 3, in the order of the list.
 */
const listed =
  (query: string) =>
  async (fixture: Fixture): Promise<number[]> => {
    const { venueId, ids } = await threeScreens(fixture);
    const { json } = await fixture.manage('GET', `/v1/screens?venueId=${venueId}${query}`);
    return listAt(json, 'items').map((one) => ids.indexOf(textAt(one, 'id')) + 1);
  };

const maxPages = 10;

/**
 * Returns the numbers of the screens on all pages, one screen per page. Returns a text if a page
 * has several screens, or if `maxPages` pages do not suffice.
 */
async function paged(fixture: Fixture): Promise<string | number[]> {
  const { venueId, ids } = await threeScreens(fixture);
  const seen: number[] = [];
  for await (const page of fixture.pages(`/v1/screens?venueId=${venueId}&limit=1`, maxPages)) {
    const items = listAt(page, 'items');
    if (items.length > 1) return `${items.length} on one page`;
    for (const one of items.map((one) => ids.indexOf(textAt(one, 'id')) + 1)) seen.push(one);
    if (at(page, 'nextCursor') === null) return seen;
  }
  return 'no end';
}

/** Checks of lists, using screens as the example (docs/protocol.md §1.6). */
export const listChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'list', subject: 'GET /v1/screens', section: '1.6' },
  [
    profile('shape', 'items are listed in order of creation').expects('1, 2, 3', listed('')),
    profile('pages', 'nextCursor leads through all pages, with each screen once').expects(
      '1, 2, 3',
      paged,
    ),
    profile('state', 'filters by state').expects('2', listed('&state=active')),
    profile('label', 'filters by label').expects('3', listed('&label=floor:2')),
    profile('selector', 'filters by a selector').expects('3, 1, 2', async (fixture) => [
      ...(await listed('&selector=floor+in+(1,2),!wing')(fixture)),
      ...(await listed('&selector=floor!%3D2')(fixture)),
    ]),
    profile('selector.400', '400 for a malformed selector, with the column').expects(
      '400 invalid_request at query.selector, column 10',
      async (fixture) => {
        const answer = await fixture.manage('GET', '/v1/screens?selector=floor+in+1');
        return [answer, textAt(answer.json, 'errors.0.message').split(':')[0]];
      },
    ),
    profile('name', 'filters by the whole name, case-insensitively').expects(
      '3',
      listed('&name=window'),
    ),
    profile('search', 'filters by a part of the name').expects('3', listed('&search=INDO')),
    profile('unknown', 'an unknown id gives an empty list').expects('200, 0', async (fixture) => {
      const answer = await fixture.manage('GET', `/v1/screens?venueId=${unknownId}`);
      return [answer, listAt(answer.json, 'items').length];
    }),
    profile('limit', '400 for a limit of 0 or 201').expects(
      '400 invalid_request at query.limit, 400 invalid_request at query.limit',
      async (fixture) => [
        await fixture.manage('GET', '/v1/screens?limit=0'),
        await fixture.manage('GET', '/v1/screens?limit=201'),
      ],
    ),
    profile('400', '400 for an unknown state or parameter').expects(
      '400 invalid_request at query.state, 400 invalid_request',
      async (fixture) => [
        await fixture.manage('GET', '/v1/screens?state=broken'),
        statusAndCode(await fixture.manage('GET', '/v1/screens?colour=red')),
      ],
    ),
  ],
);
