import { mapInTurn } from '../domain/concurrency.ts';
import { reported } from './checks/reading.ts';
import { type Answer, at, listAt, schemaViolations, statusAndCode } from './fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from './fixture/check.ts';
import type { Fixture } from './fixture/fixture.ts';

const rowOf = ({ json }: Answer, key: string) =>
  listAt(json, 'items').find((one) => at(one, 'key') === key);
const report = async (
  fixture: Fixture,
  query: string,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  fixture.manage('GET', `/v1/reports/impressions?${query}`, undefined, { headers });

const reports = checkGroup(
  { id: 'report', subject: 'GET /v1/reports/impressions', section: '5.6' },
  [
    profile('campaign', 'sums impressions and seconds by campaign').expects(
      '2 impressions, 15.5 seconds',
      async (fixture) => {
        const { campaignId, from, to } = await reported(fixture);
        const counted = await report(fixture, `groupBy=campaign&from=${from}&to=${to}`);
        const row = rowOf(counted, campaignId);
        return [`${at(row, 'impressions')} impressions`, `${at(row, 'seconds')} seconds`];
      },
    ),
    profile('booked', 'compares the booking of a campaign with what was delivered').expects(
      '5 booked, 2 delivered',
      async (fixture) => {
        const { campaignId, from } = await reported(fixture);
        const path = `/v1/campaigns/${campaignId}`;
        const booking = { name: fixture.newName(), from, bookedPlays: 5 };
        await fixture.requireOk('PUT', path, booking);
        const row = rowOf(await report(fixture, `groupBy=campaign`), campaignId);
        await fixture.requireOk('DELETE', path);
        return [`${at(row, 'bookedPlays')} booked`, `${at(row, 'deliveredPlays')} delivered`];
      },
    ),
    profile('screen', 'counts by screen').expects('2', async (fixture) => {
      const { tv } = await reported(fixture);
      return at(rowOf(await report(fixture, 'groupBy=screen'), tv.screenId), 'impressions');
    }),
    profile(
      'simulated',
      'simulated=exclude still counts other TVs, and simulated=only does not',
    ).expects('2, none', async (fixture) => {
      const { tv } = await reported(fixture);
      const counted = async (query: string) => {
        const row = rowOf(await report(fixture, `groupBy=screen&${query}`), tv.screenId);
        return row === undefined ? 'none' : at(row, 'impressions');
      };
      return [await counted('simulated=exclude'), await counted('simulated=only')];
    }),
    profile('csv', 'returns CSV for Accept: text/csv').expects(
      'text/csv, key,impressions,seconds',
      async (fixture) => {
        const { headers, text } = await report(fixture, 'groupBy=campaign', { accept: 'text/csv' });
        const columns = text.split(/\r?\n/)[0]?.split(',').slice(0, 3);
        return [headers['content-type']?.split(';')[0], columns?.join(',')];
      },
    ),
    profile('two-groups', 'groupBy=screen,day counts by both, on the days of venues').expects(
      '2',
      async (fixture) => {
        const { tv, from, to } = await reported(fixture);
        const query = `groupBy=screen,day&days=venue&screenId=${tv.screenId}`;
        const { json } = await report(fixture, `${query}&from=${from}&to=${to}`);
        const rows = listAt(json, 'items');
        const sum = (total: number, row: unknown) => total + Number(at(row, 'impressions'));
        return String(rows.reduce(sum, 0));
      },
    ),
    profile('400', '400 for a time within a day').expects(
      '400 invalid_request at query.from',
      (fixture) => report(fixture, 'from=2026-11-20T12:00:00Z'),
    ),
  ],
);

const coverage = checkGroup(
  { id: 'coverage', subject: 'GET /v1/reports/coverage', section: '5.6' },
  [
    profile('unplaced', 'counts plays from before the registration of the TV apart').expects(
      '0 plays, 2 unplaced',
      async (fixture) => {
        const { tv } = await reported(fixture);
        const path = `/v1/reports/coverage?screenId=${tv.screenId}`;
        const row = rowOf(await fixture.manage('GET', path), tv.screenId);
        return [`${at(row, 'plays')} plays`, `${at(row, 'unplaced')} unplaced`];
      },
    ),
  ],
);

const campaigns = checkGroup(
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

const statements = checkGroup({ id: 'signed', subject: 'GET /v1/statements', section: '5.19' }, [
  profile('list', 'lists statements, and the state of each campaign').expects(
    'two lists',
    async (fixture) => {
      const answer = await fixture.requireOk('GET', '/v1/statements');
      return listAt(answer, 'items') && listAt(answer, 'logs') && 'two lists';
    },
  ),
  profile('rows', 'an unknown statement has no rows').expects(
    '404 statement_not_found',
    async (fixture) => statusAndCode(await fixture.manage('GET', '/v1/statements/rows?id=x')),
  ),
]);

/**
 * Checks of reports, campaigns and statements (docs/protocol.md §5.6, §5.19). A TV reports plays
 * first.
 */
export const reportChecks: readonly ConformanceCheck[] = [
  ...reports,
  ...coverage,
  ...campaigns,
  ...statements,
];
