import { isDeepStrictEqual } from 'node:util';
import { type Answer, at, said, saidAll, saidAt, taken, textAt } from '../answer.ts';
import { about, type Check, profile } from '../check.ts';
import { unknownId } from '../content.ts';
import type { Fixture } from '../fixture.ts';
import { schemaViolations } from '../schema-violations.ts';

/** The answer to making a venue, and how it is called. */
function madeVenue(stage: Fixture): Promise<{ name: string; answer: Answer }> {
  return stage.once('made venue', async () => {
    const name = `${stage.name} ${stage.next()}`;
    const body = {
      name,
      address: '1 High Street',
      timezone: 'Europe/Berlin',
      labels: stage.labels(),
    };
    return { name, answer: await stage.manage('POST', '/v1/venues', body) };
  });
}

const venueOf = async (stage: Fixture, name: string) =>
  stage.manage('POST', '/v1/venues', { name });
const venues = about({ id: 'venue', subject: 'POST /v1/venues', section: '5.3' }, [
  profile('201', '201 with its Location', '201, its Location', async (stage) => {
    const { answer } = await madeVenue(stage);
    const isPlace = (answer.headers.location ?? '').endsWith(
      `/v1/venues/${textAt(answer.json, 'id')}`,
    );
    return `${said(answer)}, ${isPlace ? 'its Location' : 'another Location'}`;
  }),
  profile(
    'members',
    'id, tenantId, name, address, timezone, labels, createdAt, updatedAt',
    'all of them, each of its type',
    async (stage) =>
      schemaViolations((await madeVenue(stage)).answer.json, {
        id: 'uuid',
        tenantId: 'uuid',
        name: 'text',
        address: 'text',
        timezone: 'text',
        labels: 'object',
        createdAt: 'time',
        updatedAt: 'time',
      }),
  ),
  profile(
    'null',
    'what was left out is null, and there are no labels',
    'null, null, {}',
    async (stage) => {
      const { json } = await venueOf(stage, `${stage.name} ${stage.next()}`);
      return `${at(json, 'address')}, ${at(json, 'timezone')}, ${JSON.stringify(at(json, 'labels'))}`;
    },
  ),
  profile(
    '409',
    '409 for a name that is taken, without regard to case, with the id that has it',
    '409 name_taken, its id',
    async (stage) => {
      const { name, answer } = await madeVenue(stage);
      return taken(await venueOf(stage, `  ${name.toUpperCase()} `), at(answer.json, 'id'));
    },
  ),
  profile(
    '400.name',
    '400 for a name that is empty, or has a slash',
    '400 invalid_request at /name, 400 invalid_request at /name',
    async (stage) =>
      [await venueOf(stage, ' '), await venueOf(stage, `${stage.name}/2`)].map(saidAt).join(', '),
  ),
  profile(
    '400.name.invisible',
    '400 for a name with a character that nobody sees, or that turns the direction of text',
    '400 invalid_request at /name, 400 invalid_request at /name',
    async (stage) =>
      [await venueOf(stage, `${stage.name}\u200b2`), await venueOf(stage, `${stage.name}\u202e2`)]
        .map(saidAt)
        .join(', '),
  ),
  profile(
    '400.timezone',
    '400 for a time zone that there is not',
    '400 invalid_request at /timezone',
    async (stage) =>
      saidAt(
        await stage.manage('POST', '/v1/venues', {
          name: `${stage.name} x`,
          timezone: 'Mars/Base',
        }),
      ),
  ),
  profile(
    '400.unknown',
    '400 for a member that is not known: a typo must not pass',
    '400',
    async (stage) =>
      String(
        (await stage.manage('POST', '/v1/venues', { name: `${stage.name} y`, adress: 'x' })).status,
      ),
  ),
]);

const venueChanges = about({ id: 'venue', subject: '/v1/venues/:id', section: '5.1' }, [
  profile('get', 'GET answers the record', 'the same', async (stage) => {
    const { answer } = await madeVenue(stage);
    const found = await stage.made('GET', `/v1/venues/${textAt(answer.json, 'id')}`);
    return isDeepStrictEqual(found, answer.json) ? 'the same' : JSON.stringify(found);
  }),
  profile(
    '404',
    '404 for an unknown venue, and for an id that is none',
    '404 venue_not_found, 404 venue_not_found',
    async (stage) =>
      saidAll([
        await stage.manage('GET', `/v1/venues/${unknownId}`),
        await stage.manage('GET', '/v1/venues/lobby'),
      ]),
  ),
  profile(
    'patch',
    'PATCH is a merge patch: null empties, what is left out stays',
    'null, the same name, {"wing":"east"}',
    async (stage) => {
      const name = `${stage.name} ${stage.next()}`;
      const made = await stage.made('POST', '/v1/venues', {
        name,
        address: 'x',
        labels: { floor: '1', wing: 'west' },
      });
      const changed = await stage.made('PATCH', `/v1/venues/${textAt(made, 'id')}`, {
        address: null,
        labels: { floor: null, wing: 'east' },
      });
      return `${at(changed, 'address')}, ${at(changed, 'name') === name ? 'the same name' : 'another name'}, ${JSON.stringify(at(changed, 'labels'))}`;
    },
  ),
  profile(
    'delete',
    'DELETE is 204, and the venue is gone',
    '204, 404 venue_not_found',
    async (stage) => {
      const path = `/v1/venues/${await stage.newVenue()}`;
      return saidAll([await stage.manage('DELETE', path), await stage.manage('GET', path)]);
    },
  ),
  profile(
    'delete.409',
    '409 for a venue that has screens',
    '409 venue_not_empty',
    async (stage) => {
      const venueId = await stage.newVenue();
      await stage.screen(venueId);
      return said(await stage.manage('DELETE', `/v1/venues/${venueId}`));
    },
  ),
]);

/** Venues (docs/protocol.md §5.1, §5.3). */
export const venueChecks: readonly Check[] = [...venues, ...venueChanges];
