import { pause } from '../../client/pause.ts';
import { secondMs } from '../../domain/clock.ts';
import { type Answer, at, schemaViolations, statusAndPaths } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from '../fixture/check.ts';
import { item } from '../fixture/content.ts';
import type { Fixture, Tv } from '../fixture/fixture.ts';

/** Longer than the notification of a change takes, and shorter than the time-out of a request. */
const holdSeconds = 20;
const longestHoldSeconds = 600;

/** Runs `change` while the service holds a request of the TV. Returns the answer of the request. */
export async function heldDuring(
  fixture: Fixture,
  tv: Tv,
  change: () => Promise<unknown>,
  waitSeconds = holdSeconds,
) {
  const cursor = at((await tv.send('GET', 'changes')).json, 'cursor');
  const held = tv.send('GET', `changes?after=${cursor}&waitSeconds=${waitSeconds}`);
  // If the request arrives after the change, the service answers at once instead of holding it.
  await pause(fixture.clock, secondMs / 4, fixture.signal);
  await change();
  return held;
}

const publish = (fixture: Fixture, { screenId }: Tv) => fixture.publish(screenId, [item()]);

/** Compares the `etag` of a member of one answer with the `ETag` header of another answer. */
const sameEtag = ({ json }: Answer, member: string, { headers }: Answer) =>
  at(json, `${member}.etag`) === headers.etag ? 'the same ETag' : 'another ETag';

/** Checks of requests for changes (docs/protocol.md §2.9). */
export const changesChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'changes', subject: 'GET /devices/:id/changes', section: '2.9' },
  [
    profile('members', 'without after, the answer comes at once').expects(
      '200, all members with the right types',
      async (fixture) => {
        const tv = await fixture.newTv();
        await publish(fixture, tv);
        const answer = await tv.send('GET', `changes?waitSeconds=${holdSeconds}`);
        return [
          answer,
          schemaViolations(answer.json, {
            text: ['cursor', 'playlist.etag', 'config.etag'],
            integer: ['playlist.version'],
          }),
        ];
      },
    ),
    profile('none', 'the playlist is null when there is none').expects('null', async (fixture) =>
      JSON.stringify(at((await (await fixture.newTv()).send('GET', 'changes')).json, 'playlist')),
    ),
    profile('playlist', 'a publication ends the hold, with the ETag of the playlist').expects(
      '200, the same ETag',
      async (fixture) => {
        const tv = await fixture.newTv();
        const answer = await heldDuring(fixture, tv, () => publish(fixture, tv));
        return [answer, sameEtag(answer, 'playlist', await tv.send('GET', 'playlist'))];
      },
    ),
    profile('config', 'a stored config ends the hold, with the ETag of the config').expects(
      '200, the same ETag',
      async (fixture) => {
        const tv = await fixture.newTv();
        const answer = await heldDuring(fixture, tv, () =>
          fixture.requireOk('PUT', `/v1/screens/${tv.screenId}/config`, { colour: 'red' }),
        );
        return [answer, sameEtag(answer, 'config', await tv.send('GET', 'config'))];
      },
    ),
    profile('revoke', 'a revocation turns the held answer into 401').expects(
      '401 device_key_revoked',
      async (fixture) => {
        const tv = await fixture.newTv();
        return heldDuring(fixture, tv, () => fixture.revoke(tv.deviceId));
      },
    ),
    profile('time', 'the same answer comes when waitSeconds are over').expects(
      '200, the same cursor',
      async (fixture) => {
        const tv = await fixture.newTv();
        const cursor = at((await tv.send('GET', 'changes')).json, 'cursor');
        const answer = await tv.send('GET', `changes?after=${cursor}&waitSeconds=1`);
        return [answer, at(answer.json, 'cursor') === cursor ? 'the same cursor' : 'another'];
      },
    ),
    profile('long', 'a publication ends a hold of 600 seconds, or 400 refuses the hold').expects(
      'as described',
      async (fixture) => {
        const tv = await fixture.newTv();
        const cause = () => publish(fixture, tv);
        const answer = await heldDuring(fixture, tv, cause, longestHoldSeconds);
        const isTold = at(answer.json, 'playlist.version') !== undefined;
        const isRefused = statusAndPaths(answer) === '400 invalid_request at query.waitSeconds';
        return isTold || isRefused ? 'as described' : answer;
      },
    ),
    profile('range', '400 for waitSeconds outside 1 to 600').expects(
      '400 invalid_request at query.waitSeconds',
      async (fixture) => (await fixture.newTv()).send('GET', 'changes?waitSeconds=601'),
    ),
  ],
);
