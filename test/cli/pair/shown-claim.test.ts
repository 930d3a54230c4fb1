// signage pair --tv CLAIM
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { TestService } from '../../support/service/service.ts';
import { type Cli, startCli } from '../run-cli.ts';
import { registerWhenOffered, showClaim } from './claiming-tv.ts';

let as: (role: string) => Promise<Cli>;
let service: TestService<Clock>;
let id: string;
let venue: string;
let place: string;
let venueId: string;

beforeAll(async () => {
  ({ as, service } = await startCli());
  const made = await service.venue();
  id = (await service.screen({ venueId: made.id, name: 'Main' })).id;
  venue = made.name;
  venueId = made.id;
  place = `${venue}/Main`;
});

describe('signage pair --tv', () => {
  it('pairs the TV that shows the claim, for an installer', async () => {
    const shown = await showClaim(service);
    const registered = registerWhenOffered(service, shown);
    const typed = shown.claim.toLowerCase().replace(/^(...)/, '$1-');
    const flags = ['--wait-for', 'registered', '--yes', '-o', 'ndjson'];
    const run = await (await as('installer'))(['pair', place, '--tv', typed, ...flags]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(run.ndjson.map(({ step }) => step)).toEqual(['code', 'registered']);
    expect((await registered).screenId).toBe(id);
    expect(run.ndjson[1]).toMatchObject({ screenId: id, model: 'QM55C' });
  });

  it('5 before it asks, for a claim that was already offered a screen', async () => {
    const { claim } = await showClaim(service);
    await service.screen({ venueId, name: 'Left' });
    await service.screen({ venueId, name: 'Right' });
    const installer = await as('installer');
    expect((await installer(['code', 'offer', `${venue}/Left`, claim])).code).toBe(0);
    const { code, stderr } = await installer(['pair', `${venue}/Right`, '--tv', claim]);
    expect([code, stderr]).toEqual([5, expect.stringContaining('already offered a screen')]);
    expect(stderr).toContain('Start pairing at the TV again');
  });
});
