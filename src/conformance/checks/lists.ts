import { at, listAt, said, saidAt, textAt } from '../answer.ts';
import { about, type Check, profile } from '../check.ts';
import { unknownId } from '../content.ts';
import type { Fixture } from '../fixture.ts';

/** A venue with three screens: the second is active, the third has a label and another name. */
function threeScreens(stage: Fixture): Promise<{ venueId: string; ids: string[] }> {
  return stage.once('three screens', async () => {
    const venueId = await stage.newVenue();
    const ids = [
      await stage.screen(venueId),
      await stage.screen(venueId),
      await stage.screen(venueId),
    ];
    await stage.newTv(ids[1]);
    await stage.made('PATCH', `/v1/screens/${ids[2]}`, { name: 'Window', labels: { floor: '2' } });
    return { venueId, ids };
  });
}

/** Which of the three a list has, in its order: `1, 3`. */
async function listed(stage: Fixture, query: string): Promise<string> {
  const { venueId, ids } = await threeScreens(stage);
  const { json } = await stage.manage('GET', `/v1/screens?venueId=${venueId}${query}`);
  return listAt(json, 'items')
    .map((one) => ids.indexOf(textAt(one, 'id')) + 1)
    .join(', ');
}

const mostPages = 10;

/** All pages of the three, one screen on each; ends also where they do not. */
async function paged(stage: Fixture): Promise<string> {
  const { venueId, ids } = await threeScreens(stage);
  const seen: number[] = [];
  let cursor = '';
  for (let page = 0; page < mostPages; page++) {
    const { json } = await stage.manage(
      'GET',
      `/v1/screens?venueId=${venueId}&limit=1${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    const items = listAt(json, 'items');
    if (items.length > 1) return `${items.length} on one page`;
    seen.push(...items.map((one) => ids.indexOf(textAt(one, 'id')) + 1));
    cursor = textAt(json, 'nextCursor');
    if (at(json, 'nextCursor') === null) return seen.join(', ');
  }
  return 'no end';
}

/** Lists, by the example of screens (docs/protocol.md §1.6). */
export const listChecks: readonly Check[] = about(
  { id: 'list', subject: 'GET /v1/screens', section: '1.6' },
  [
    profile(
      'shape',
      'a list has its items in the order in which they were made',
      '1, 2, 3',
      async (stage) => listed(stage, ''),
    ),
    profile(
      'pages',
      'pages follow each other by nextCursor, each screen once, until it is null',
      '1, 2, 3',
      paged,
    ),
    profile('state', 'filters by state', '2', async (stage) => listed(stage, '&state=active')),
    profile('label', 'filters by label', '3', async (stage) => listed(stage, '&label=floor:2')),
    profile('name', 'filters by the whole name, without regard to case', '3', async (stage) =>
      listed(stage, '&name=window'),
    ),
    profile('search', 'filters by a part of the name', '3', async (stage) =>
      listed(stage, '&search=INDO'),
    ),
    profile('unknown', 'an id that there is not gives an empty list', '200, 0', async (stage) => {
      const answer = await stage.manage('GET', `/v1/screens?venueId=${unknownId}`);
      return `${said(answer)}, ${listAt(answer.json, 'items').length}`;
    }),
    profile(
      'limit',
      '400 for a limit of 0 or 201',
      '400 invalid_request at query.limit, 400 invalid_request at query.limit',
      async (stage) =>
        [
          await stage.manage('GET', '/v1/screens?limit=0'),
          await stage.manage('GET', '/v1/screens?limit=201'),
        ]
          .map(saidAt)
          .join(', '),
    ),
    profile(
      '400',
      '400 for a state that there is not, and for a parameter that is not known',
      '400 invalid_request at query.state, 400 invalid_request',
      async (stage) =>
        `${saidAt(await stage.manage('GET', '/v1/screens?state=broken'))}, ${said(await stage.manage('GET', '/v1/screens?colour=red'))}`,
    ),
  ],
);
