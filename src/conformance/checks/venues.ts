import { isDeepStrictEqual } from 'node:util';
import {
  type Answer,
  at,
  conflictAndId,
  locationSeen,
  schemaViolations,
  textAt,
} from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from '../fixture/check.ts';
import { unknownId } from '../fixture/content.ts';
import type { Fixture } from '../fixture/fixture.ts';

/** Creates the venue that these checks share. Returns its name and the response. */
function createdVenue(fixture: Fixture): Promise<{ name: string; answer: Answer }> {
  return fixture.once('made venue', async () => {
    const name = fixture.newName();
    const body = {
      name,
      address: '1 High Street',
      timezone: 'Europe/Berlin',
      hours: [{ days: ['mon', 'fri'], from: '08:00', to: '18:00' }],
      hoursExceptions: [{ dates: { from: '2026-12-25', until: '2026-12-26' } }],
      labels: fixture.labels(),
    };
    return { name, answer: await fixture.manage('POST', '/v1/venues', body) };
  });
}

const createVenue = (fixture: Fixture, name: string, more: object = {}) =>
  fixture.manage('POST', '/v1/venues', { name, ...more });
const venues = checkGroup({ id: 'venue', subject: 'POST /v1/venues', section: '5.3' }, [
  profile('201', '201 with its Location').expects('201, its Location', async (fixture) => {
    const { answer } = await createdVenue(fixture);
    return [answer, locationSeen(answer, `/v1/venues/${textAt(answer.json, 'id')}`)];
  }),
  profile(
    'members',
    'id, tenantId, name, address, timezone, hours, hoursExceptions, labels, createdAt, updatedAt',
  ).expects('all members with the right types', async (fixture) =>
    schemaViolations((await createdVenue(fixture)).answer.json, {
      uuid: ['id', 'tenantId'],
      text: ['name', 'address', 'timezone'],
      array: ['hours', 'hoursExceptions'],
      object: ['labels'],
      time: ['createdAt', 'updatedAt'],
    }),
  ),
  profile('null', 'missing members are null, and labels are empty').expects(
    'null, null, null, null, {}',
    async (fixture) => {
      const { json } = await createVenue(fixture, fixture.newName());
      const members = ['address', 'timezone', 'hours', 'hoursExceptions'].map((member) =>
        at(json, member),
      );
      return [...members, JSON.stringify(at(json, 'labels'))];
    },
  ),
  profile(
    '409',
    '409 for a taken name, without regard to case and kinds of spaces, with the id of the other venue',
  ).expects('409 name_taken, its id', async (fixture) => {
    const { name, answer } = await createdVenue(fixture);
    return conflictAndId(
      await createVenue(fixture, `  ${name.toUpperCase().replaceAll(' ', '\u00a0')} `),
      at(answer.json, 'id'),
    );
  }),
  profile('400.name', '400 for a name that is empty, looks empty, or contains a slash').expects(
    '400 invalid_request at /name, 400 invalid_request at /name, 400 invalid_request at /name',
    async (fixture) => [
      await createVenue(fixture, ' '),
      await createVenue(fixture, '\u3164 \u2800'),
      await createVenue(fixture, `${fixture.name}/2`),
    ],
  ),
  profile(
    '400.name.invisible',
    '400 for a name with an invisible or bidirectional control character',
  ).expects('400 invalid_request at /name, 400 invalid_request at /name', async (fixture) => [
    await createVenue(fixture, `${fixture.name}\u200b2`),
    await createVenue(fixture, `${fixture.name}\u202e2`),
  ]),
  profile('400.timezone', '400 for an unknown time zone').expects(
    '400 invalid_request at /timezone',
    (fixture) => createVenue(fixture, `${fixture.name} x`, { timezone: 'Mars/Base' }),
  ),
  profile('400.hours', '400 for hours without a time zone, and for another spelling').expects(
    '400 timezone_required, 400 invalid_request at /hours/0/from',
    async (fixture) => {
      const name = `${fixture.name} z`;
      const hours = (from: string) => [{ days: ['mon'], from, to: '18:00' }];
      return [
        await createVenue(fixture, name, { hours: hours('08:00') }),
        await createVenue(fixture, name, { hours: hours('8 am') }),
      ];
    },
  ),
  profile('400.exceptions', '400 for dates of exceptions that end before they begin').expects(
    '400 invalid_request at /hoursExceptions/0/dates/until',
    (fixture) =>
      createVenue(fixture, `${fixture.name} w`, {
        timezone: 'Europe/Berlin',
        hoursExceptions: [{ dates: { from: '2026-12-26', until: '2026-12-25' } }],
      }),
  ),
  profile('400.unknown', '400 for an unknown member, so that typos are noticed').expects(
    '400',
    async (fixture) => (await createVenue(fixture, `${fixture.name} y`, { adress: 'x' })).status,
  ),
]);

const venueChanges = checkGroup({ id: 'venue', subject: '/v1/venues/:id', section: '5.1' }, [
  profile('get', 'GET returns the record').expects('the same', async (fixture) => {
    const { answer } = await createdVenue(fixture);
    const found = await fixture.requireOk('GET', `/v1/venues/${textAt(answer.json, 'id')}`);
    return isDeepStrictEqual(found, answer.json) ? 'the same' : JSON.stringify(found);
  }),
  profile('404', '404 for an unknown venue, and for a malformed id').expects(
    '404 venue_not_found, 404 venue_not_found',
    async (fixture) => [
      await fixture.manage('GET', `/v1/venues/${unknownId}`),
      await fixture.manage('GET', '/v1/venues/lobby'),
    ],
  ),
  profile('patch', 'PATCH is a merge patch: null clears, missing members stay').expects(
    'null, the same name, {"wing":"east"}',
    async (fixture) => {
      const name = fixture.newName();
      const made = await fixture.requireOk('POST', '/v1/venues', {
        name,
        address: 'x',
        labels: { floor: '1', wing: 'west' },
      });
      const changed = await fixture.requireOk('PATCH', `/v1/venues/${textAt(made, 'id')}`, {
        address: null,
        labels: { floor: null, wing: 'east' },
      });
      const isSame = at(changed, 'name') === name;
      return [
        at(changed, 'address'),
        isSame ? 'the same name' : 'another name',
        JSON.stringify(at(changed, 'labels')),
      ];
    },
  ),
  profile('timezone.409', 'PATCH is 409 for removing a time zone that hours need').expects(
    '409 timezone_in_use',
    async (fixture) => {
      const { answer } = await createdVenue(fixture);
      return fixture.manage('PATCH', `/v1/venues/${textAt(answer.json, 'id')}`, { timezone: null });
    },
  ),
  profile('delete', 'DELETE is 204, and removes the venue').expects(
    '204, 404 venue_not_found',
    async (fixture) => {
      const path = `/v1/venues/${await fixture.newVenue()}`;
      return [await fixture.manage('DELETE', path), await fixture.manage('GET', path)];
    },
  ),
  profile('delete.409', 'DELETE is 409 for a venue with screens').expects(
    '409 venue_not_empty',
    async (fixture) => {
      const venueId = await fixture.newVenue();
      await fixture.screen(venueId);
      return fixture.manage('DELETE', `/v1/venues/${venueId}`);
    },
  ),
]);

/** Checks of venues (docs/protocol.md §5.1, §5.3). */
export const venueChecks: readonly ConformanceCheck[] = [...venues, ...venueChanges];
