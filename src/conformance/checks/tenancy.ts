import { type Answer, at, listAt, textAt } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from '../fixture/check.ts';
import { unknownId } from '../fixture/content.ts';
import type { Fixture } from '../fixture/fixture.ts';

/** Sets up a venue with a TV, and a token bound to another venue. */
async function outside(
  fixture: Fixture,
): Promise<{ token: Promise<string>; venueId: string; screenId: string; deviceId: string }> {
  return fixture.once('outside', async () => {
    const venueId = await fixture.newVenue();
    const { screenId, deviceId } = await fixture.newTvIn(venueId);
    return {
      token: fixture.token('operator', [await fixture.venue()]),
      venueId,
      screenId,
      deviceId,
    };
  });
}

/**
 * Compares the response for a record hidden from the token with the response for an unknown id.
 * Ignores the ids in both. Returns the first response and the result.
 */
async function sameAsUnknown(
  fixture: Fixture,
  collection: string,
  id: string,
): Promise<[Answer, string]> {
  const { token } = await outside(fixture);
  const bare = ({ text }: Answer, own: string) =>
    text.replaceAll(own, '…').replaceAll(/"requestId":"[^"]*"/g, '');
  const foreign = await fixture.as(token, 'GET', `/v1/${collection}/${id}`);
  const unknown = await fixture.as(token, 'GET', `/v1/${collection}/${unknownId}`);
  const isSame = bare(foreign, id) === bare(unknown, unknownId);
  return [foreign, isSame ? 'as an unknown one' : 'unlike an unknown one'];
}

const bound = checkGroup(
  { id: 'bound-token', subject: 'A token bound to venues', section: '5.8', needs: 'tokens' },
  [
    profile('venue', 'another venue is 404, exactly like an unknown one').expects(
      '404 venue_not_found, as an unknown one',
      async (fixture) => sameAsUnknown(fixture, 'venues', (await outside(fixture)).venueId),
    ),
    profile('screen', 'a screen of another venue is 404, exactly like an unknown one').expects(
      '404 screen_not_found, as an unknown one',
      async (fixture) => sameAsUnknown(fixture, 'screens', (await outside(fixture)).screenId),
    ),
    profile('device', 'a device of another venue is 404, exactly like an unknown one').expects(
      '404 device_not_found, as an unknown one',
      async (fixture) => sameAsUnknown(fixture, 'devices', (await outside(fixture)).deviceId),
    ),
    profile('list', 'lists contain only records of its venues').expects(
      '200, 1 venue',
      async (fixture) => {
        const { token } = await outside(fixture);
        const answer = await fixture.as(token, 'GET', '/v1/venues?limit=200');
        return [answer, `${listAt(answer.json, 'items').length} venue`];
      },
    ),
    profile('inside', 'records of its venues can be changed').expects('200', async (fixture) => {
      const { token } = await outside(fixture);
      return fixture.as(token, 'PATCH', `/v1/screens/${await fixture.screen()}`, {
        labels: { seen: 'yes' },
      });
    }),
  ],
);

/** Creates a second tenant with a venue. */
function otherTenant(fixture: Fixture): Promise<{ tenantId: string; venueId: string }> {
  return fixture.once('other tenant', async () => {
    const tenant = { name: `${fixture.name} tenant` };
    const tenantId = textAt(await fixture.requireOk('POST', '/v1/tenants', tenant), 'id');
    const venue = { name: fixture.name };
    const headers = { 'x-tenant-id': tenantId };
    const { json } = await fixture.manage('POST', '/v1/venues', venue, { headers });
    return { tenantId, venueId: textAt(json, 'id') };
  });
}

const tenants = checkGroup(
  { id: 'tenant', subject: 'Another tenant', section: '5.1', needs: 'tenants' },
  [
    profile('record', 'its record is 404, exactly like an unknown one').expects(
      '404 venue_not_found, the same',
      async (fixture) => {
        const { venueId } = await otherTenant(fixture);
        const foreign = await fixture.manage('GET', `/v1/venues/${venueId}`);
        const unknown = await fixture.manage('GET', `/v1/venues/${unknownId}`);
        const isSame = at(foreign.json, 'detail') === at(unknown.json, 'detail');
        return [foreign, isSame ? 'the same' : 'another detail'];
      },
    ),
    profile('name', 'a name taken in one tenant is allowed in another').expects(
      '201',
      async (fixture) => {
        await fixture.venue();
        return (await otherTenant(fixture)).venueId === '' ? 'refused' : '201';
      },
    ),
    profile('required', 'with several tenants a platform token must name one').expects(
      '400 tenant_required',
      async (fixture) => {
        await otherTenant(fixture);
        return fixture.manageAnywhere('GET', '/v1/venues');
      },
    ),
  ],
);

const unknown = checkGroup({ id: 'tenant', subject: 'X-Tenant-Id', section: '5.1' }, [
  profile('unknown', 'an unknown tenant is 404 tenant_not_found').expects(
    '404 tenant_not_found',
    (fixture) =>
      fixture.manage('GET', '/v1/venues', undefined, {
        headers: { 'x-tenant-id': unknownId },
      }),
  ),
]);

/** Checks of isolation between tenants and venues (docs/protocol.md §5.1, §5.8). */
export const tenancyChecks: readonly ConformanceCheck[] = [...bound, ...unknown, ...tenants];
