import { type Answer, at, listAt, said, textAt } from '../answer.ts';
import { about, type Check, profile } from '../check.ts';
import { unknownId } from '../content.ts';
import type { Fixture } from '../fixture.ts';

/** A venue and its screen, outside of that to which a token is bound; and the token. */
async function outside(
  stage: Fixture,
): Promise<{ token: Promise<string>; venueId: string; screenId: string; deviceId: string }> {
  return stage.once('outside', async () => {
    const venueId = await stage.newVenue();
    const { screenId, deviceId } = await stage.newTv(await stage.screen(venueId));
    return { token: stage.token('operator', [await stage.venue()]), venueId, screenId, deviceId };
  });
}

/** Whether a record that may not be known of is answered as one that there is not, but for the ids of the request. */
async function sameAsUnknown(
  stage: Fixture,
  token: Promise<string>,
  path: (id: string) => string,
  id: string,
): Promise<string> {
  const bare = ({ text }: Answer, own: string) =>
    text.replaceAll(own, '…').replaceAll(/"requestId":"[^"]*"/g, '');
  const [foreign, unknown] = [
    await stage.as(token, 'GET', path(id)),
    await stage.as(token, 'GET', path(unknownId)),
  ];
  return `${said(foreign)}, ${bare(foreign, id) === bare(unknown, unknownId) ? 'as an unknown one' : 'unlike an unknown one'}`;
}

const bound = about(
  { id: 'bound-token', subject: 'A token bound to venues', section: '5.8', needs: 'tokens' },
  [
    profile(
      'venue',
      'a venue outside is 404, exactly as one that there is not',
      '404 venue_not_found, as an unknown one',
      async (stage) => {
        const { token, venueId } = await outside(stage);
        return sameAsUnknown(stage, token, (id) => `/v1/venues/${id}`, venueId);
      },
    ),
    profile(
      'screen',
      'a screen outside is 404, exactly as one that there is not',
      '404 screen_not_found, as an unknown one',
      async (stage) => {
        const { token, screenId } = await outside(stage);
        return sameAsUnknown(stage, token, (id) => `/v1/screens/${id}`, screenId);
      },
    ),
    profile(
      'device',
      'a device outside is 404, exactly as one that there is not',
      '404 device_not_found, as an unknown one',
      async (stage) => {
        const { token, deviceId } = await outside(stage);
        return sameAsUnknown(stage, token, (id) => `/v1/devices/${id}`, deviceId);
      },
    ),
    profile('list', 'lists show what is inside only', '200, 1 venue', async (stage) => {
      const answer = await stage.as((await outside(stage)).token, 'GET', '/v1/venues?limit=200');
      return `${said(answer)}, ${listAt(answer.json, 'items').length} venue`;
    }),
    profile('inside', 'what is inside may be changed', '200', async (stage) => {
      const { token } = await outside(stage);
      return said(
        await stage.as(token, 'PATCH', `/v1/screens/${await stage.screen()}`, {
          labels: { seen: 'yes' },
        }),
      );
    }),
  ],
);

/** A second tenant, with a venue in it that was made there. */
function otherTenant(stage: Fixture): Promise<{ tenantId: string; venueId: string }> {
  return stage.once('other tenant', async () => {
    const tenantId = textAt(
      await stage.made('POST', '/v1/tenants', { name: `${stage.name} tenant` }),
      'id',
    );
    const { json } = await stage.manage(
      'POST',
      '/v1/venues',
      { name: stage.name },
      { headers: { 'x-tenant-id': tenantId } },
    );
    return { tenantId, venueId: textAt(json, 'id') };
  });
}

const tenants = about(
  { id: 'tenant', subject: 'Another tenant', section: '5.1', needs: 'tenants' },
  [
    profile(
      'record',
      'its record is 404, exactly as one that there is not',
      '404 venue_not_found, the same',
      async (stage) => {
        const { venueId } = await otherTenant(stage);
        const [foreign, unknown] = [
          await stage.manage('GET', `/v1/venues/${venueId}`),
          await stage.manage('GET', `/v1/venues/${unknownId}`),
        ];
        return `${said(foreign)}, ${at(foreign.json, 'detail') === at(unknown.json, 'detail') ? 'the same' : 'another detail'}`;
      },
    ),
    profile('name', 'a name is free there that is taken here', '201', async (stage) => {
      await stage.venue();
      return (await otherTenant(stage)).venueId === '' ? 'refused' : '201';
    }),
    profile(
      'required',
      'with several tenants a platform token must name one',
      '400 tenant_required',
      async (stage) => {
        await otherTenant(stage);
        return said(await stage.manageAnywhere('GET', '/v1/venues'));
      },
    ),
  ],
);

const unknown = about({ id: 'tenant', subject: 'X-Tenant-Id', section: '5.1' }, [
  profile(
    'unknown',
    'a tenant that there is not is 404 tenant_not_found',
    '404 tenant_not_found',
    async (stage) =>
      said(
        await stage.manage('GET', '/v1/venues', undefined, {
          headers: { 'x-tenant-id': unknownId },
        }),
      ),
  ),
]);

/** What is not there for those who may not know of it (docs/protocol.md §5.1, §5.8). */
export const tenancyChecks: readonly Check[] = [...bound, ...unknown, ...tenants];
