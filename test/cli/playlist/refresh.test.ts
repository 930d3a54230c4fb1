import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import type { OnDemandPlaylists } from '../../../src/origin/origin.ts';
import { item } from '../../support/service/content.ts';
import { adminToken, startService } from '../../support/service/service.ts';
import { type Cli, cliOf } from '../run-cli.ts';

let cli: Cli;
let venueId: string;
let nextResult: (name: string) => unknown;
const onDemand = (async ({ name }) => nextResult(name)) as OnDemandPlaylists;

beforeAll(async () => {
  const service = await startService({ clock: systemClock, onDemand });
  cli = cliOf(service, adminToken);
  const venue = (await service.manage('POST', '/v1/venues', { name: 'Lobby' })).body;
  venueId = venue.id;
  for (const name of ['Main', 'Bar']) await service.screen({ venueId, name });
});
beforeEach(() => {
  const items = [item()];
  nextResult = () => ({ items });
});

describe('signage playlist refresh', () => {
  it('prints the version, and whether it changed', async () => {
    const run = await cli(['playlist', 'refresh', 'Lobby/Main', '-o', 'json']);
    expect([run.code, run.json]).toEqual([0, { version: 1, changed: true }]);
    const again = await cli(['playlist', 'refresh', 'Lobby/Main']);
    expect([again.code, again.stdout]).toEqual([0, 'Version  1\nChanged  no\n']);
  });

  it('9 for several screens when the source fails for one, with the others refreshed', async () => {
    const items = [item()];
    nextResult = (name) => ({ items: name === 'Bar' ? [] : items });
    const run = await cli(['playlist', 'refresh', '--venue', 'Lobby', '-o', 'json']);
    expect(run.code).toBe(9);
    expect(run.json).toMatchObject([
      { name: 'Lobby/Main', result: 'changed', version: 2 },
      { name: 'Lobby/Bar', result: 'failed', error: expect.stringContaining('/items') },
    ]);
  });

  it('7 when the source fails, with the reason and a hint', async () => {
    nextResult = () => ({ items: [] });
    const run = await cli(['playlist', 'refresh', 'Lobby/Main']);
    expect(run.code).toBe(7);
    expect(run.stderr).toMatch(
      /did not deliver[\s\S]*must have 1 to 500 items[\s\S]*signage doctor/,
    );
  });

  it('6 without a source, with the command that publishes', async () => {
    const service = await startService({ clock: systemClock });
    await service.screen({ name: 'Alone' });
    const run = await cliOf(service, adminToken)(['playlist', 'refresh', 'Alone']);
    expect(run.code).toBe(6);
    expect(run.stderr).toMatch(/no on-demand source[\s\S]*signage playlist publish Alone/);
  });
});

describe('signage doctor', () => {
  it('names items whose campaignId is no UUID, because their plays count for no campaign', async () => {
    nextResult = () => ({
      items: [item({ campaignId: 'summer' }), item(), item({ campaignId: 7 })],
    });
    expect((await cli(['playlist', 'refresh', 'Lobby/Main'])).code).toBe(0);
    const run = await cli(['doctor', 'Lobby/Main', '-o', 'json']);
    const found = (run.json as { check: string }[]).filter(({ check }) => check === 'campaign');
    expect(found).toMatchObject([
      { status: 'warn', detail: expect.stringContaining('2 items name "summer", "7"') },
    ]);
  });
});
