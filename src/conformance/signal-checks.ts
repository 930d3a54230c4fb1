import { heldDuring } from './checks/changes.ts';
import { type Answer, at, schemaViolations } from './fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile, skip } from './fixture/check.ts';
import type { Fixture } from './fixture/fixture.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

/** Asks TVs for something. Skips the check on a service without this optional part. */
async function ask(fixture: Fixture, what: 'identify' | 'reload', body: object): Promise<Answer> {
  const answer = await fixture.manage('POST', `/v1/${what}`, body);
  return answer.status === 404 || answer.status === 405
    ? skip('The service does not have this optional part.')
    : answer;
}

/** Checks of what makes TVs identify themselves and reload (docs/protocol.md §5.21). */
export const signalChecks: readonly ConformanceCheck[] = [
  ...checkGroup({ id: 'identify', subject: 'POST /v1/identify', section: '5.21' }, [
    profile('tv', 'a held answer tells the TV until when, and where it hangs').expects(
      '200, all members with the right types',
      async (fixture) => {
        const tv = await fixture.newTv();
        const answer = await heldDuring(fixture, tv, () =>
          ask(fixture, 'identify', { screenIds: [tv.screenId], seconds: 60 }),
        );
        const members = { integer: ['identifyUntil'], text: ['screen.name', 'screen.venue.name'] };
        return [answer, schemaViolations(answer.json, members)];
      },
    ),
    profile('off', 'of its venue for 0 seconds ends it').expects(
      'identified, another cursor, not identified',
      async (fixture) => {
        const venueId = await fixture.newVenue();
        const tv = await fixture.newTvIn(venueId);
        await ask(fixture, 'identify', { screenIds: [tv.screenId], seconds: 60 });
        const { json: during } = await tv.send('GET', 'changes');
        await ask(fixture, 'identify', { venueIds: [venueId], seconds: 0 });
        const { json: after } = await tv.send('GET', 'changes');
        const stateOf = (json: unknown) =>
          at(json, 'identifyUntil') === undefined ? 'not identified' : 'identified';
        const isMoved = at(during, 'cursor') !== at(after, 'cursor');
        return [stateOf(during), isMoved ? 'another cursor' : 'the same', stateOf(after)];
      },
    ),
    profile('400', '400 for more than 600 seconds').expects(
      '400 invalid_request at /seconds',
      async (fixture) => {
        const screenIds = [await fixture.screen()];
        return ask(fixture, 'identify', { screenIds, seconds: 601 });
      },
    ),
    profile('unknown', 'names the ids without a screen').expects(
      `200, ${unknownId}`,
      async (fixture) => {
        const answer = await ask(fixture, 'identify', { screenIds: [unknownId], seconds: 1 });
        return [answer, at(answer.json, 'notFound.0')];
      },
    ),
  ]),
  ...checkGroup({ id: 'reload', subject: 'POST /v1/reload', section: '5.21' }, [
    profile('tv', 'a held answer has the reloadId').expects('200, the same', async (fixture) => {
      const tv = await fixture.newTv();
      let reloadId: unknown;
      const answer = await heldDuring(fixture, tv, async () => {
        const asked = await ask(fixture, 'reload', { screenIds: [tv.screenId] });
        reloadId = at(asked.json, 'reloadId');
      });
      return [answer, at(answer.json, 'reloadId') === reloadId ? 'the same' : 'another'];
    }),
  ]),
];
