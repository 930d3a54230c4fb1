import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { TestService } from '../../support/service.ts';
import { type Cli, startCli } from '../run-cli.ts';

let cli: Cli;
let as: (role: string) => Promise<Cli>;
let service: TestService<Clock>;

beforeAll(async () => {
  ({ cli, as, service } = await startCli());
});

const deviceInfo = { manufacturer: 'Samsung', model: 'QM55C' };

async function makeClaim(): Promise<{ claim: string; token: string }> {
  // The address of the TV is trusted once a credential has worked there.
  await service.manage('GET', '/v1/me');
  return (await service.send('POST', '/devices/claims', { body: { deviceInfo } })).body;
}

/** Waits for the offer of a claim, and registers with the code. */
async function registerWhenOffered({ claim, token }: { claim: string; token: string }) {
  const path = `/devices/claims/${claim}?waitSeconds=50`;
  const { body } = await service.send('GET', path, { key: token });
  return service.register(body.pairingCode, { deviceInfo });
}

async function screenAt(name: string) {
  const venue = await service.venue();
  const { id } = await service.screen({ venueId: venue.id, name });
  return { id, place: `${venue.name}/${name}` };
}

describe('signage pair --tv', () => {
  it('pairs the TV that shows the claim', async () => {
    const { id, place } = await screenAt('Main');
    const made = await makeClaim();
    const registered = registerWhenOffered(made);
    const installer = await as('installer');
    const typed = made.claim.toLowerCase().replace(/^(...)/, '$1-');
    const argv = [
      'pair',
      place,
      '--tv',
      typed,
      '--wait-for',
      'registered',
      '--yes',
      '-o',
      'ndjson',
    ];
    const { code, ndjson, stderr } = await installer(argv);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(ndjson.map(({ step }) => step)).toEqual(['code', 'registered']);
    expect((await registered).body.screenId).toBe(id);
    expect(ndjson[1]).toMatchObject({ screenId: id, model: 'QM55C' });
  });

  it('2 without --yes where it cannot ask, with the TV in the question', async () => {
    const { id, place } = await screenAt('Main');
    const { claim } = await makeClaim();
    const { code, stderr } = await cli(['pair', place, '--tv', claim]);
    expect(code).toBe(2);
    expect(stderr).toContain(`Samsung QM55C from 127.0.0.1: pair it with "${place}"?`);
    expect(stderr).toContain('--yes');
    const screen = await service.manage('GET', `/v1/screens/${id}`);
    expect(screen.body.provisioningCode).toBeNull();
  });

  it('3 for an unknown claim, with the reason', async () => {
    const { place } = await screenAt('Main');
    const { code, stderr } = await cli(['pair', place, '--tv', 'AAAA22', '--yes']);
    expect(code).toBe(3);
    expect(stderr).toContain('There is no such claim');
    expect(stderr).toContain('There is no such claim');
  });

  it('2 for a text that is no claim, and for one claim with --all', async () => {
    const { place } = await screenAt('Main');
    const mistyped = await cli(['pair', place, '--tv', 'ABCD2345', '--yes']);
    expect(mistyped.code).toBe(2);
    expect(mistyped.stderr).toContain('A claim ');
    const [venue = ''] = place.split('/');
    const all = await cli(['pair', '--venue', venue, '--all', '--tv', 'K7Q2MX']);
    expect(all.code).toBe(2);
    expect(all.stderr).toContain('--all asks for the claim of each TV');
  });

  it('2 without a claim where it cannot ask for one', async () => {
    const { place } = await screenAt('Main');
    const [venue = ''] = place.split('/');
    const one = await cli(['pair', place, '--tv']);
    expect(one).toMatchObject({ code: 2, stderr: expect.stringContaining('give --tv CLAIM') });
    const all = await cli(['pair', '--venue', venue, '--all', '--tv']);
    expect(all).toMatchObject({ code: 2, stderr: expect.stringContaining('give --claims-file') });
  });

  it.each(['--qr', '--qr-web', '--codes-file codes.csv'])(
    '2 with %s, because nobody types the code',
    async (flags) => {
      const { place } = await screenAt('Main');
      const argv = ['pair', place, '--tv', 'K7Q2MX', '--yes', ...flags.split(' ')];
      const { code, stderr } = await cli(argv);
      expect(code).toBe(2);
      expect(stderr).toContain('The TV of --tv gets its code from the service');
    },
  );

  it('offers nothing with --dry-run', async () => {
    const { place } = await screenAt('Main');
    const made = await makeClaim();
    const { code, stdout } = await cli([
      'pair',
      place,
      '--tv',
      made.claim,
      '--dry-run',
      '-o',
      'json',
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain(`/v1/devices/claims/${made.claim}/offer`);
    const { body } = await service.send('GET', `/devices/claims/${made.claim}`, {
      key: made.token,
    });
    expect(body.status).toBe('waiting');
  });
});
