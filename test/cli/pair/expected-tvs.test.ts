// `signage pair --all --tv` with TVs that wait with a shared ticket.
import { beforeAll, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { adminToken, type TestService } from '../../support/service/service.ts';
import { type Cli, startCli } from '../run-cli.ts';
import { sitDown } from '../terminal/sit-down.ts';
import { registerWhenOffered } from './claiming-tv.ts';

let service: TestService<Clock>;
let cli: Cli;
let env: Record<string, string>;
beforeAll(async () => {
  ({ service, cli } = await startCli());
  env = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken };
});

/** Creates a venue whose screens expect serial numbers, and TVs that wait with its ticket. */
async function waitingVenue(screens: Record<string, string | null>, serials: string[]) {
  const { id: venueId, name: venue } = await service.venue();
  for (const [name, serial] of Object.entries(screens))
    await service.screen({ venueId, name, serial });
  const body = { venueId, uses: 9 };
  const { ticket } = (await service.manage('POST', '/v1/tickets', body)).body;
  const tvs = [];
  for (const serial of serials) {
    const deviceInfo = { model: 'QM55C', serial };
    const sent = { body: { deviceInfo, ticket } };
    tvs.push((await service.send('POST', '/devices/claims', sent)).body);
  }
  return { venue, tvs };
}
const nameOf = async (screenId: string) =>
  (await service.manage('GET', `/v1/screens/${screenId}`)).body.name;

it('a script pairs the TVs that screens expect, and learns which screens have none', async () => {
  const { venue, tvs } = await waitingVenue({ A: 'S-1', B: 'S-2', C: null }, ['S-2', 'S-1', 'S-9']);
  const bound = Promise.all([0, 1].map((at) => registerWhenOffered(service, tvs[at])));
  const flags = ['--all', '--tv', '--yes', '--wait-for', 'registered', '-o', 'ndjson'];
  const run = await cli(['pair', '--venue', venue, ...flags]);
  expect(run.code).toBe(9);
  expect(run.stderr).toContain(`No TV that waits has the serial number that "${venue}/C" expects.`);
  const names = await Promise.all((await bound).map(({ screenId }) => nameOf(screenId)));
  expect(names).toEqual(['B', 'A']);
});

it('pairs none of several TVs that send the same serial number', async () => {
  const { venue } = await waitingVenue({ A: 'S-1' }, ['S-1', 'S-1']);
  const run = await cli(['pair', '--venue', venue, '--all', '--tv', '--yes']);
  expect(run.code).toBe(9);
  expect(run.stderr).toContain(
    `2 TVs that wait have the serial number that "${venue}/A" expects. Pair the right one: --tv CLAIM`,
  );
});

it('a person confirms the proposed TV, or types another claim', async () => {
  const { venue, tvs } = await waitingVenue({ A: 'S-1', B: null }, ['S-1', 'S-2']);
  const bound = Promise.all(tvs.map((tv) => registerWhenOffered(service, tv)));
  const terminal = await sitDown(
    ['pair', '--venue', venue, '--all', '--tv', '--wait-for', 'registered'],
    { env },
  );
  await terminal.sees(/QM55C, serial number S-1, from 127\.0\.0\.1: pair it with "[^"]*\/A"\?/);
  terminal.io.type('y\r');
  await terminal.answer(/B \(2 of 2\)\. Claim on its TV/, `${tvs[1].claim}\r`);
  await terminal.sees(/serial number S-2, from/);
  terminal.io.type('y\r');
  expect(await terminal.ended).toBe(0);
  const names = await Promise.all((await bound).map(({ screenId }) => nameOf(screenId)));
  expect(names).toEqual(['A', 'B']);
});
