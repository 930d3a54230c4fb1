import { mapInTurn } from '../domain/concurrency.ts';
import { at, listAt, schemaViolations, textAt } from './fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from './fixture/check.ts';
import { item } from './fixture/content.ts';
import type { Fixture, Tv } from './fixture/fixture.ts';

const maxPages = 20;

/** Returns the id of the newest notice, or an empty text. */
const newestNotice = async (fixture: Fixture): Promise<string> =>
  textAt(await fixture.requireOk('GET', '/v1/notices?limit=1'), 'items.0.id');

/** Lists up to 200 notices after one, oldest first. Without an id, it begins with the first. */
const pathAfter = (id: string) =>
  `/v1/notices?order=asc&limit=200${id === '' ? '' : `&after=${id}`}`;

/**
 * Makes a change, and returns the next notice of this screen and type. It is listed shortly after
 * the change. Returns `undefined` if none comes within 10 seconds.
 */
export async function noticeOf(
  fixture: Fixture,
  screenId: string,
  type: string,
  change: () => Promise<unknown>,
): Promise<unknown> {
  let last = await newestNotice(fixture);
  await change();
  for (let page = 0; page < maxPages; page++) {
    const answer = await fixture.requireOk('GET', `${pathAfter(last)}&waitSeconds=10`);
    const items = listAt(answer, 'items');
    const found = items.find((one) => at(one, 'screenId') === screenId && at(one, 'type') === type);
    if (found !== undefined || items.length === 0) return found;
    last = textAt(items.at(-1), 'id');
  }
  return undefined;
}

/** A TV in a venue of its own, and the notice of its pairing. */
interface PairedTv {
  tv: Tv;
  venueId: string;
  notice: unknown;
}

export function pairedTv(fixture: Fixture): Promise<PairedTv> {
  return fixture.once('notice of a TV', async () => {
    const venueId = await fixture.newVenue();
    const screenId = await fixture.screen(venueId);
    let tv: Tv | undefined;
    const notice = await noticeOf(fixture, screenId, 'screen.paired', async () => {
      tv = await fixture.newTv(screenId);
    });
    return { tv: tv as Tv, venueId, notice };
  });
}

/** Publishes and withdraws a playlist. */
const twoNotices = (fixture: Fixture) =>
  fixture.once('two notices', async () => {
    const before = await newestNotice(fixture);
    const screenId = await fixture.screen();
    const path = `/v1/screens/${screenId}/playlist`;
    const published = await noticeOf(fixture, screenId, 'playlist.published', () =>
      fixture.publish(screenId, [item()]),
    );
    const ended = await noticeOf(fixture, screenId, 'playlist.ended', () =>
      fixture.requireOk('DELETE', path),
    );
    /** Names the two notices in the order of a list. */
    const namesIn = (list: unknown): string =>
      listAt(list, 'items')
        .filter((one) => at(one, 'screenId') === screenId)
        .map((one) => textAt(one, 'type').replace('playlist.', ''))
        .join(' ');
    return { before, published, ended, namesIn };
  });

const list = checkGroup({ id: 'notices', subject: 'GET /v1/notices', section: '5.16' }, [
  profile('paired', 'tells that a TV was paired, with the names of its place').expects(
    'its device, its venue, its names',
    async (fixture) => {
      const { tv, venueId, notice } = await pairedTv(fixture);
      const screen = await fixture.requireOk('GET', `/v1/screens/${tv.screenId}`);
      const venue = await fixture.requireOk('GET', `/v1/venues/${venueId}`);
      const isNamed =
        at(notice, 'data.screen') === at(screen, 'name') &&
        at(notice, 'data.venue') === at(venue, 'name');
      return [
        at(notice, 'deviceId') === tv.deviceId ? 'its device' : 'another device',
        at(notice, 'venueId') === venueId ? 'its venue' : 'another venue',
        isNamed ? 'its names' : 'other names',
      ];
    },
  ),
  profile('members', 'a notice has all its members').expects(
    'all members with the right types',
    async (fixture) =>
      schemaViolations((await pairedTv(fixture)).notice, {
        uuid: ['id', 'venueId', 'screenId', 'deviceId'],
        time: ['at'],
        text: ['type'],
        object: ['data'],
      }),
  ),
  profile('follow', 'order=asc with after and waitSeconds returns the next notice').expects(
    'its device',
    async (fixture) => {
      const { screenId, deviceId } = await fixture.newTv();
      const revoke = () => fixture.revoke(deviceId);
      const notice = await noticeOf(fixture, screenId, 'device.revoked', revoke);
      return at(notice, 'deviceId') === deviceId ? 'its device' : 'another device';
    },
  ),
  profile('published', 'tells that a playlist was published, and that it was withdrawn').expects(
    'version 1, withdrawn',
    async (fixture) => {
      const { published, ended } = await twoNotices(fixture);
      return [`version ${at(published, 'data.version')}`, at(ended, 'data.reason')];
    },
  ),
  profile('order', 'the newest is first, or with order=asc the oldest').expects(
    'ended published, published ended',
    async (fixture) => {
      const { before, namesIn } = await twoNotices(fixture);
      const newest = await fixture.requireOk('GET', '/v1/notices?limit=200');
      return [namesIn(newest), namesIn(await fixture.requireOk('GET', pathAfter(before)))];
    },
  ),
  profile('after', 'continues after a notice, and filters by type').expects(
    'ended, published',
    async (fixture) => {
      const { before, published, namesIn } = await twoNotices(fixture);
      const path = pathAfter(textAt(published, 'id'));
      const ofType = `${pathAfter(before)}&type=playlist.published`;
      return [
        namesIn(await fixture.requireOk('GET', path)),
        namesIn(await fixture.requireOk('GET', ofType)),
      ];
    },
  ),
  profile('pages', 'nextCursor leads to the next notice').expects(
    'published, ended',
    async (fixture) => {
      const { before, namesIn } = await twoNotices(fixture);
      const seen: string[] = [];
      const path = `${pathAfter(before).replace('limit=200', 'limit=1')}&type=`;
      for (const type of ['playlist.published', 'playlist.ended'])
        for await (const page of fixture.pages(`${path}${type}`, maxPages))
          if (namesIn(page) !== '') seen.push(namesIn(page));
      return seen;
    },
  ),
  profile('400', '400 for an unknown type or order').expects(
    '400 invalid_request at query.type, 400 invalid_request at query.order',
    async (fixture) => [
      await fixture.manage('GET', '/v1/notices?type=screen.exploded'),
      await fixture.manage('GET', '/v1/notices?order=random'),
    ],
  ),
]);

const bound = checkGroup(
  { id: 'notices', subject: 'GET /v1/notices', section: '5.16', needs: 'tokens' },
  [
    profile('venues', 'a token bound to venues gets the notices of these venues').expects(
      'its notice, none',
      async (fixture) => {
        const { venueId, notice } = await pairedTv(fixture);
        return mapInTurn([venueId, await fixture.venue()], async (id) => {
          const token = fixture.token('viewer', [id]);
          const { json } = await fixture.as(token, 'GET', '/v1/notices?limit=200');
          const isListed = listAt(json, 'items').some((one) => at(one, 'id') === at(notice, 'id'));
          return isListed ? 'its notice' : 'none';
        });
      },
    ),
  ],
);

/** Checks of notices (docs/protocol.md §5.16). */
export const noticeChecks: readonly ConformanceCheck[] = [...list, ...bound];
