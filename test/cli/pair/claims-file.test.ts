import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { adminToken, startService, type TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Cli, type CliOptions, cliOf, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;

beforeAll(async () => {
  ({ cli, service } = await startCli());
});

const deviceInfo = { manufacturer: 'Samsung', model: 'QM55C' };

interface Shown {
  claim: string;
  token: string;
}

async function showClaim(): Promise<Shown> {
  return (await service.send('POST', '/devices/claims', { body: { deviceInfo } })).body;
}

const statusOf = ({ claim, token }: Shown, query = '') =>
  service.send('GET', `/devices/claims/${claim}${query}`, { key: token });

async function registerWhenOffered(shown: Shown) {
  const { body } = await statusOf(shown, '?waitSeconds=50');
  return (await service.register(body.pairingCode, { deviceInfo })).body;
}

async function venueWith(names: readonly string[]) {
  // The address of the TVs is trusted once a credential has worked there.
  const venue = await service.venue();
  const screens = [];
  for (const name of names) screens.push(await service.screen({ venueId: venue.id, name }));
  return { venue, screens, claims: await Promise.all(names.map(showClaim)) };
}

async function fileOf(...lines: readonly string[]): Promise<string> {
  const file = join(await temporaryFolder(), 'claims.csv');
  await writeFile(file, lines.join('\n'));
  return file;
}

const pairFrom = (file: string, venue: string, flags: readonly string[], options?: CliOptions) =>
  cli(['pair', '--venue', venue, '--claims-file', file, '-o', 'ndjson', ...flags], options);

describe('signage pair --claims-file', () => {
  it('pairs each screen with the TV of its line', async () => {
    const { venue, screens, claims } = await venueWith(['A', 'B', 'C']);
    const file = await fileOf(
      'claim;screen',
      ...claims.map(({ claim }, at) => `${claim.toLowerCase()};${['a', 'B', screens[2]?.id][at]}`),
    );
    const registered = Promise.all(claims.map(registerWhenOffered));
    const { code, ndjson, stderr } = await pairFrom(file, venue.name, [
      '--yes',
      '--wait-for',
      'registered',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect((await registered).map(({ screenId }) => screenId)).toEqual(screens.map(({ id }) => id));
    const offered = ndjson.filter(({ step }) => step === 'code').map(({ claim }) => claim);
    expect(offered.toSorted()).toEqual(claims.map(({ claim }) => claim).toSorted());
  });

  it('reads stdin for -, and skips lines without a claim', async () => {
    const { venue, screens, claims } = await venueWith(['A', 'B']);
    const [shown = { claim: '', token: '' }] = claims;
    const registered = registerWhenOffered(shown);
    const stdin = `screen,claim\nA,${shown.claim}\nB,\n`;
    const flags = ['--yes', '--wait-for', 'registered'];
    const { code, ndjson } = await pairFrom('-', venue.name, flags, { stdin });
    expect(code).toBe(0);
    expect((await registered).screenId).toBe(screens[0]?.id);
    expect(ndjson.map(({ screen }) => screen)).toEqual(['A', 'A']);
  });

  it('9 when a claim has expired and a screen was taken, while the others are paired', async () => {
    const { venue, screens, claims } = await venueWith(['Taken', 'Expired', 'Good']);
    await service.tv(screens[0]?.id ?? '');
    const file = await fileOf(
      'screen,claim',
      `Taken,${claims[0]?.claim}`,
      'Expired,AAAA22',
      `Good,${claims[2]?.claim}`,
    );
    const registered = registerWhenOffered(claims[2] as Shown);
    const { code, ndjson, stderr } = await pairFrom(file, venue.name, [
      '--yes',
      '--wait-for',
      'registered',
    ]);
    expect(code).toBe(9);
    expect((await registered).screenId).toBe(screens[2]?.id);
    const last = (name: string) => ndjson.filter(({ screen }) => screen === name).at(-1);
    expect(last('Taken')).toMatchObject({ step: 'failed', error: expect.stringContaining('has') });
    expect(last('Expired')).toMatchObject({
      step: 'failed',
      error: expect.stringContaining('There is no such claim'),
    });
    expect(last('Good').step).toBe('registered');
    expect(stderr).toContain('There is no such claim');
    expect((await statusOf(claims[0] as Shown)).body.status).toBe('waiting');
  });

  it('8 after the timeout, and cancels the offers that no TV has used', async () => {
    const { venue, screens, claims } = await venueWith(['A']);
    const file = await fileOf('screen,claim', `A,${claims[0]?.claim}`);
    const { code } = await pairFrom(file, venue.name, ['--yes', '--timeout', '1s']);
    expect(code).toBe(8);
    const { body } = await service.manage('GET', `/v1/screens/${screens[0]?.id}`);
    expect(body).toMatchObject({
      state: 'provisioning',
      provisioningCode: { status: 'cancelled' },
    });
  });

  it('130 at Ctrl-C, cancels the offers, and says how to go on', async () => {
    const { venue, screens, claims } = await venueWith(['A']);
    const file = await fileOf('screen,claim', `A,${claims[0]?.claim}`);
    const { code, stderr } = await pairFrom(file, venue.name, ['--yes'], {
      during: async (io) => io.until(/"step":"code"/).then(() => io.signal('SIGINT')),
    });
    expect(code).toBe(130);
    expect(stderr).toContain(`To continue: signage pair --venue '${venue.name}' --all --tv`);
    const { body } = await service.manage('GET', `/v1/screens/${screens[0]?.id}`);
    expect(body.provisioningCode.status).toBe('cancelled');
  });

  it('6 with all mistakes of the file, and offers nothing', async () => {
    const { venue, claims } = await venueWith(['A', 'B']);
    const [{ claim, token } = { claim: '', token: '' }] = claims;
    const file = await fileOf('screen,claim', `A,${claim}`, 'a,K7Q2', `C,${claim}`);
    const { code, stderr } = await pairFrom(file, venue.name, ['--yes', '-o', 'table']);
    expect(code).toBe(6);
    for (const mistake of [
      'line 3: screen: is also on line 2',
      'line 3: claim: A claim is 6 letters and digits',
      `line 4: screen: there is no screen "C" in the venue "${venue.name}"`,
      'line 4: claim: is also on line 2',
    ])
      expect(stderr).toContain(mistake);
    expect((await statusOf({ claim, token })).body.status).toBe('waiting');
  });

  it('6 for a file without the names of its columns', async () => {
    const { venue } = await venueWith(['A']);
    const { code, stderr } = await pairFrom(await fileOf('A,K7Q2MX'), venue.name, ['--yes']);
    expect(code).toBe(6);
    expect(stderr).toContain('line 1: must name the columns: screen,claim');
  });

  it('2 without --yes where it cannot ask, after it has shown every TV', async () => {
    const { venue, claims } = await venueWith(['A']);
    const file = await fileOf('screen,claim', `A,${claims[0]?.claim}`);
    const { code, stderr } = await pairFrom(file, venue.name, ['-o', 'table']);
    expect(code).toBe(2);
    expect(stderr).toContain(`${venue.name}/A: Samsung QM55C from 127.0.0.1`);
    expect(stderr).toContain(`Pair 1 TV with these screens of "${venue.name}"?`);
    expect((await statusOf(claims[0] as Shown)).body.status).toBe('waiting');
  });

  it('3 without --yes for a claim that no TV shows, and offers nothing', async () => {
    const { venue, claims } = await venueWith(['A', 'B']);
    const file = await fileOf('screen,claim', `A,${claims[0]?.claim}`, 'B,AAAA22');
    const { code, stderr } = await pairFrom(file, venue.name, [], { tty: true });
    expect(code).toBe(3);
    expect(stderr).toContain(`${venue.name}/B, claim AAAA22:`);
    expect((await statusOf(claims[0] as Shown)).body.status).toBe('waiting');
  });

  it('--dry-run shows an offer for each line, and sends none', async () => {
    const { venue, claims } = await venueWith(['A', 'B']);
    const rows = claims.map(({ claim }, at) => `${'AB'[at]},${claim}`);
    const file = await fileOf('screen,claim', ...rows);
    const { code, ndjson } = await pairFrom(file, venue.name, ['--dry-run']);
    expect(code).toBe(0);
    expect(ndjson.map(({ path }) => path)).toEqual(
      claims.map(({ claim }) => `/v1/devices/claims/${claim}/offer`),
    );
    for (const shown of claims) expect((await statusOf(shown)).body.status).toBe('waiting');
  });

  it.each([
    ['--all', '--claims-file names the screens and their TVs, so --all does not work with it'],
    ['--tv', '--claims-file names the screens and their TVs, so --tv does not work with it'],
    ['--qr', 'The TV of --claims-file gets its code from the service'],
    ['--create', '--claims-file pairs screens of a venue'],
  ])('2 with %s', async (flag, said) => {
    const { venue } = await venueWith([]);
    const { code, stderr } = await pairFrom(await fileOf('screen,claim'), venue.name, [flag]);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
  });
});

describe('claims that have ended', () => {
  it('9 for claims that expired after they were noted, and the screens stay free', async () => {
    const clock = new ManualClock();
    const own = await startService({ clock });
    const { id, venueId } = await own.screen({ name: 'Late' });
    const venue = (await own.manage('GET', `/v1/venues/${venueId}`)).body;
    const { claim } = (await own.send('POST', '/devices/claims', { body: { deviceInfo } })).body;
    clock.advance(10 * 60_000);
    const file = await fileOf('screen,claim', `Late,${claim}`);
    const argv = ['pair', '--venue', venue.name, '--claims-file', file, '--yes', '-o', 'ndjson'];
    const { code, ndjson } = await cliOf(own, adminToken)(argv);
    expect(code).toBe(9);
    expect(ndjson).toEqual([
      expect.objectContaining({ step: 'failed', error: expect.stringContaining('expired') }),
    ]);
    const { body } = await own.manage('GET', `/v1/screens/${id}`);
    expect(body).toMatchObject({ state: 'provisioning', provisioningCode: null });
  });

  it('9 after ten unknown claims, and keeps the offers made before', async () => {
    const own = await startService<Clock>({ clock: systemClock });
    const venue = await own.venue();
    const names = Array.from({ length: 13 }, (_, n) => `S${n}`);
    for (const name of names) await own.screen({ venueId: venue.id, name });
    const shown: Shown = (await own.send('POST', '/devices/claims', { body: { deviceInfo } })).body;
    const unknown = names.slice(1).map((name, n) => `${name},AAAA${n + 20}`);
    const file = await fileOf('screen,claim', `S0,${shown.claim}`, ...unknown);
    const offered = own.send('GET', `/devices/claims/${shown.claim}?waitSeconds=50`, {
      key: shown.token,
    });
    const argv = ['pair', '--venue', venue.name, '--claims-file', file, '--yes', '-o', 'ndjson'];
    const { code, ndjson } = await cliOf(own, adminToken)([...argv, '--wait-for', 'registered'], {
      async during(io) {
        const { body } = await offered;
        await io.until(/Too many unknown claims/);
        await own.register(body.pairingCode);
      },
    });
    expect(code).toBe(9);
    expect(ndjson.filter(({ step }) => step === 'registered')).toHaveLength(1);
    expect(ndjson.filter(({ step }) => step === 'failed')).toHaveLength(12);
  });
});
