import { mapInTurn } from '../domain/concurrency.ts';
import { at, listAt, schemaViolations } from './fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from './fixture/check.ts';

/** Checks of campaigns and their bookings (docs/protocol.md §5.6). */
export const campaignChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'campaigns', subject: 'PUT /v1/campaigns/:name', section: '5.6' },
  [
    profile('members', '200 with the campaign, which the list has until it is deleted').expects(
      'all members with the right types, listed, 204, 404 campaign_not_found',
      async (fixture) => {
        const name = encodeURIComponent(fixture.newName());
        const path = `/v1/campaigns/${name}`;
        const body = { client: 'A client', from: '2026-12-01', to: '2027-01-01', bookedPlays: 5 };
        const { json } = await fixture.manage('PUT', path, body);
        const listed = await fixture.requireOk('GET', `/v1/campaigns?name=${name}`);
        const isListed = JSON.stringify(listAt(listed, 'items')) === JSON.stringify([json]);
        return [
          schemaViolations(json, {
            uuid: ['id', 'tenantId'],
            text: ['name', 'client', 'from', 'to'],
            integer: ['bookedPlays'],
            'integer?': ['bookedSeconds'],
          }),
          isListed ? 'listed' : 'not listed',
          await fixture.manage('DELETE', `/v1/campaigns/${at(json, 'id')}`),
          await fixture.manage('GET', path),
        ];
      },
    ),
    profile('400', '400 for days in the wrong order, and for a negative number').expects(
      '400 invalid_request at /to, 400 invalid_request at /bookedPlays',
      (fixture) =>
        mapInTurn([{ from: '2026-12-02', to: '2026-12-01' }, { bookedPlays: -1 }], (body) =>
          fixture.manage('PUT', `/v1/campaigns/${encodeURIComponent(fixture.newName())}`, body),
        ),
    ),
  ],
);
