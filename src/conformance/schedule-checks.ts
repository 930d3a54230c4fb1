import { mapInTurn } from '../domain/concurrency.ts';
import { type Answer, at, listAt, schemaViolations } from './fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from './fixture/check.ts';
import { item } from './fixture/content.ts';
import type { Fixture, Tv } from './fixture/fixture.ts';

/** The clock of the caller may differ from that of the service. */
const hour = 3600;

const named = (name: string) => [item({ name })];
const nameOf = (answer: Answer) => at(answer.json, 'items.0.name') ?? null;
const playlistOf = (tv: Tv) => tv.send('GET', 'playlist');

/** Publishes a playlist on a new screen with a TV. */
async function playingTv(fixture: Fixture): Promise<Tv & { path: string }> {
  const tv = await fixture.newTv();
  const path = `/v1/screens/${tv.screenId}`;
  await fixture.publish(tv.screenId, named('base'));
  return { ...tv, path };
}

/** Entries in instants, so that the venue needs no time zone. */
function entriesAt(fixture: Fixture, from: number, until: number) {
  const now = fixture.nowSeconds();
  return [{ name: 'Entry', at: now + from, until: now + until, items: named('entry') }];
}

const present = (fixture: Fixture) => entriesAt(fixture, -hour, hour);

/** Sets a schedule whose entry holds now. */
const setSchedule = (fixture: Fixture, { path }: { path: string }) =>
  fixture.requireOk('PUT', `${path}/schedule`, { entries: present(fixture) });

/** Sets a takeover for the next hour. */
const takeOver = (fixture: Fixture, { path }: { path: string }) =>
  fixture.requireOk('PUT', `${path}/takeover`, {
    items: named('notice'),
    until: fixture.nowSeconds() + hour,
  });

/** Checks of schedules and takeovers (docs/protocol.md §5.18). */
export const scheduleChecks: readonly ConformanceCheck[] = [
  ...checkGroup({ id: 'schedule', subject: 'a schedule', section: '5.18' }, [
    profile('put', '200 with the entries; GET returns them with the same ETag').expects(
      '200, 200, the same',
      async (fixture) => {
        const path = `/v1/screens/${await fixture.screen()}/schedule`;
        const entries = present(fixture);
        const put = await fixture.manage('PUT', path, { entries });
        const got = await fixture.manage('GET', path);
        const isSame =
          JSON.stringify(listAt(got.json, 'entries').map((entry) => at(entry, 'name'))) ===
            '["Entry"]' && put.headers.etag === got.headers.etag;
        return [put.status, got.status, isSame ? 'the same' : got.text];
      },
    ),
    profile('400', '400 for times that contradict each other').expects(
      '400 invalid_request',
      (fixture) =>
        fixture.setOfNewScreen('schedule', { entries: [{ from: '06:00', items: named('entry') }] }),
    ),
    profile('timezone', '400 for local times at a venue without a time zone').expects(
      '400 timezone_required',
      async (fixture) =>
        fixture.manage('PUT', `/v1/venues/${await fixture.newVenue()}/schedule`, {
          entries: [{ from: '06:00', to: '11:00', items: named('entry') }],
        }),
    ),
    profile('404', '404 without a schedule; DELETE is 204').expects(
      '404 schedule_not_found, 204',
      (fixture) => fixture.askNewScreen('schedule'),
    ),
    profile('tv', 'a TV gets the entry that holds as its next version, and upcoming').expects(
      'entry, Entry, 2, the present span, its items',
      async (fixture) => {
        const tv = await playingTv(fixture);
        await setSchedule(fixture, tv);
        const answer = await playlistOf(tv);
        const { json } = answer;
        const now = fixture.nowSeconds();
        const [from, until] = ['from', 'until'].map((end) => Number(at(json, `upcoming.0.${end}`)));
        const isPresent = from !== undefined && until !== undefined && from <= now && now < until;
        return [
          nameOf(answer),
          at(json, 'entryId'),
          at(json, 'version'),
          isPresent ? 'the present span' : 'another span',
          at(json, 'entries.Entry.0.name') === 'entry' ? 'its items' : 'other items',
        ];
      },
    ),
    profile('venue', 'of a venue holds for its screens without one').expects(
      'entry',
      async (fixture) => {
        const venueId = await fixture.newVenue();
        const tv = await fixture.newTvIn(venueId);
        await setSchedule(fixture, { path: `/v1/venues/${venueId}` });
        return nameOf(await playlistOf(tv));
      },
    ),
    profile('base', 'an entry with base plays the playlist of the screen').expects(
      '200, true, base, null, 1',
      async (fixture) => {
        const tv = await playingTv(fixture);
        const [entry] = present(fixture);
        const { items: _, ...times } = entry as { items: unknown };
        const entries = [
          { ...times, base: true },
          ...present(fixture).map(({ name, ...one }) => one),
        ];
        const { status } = await fixture.manage('PUT', `${tv.path}/schedule`, { entries });
        const { json } = await fixture.manage('GET', `${tv.path}/schedule`);
        const answer = await playlistOf(tv);
        const entryId = String(at(answer.json, 'entryId'));
        return [
          status,
          String(at(json, 'entries.0.base')),
          nameOf(answer),
          entryId,
          at(answer.json, 'version'),
        ];
      },
    ),
    profile(
      'empty',
      'an empty one of a screen stands for that of its venue; 400 for a venue',
    ).expects('200, base, 400 invalid_request at /entries', async (fixture) => {
      const venueId = await fixture.newVenue();
      const screenId = await fixture.screen(venueId);
      const tv = await fixture.newTv(screenId);
      const path = `/v1/screens/${screenId}`;
      await fixture.requireOk('PUT', `${path}/playlist`, { items: named('base') });
      const ofVenue = `/v1/venues/${venueId}/schedule`;
      await setSchedule(fixture, { path: `/v1/venues/${venueId}` });
      const { status } = await fixture.manage('PUT', `${path}/schedule`, { entries: [] });
      const played = nameOf(await playlistOf(tv));
      return [status, played, await fixture.manage('PUT', ofVenue, { entries: [] })];
    }),
    profile('plain', 'without schedule and takeover: entryId null, and no upcoming').expects(
      'null, none',
      async (fixture) => {
        const { json } = await playlistOf(await playingTv(fixture));
        return [
          JSON.stringify(at(json, 'entryId')),
          at(json, 'upcoming') === undefined ? 'none' : 'upcoming',
        ];
      },
    ),
    profile('changes', 'a change for TVs; its end brings the playlist back').expects(
      'another cursor, another cursor, base, 3',
      async (fixture) => {
        const tv = await playingTv(fixture);
        const cursor = async () => at((await tv.send('GET', 'changes')).json, 'cursor');
        const before = await cursor();
        await setSchedule(fixture, tv);
        const during = await cursor();
        await playlistOf(tv);
        await fixture.manage('DELETE', `${tv.path}/schedule`);
        const after = await cursor();
        const answer = await playlistOf(tv);
        const differ = (one: unknown, other: unknown) =>
          one === other ? 'the same cursor' : 'another cursor';
        return [
          differ(before, during),
          differ(during, after),
          nameOf(answer),
          at(answer.json, 'version'),
        ];
      },
    ),
    profile('playing', 'a publication below it says that it does not play').expects(
      'false, true',
      async (fixture) => {
        const tv = await playingTv(fixture);
        await setSchedule(fixture, tv);
        const publish = async (name: string) =>
          at(await fixture.publish(tv.screenId, named(name)), 'playing');
        const below = await publish('below');
        await fixture.manage('DELETE', `${tv.path}/schedule`);
        return [below, await publish('alone')].map(String);
      },
    ),
  ]),
  ...checkGroup({ id: 'takeover', subject: 'a takeover', section: '5.18' }, [
    profile('tv', 'is above the schedule, until it is ended').expects(
      'notice, takeover, entry',
      async (fixture) => {
        const tv = await playingTv(fixture);
        await setSchedule(fixture, tv);
        await takeOver(fixture, tv);
        const during = await playlistOf(tv);
        await fixture.manage('DELETE', `${tv.path}/takeover`);
        return [nameOf(during), at(during.json, 'entryId'), nameOf(await playlistOf(tv))];
      },
    ),
    profile('below', 'the layers beneath come with their items').expects(
      'entry, Entry, entry, base, base',
      async (fixture) => {
        const tv = await playingTv(fixture);
        await setSchedule(fixture, tv);
        await takeOver(fixture, tv);
        const { json } = await playlistOf(tv);
        return [
          at(json, 'below.layer'),
          at(json, 'below.entryId'),
          at(json, 'below.items.0.name'),
          at(json, 'below.below.layer'),
          at(json, 'below.below.items.0.name'),
        ];
      },
    ),
    profile('400', '400 for an end in the past').expects('400 invalid_request', (fixture) =>
      fixture.setOfNewScreen('takeover', {
        items: named('notice'),
        until: fixture.nowSeconds() - hour,
      }),
    ),
    profile('404', '404 without a takeover; DELETE is 204').expects(
      '404 takeover_not_found, 204',
      (fixture) => fixture.askNewScreen('takeover'),
    ),
    profile('bulk', 'of several screens by POST /v1/publications').expects(
      'notice, notice',
      async (fixture) => {
        const venueId = await fixture.newVenue();
        const tvs = await mapInTurn([1, 2], () => fixture.newTvIn(venueId));
        await fixture.requireOk('POST', '/v1/publications', {
          venueId,
          action: 'takeover',
          items: named('notice'),
          until: fixture.nowSeconds() + hour,
        });
        return mapInTurn(tvs, async (tv) => nameOf(await playlistOf(tv)));
      },
    ),
  ]),
  ...checkGroup({ id: 'explain', subject: 'GET /v1/screens/:id/explain', section: '5.18' }, [
    profile('200', 'names layer, entry and version, and whether the TV has it').expects(
      'schedule, Entry, 2, true',
      async (fixture) => {
        const tv = await playingTv(fixture);
        await setSchedule(fixture, tv);
        await playlistOf(tv);
        const { json } = await fixture.manage('GET', `${tv.path}/explain`);
        return ['layer', 'entryId', 'version', 'tv.isCurrent'].map((member) =>
          String(at(json, member)),
        );
      },
    ),
    profile('members', 'at, layer, schedule, base, tv and config').expects(
      'all members with the right types',
      async (fixture) => {
        const tv = await playingTv(fixture);
        const { json } = await fixture.manage('GET', `${tv.path}/explain`);
        return schemaViolations(json, {
          time: ['at'],
          text: ['layer', 'config.syncIntervalMinutes.source'],
          integer: ['base.version'],
          uuid: ['tv.deviceId'],
        });
      },
    ),
  ]),
];
