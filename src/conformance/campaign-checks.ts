import { mapInTurn } from '../domain/concurrency.ts';
import { at, listAt, schemaViolations, statusAndPaths } from './fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from './fixture/check.ts';
import type { Fixture } from './fixture/fixture.ts';

/** Runs `work` with the path of a new campaign, and deletes the campaign. */
async function withCampaign<T>(
  fixture: Fixture,
  work: (path: string, name: string) => Promise<T>,
): Promise<T> {
  const name = fixture.newName();
  const path = `/v1/campaigns/${encodeURIComponent(name)}`;
  try {
    return await work(path, name);
  } finally {
    await fixture.manage('DELETE', path);
  }
}

/** Checks of campaigns and their bookings (docs/protocol.md §5.6). */
export const campaignChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'campaigns', subject: 'PUT /v1/campaigns/:name', section: '5.6' },
  [
    profile('members', '200 with the campaign, which the list has by its name').expects(
      'all members with the right types, the same by name',
      (fixture) =>
        withCampaign(fixture, async (path, name) => {
          const body = { client: 'A client', from: '2026-12-01', to: '2027-01-01', bookedPlays: 5 };
          const { json } = await fixture.manage('PUT', path, body);
          const query = `name=${encodeURIComponent(name)}`;
          const listed = listAt(await fixture.requireOk('GET', `/v1/campaigns?${query}`), 'items');
          return [
            schemaViolations(json, {
              uuid: ['id', 'tenantId'],
              text: ['name', 'client', 'from', 'to'],
              integer: ['bookedPlays'],
              'integer?': ['bookedSeconds'],
            }),
            JSON.stringify(listed) === JSON.stringify([json]) ? 'the same by name' : 'others',
          ];
        }),
    ),
    profile('replace', 'a PUT replaces the booking, and GET by the id returns it').expects(
      'null, 60',
      (fixture) =>
        withCampaign(fixture, async (path) => {
          await fixture.manage('PUT', path, { bookedPlays: 5 });
          const { json } = await fixture.manage('PUT', path, { bookedSeconds: 60 });
          const found = await fixture.requireOk('GET', `/v1/campaigns/${at(json, 'id')}`);
          return [String(at(found, 'bookedPlays')), String(at(found, 'bookedSeconds'))];
        }),
    ),
    profile('400', '400 for days in the wrong order, and for negative and broken numbers').expects(
      '400 invalid_request at /to, 400 invalid_request at /bookedPlays, 400 invalid_request at /bookedSeconds',
      (fixture) =>
        withCampaign(fixture, (path) =>
          mapInTurn(
            [{ from: '2026-12-02', to: '2026-12-01' }, { bookedPlays: -1 }, { bookedSeconds: 1.5 }],
            async (body) => statusAndPaths(await fixture.manage('PUT', path, body)),
          ),
        ),
    ),
    profile('delete', '204, and then 404 campaign_not_found').expects(
      '204, 404 campaign_not_found',
      (fixture) =>
        withCampaign(fixture, async (path) => {
          await fixture.manage('PUT', path, {});
          return [await fixture.manage('DELETE', path), await fixture.manage('GET', path)];
        }),
    ),
  ],
);
