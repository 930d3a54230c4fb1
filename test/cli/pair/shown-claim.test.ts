// signage pair --tv CLAIM
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { TestService } from '../../support/service.ts';
import { type Cli, startCli } from '../run-cli.ts';
import { registerWhenOffered, showClaim } from './claiming-tv.ts';

let cli: Cli;
let as: (role: string) => Promise<Cli>;
let service: TestService<Clock>;
let id: string;
let venue: string;
let place: string;

beforeAll(async () => {
  ({ cli, as, service } = await startCli());
  const made = await service.venue();
  id = (await service.screen({ venueId: made.id, name: 'Main' })).id;
  venue = made.name;
  place = `${venue}/Main`;
});

const codeOfScreen = async () =>
  (await service.manage('GET', `/v1/screens/${id}`)).body.provisioningCode;

describe('signage pair --tv', () => {
  it.each([
    ['2 without --yes where it cannot ask, with the TV in the question', [], 2, '--yes'],
    ['offers nothing with --dry-run', ['--dry-run', '-o', 'json'], 0, ''],
  ])('%s', async (_, flags, code, told) => {
    const { claim, token } = await showClaim(service);
    const run = await cli(['pair', place, '--tv', claim, ...flags]);
    expect([run.code, run.stderr]).toEqual([code, expect.stringContaining(told)]);
    if (code === 2)
      expect(run.stderr).toContain(`Samsung QM55C from 127.0.0.1: pair it with "${place}"?`);
    else expect(run.stdout).toContain(`/v1/devices/claims/${claim}/offer`);
    expect(await codeOfScreen()).toBeNull();
    const { body } = await service.send('GET', `/devices/claims/${claim}`, { key: token });
    expect(body.status).toBe('waiting');
  });

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
});
