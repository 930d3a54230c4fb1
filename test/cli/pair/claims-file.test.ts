import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { codeAlphabet } from '../../../src/domain/typed-code.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { type Cli, type CliOptions, cliOf, startCli } from '../run-cli.ts';
import { claimingVenue, showClaim, statusOfClaim } from './claiming-tv.ts';

let cli: Cli;
let service: TestService<Clock>;

beforeAll(async () => {
  ({ cli, service } = await startCli());
});

const registered = ['--yes', '--wait-for', 'registered'];

const venueWith = (names: readonly string[]) => claimingVenue(service, names);

async function fileOf(...lines: readonly string[]): Promise<string> {
  const file = join(await temporaryFolder(), 'claims.csv');
  await writeFile(file, lines.join('\n'));
  return file;
}

const pairFrom = (
  file: string,
  venue: string,
  flags: readonly string[],
  options: CliOptions = {},
  by: Cli = cli,
) => {
  const output = flags.includes('-o') ? [] : ['-o', 'ndjson'];
  return by(['pair', '--venue', venue, '--claims-file', file, ...output, ...flags], options);
};

const screenOf = async (id: string | undefined) =>
  (await service.manage('GET', `/v1/screens/${id}`)).body;

describe('signage pair --claims-file', () => {
  it('pairs each screen with the TV of its line', async () => {
    const { venue, ids, claims, register } = await venueWith(['A', 'B', 'C']);
    const named = ['a', 'B', ids[2]];
    const rows = claims.map((claim, at) => `${claim.toLowerCase()};${named[at]}`);
    const tvs = register(0, 1, 2);
    const run = await pairFrom(await fileOf('claim;screen', ...rows), venue, registered);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(await tvs).toEqual(ids);
    const offered = run.ndjson.filter(({ step }) => step === 'code').map(({ claim }) => claim);
    expect(offered.toSorted()).toEqual(claims.toSorted());
  });

  it('pairs screens of several venues, which a column names', async () => {
    const one = await venueWith(['A', 'B']);
    const other = await venueWith(['A']);
    const file = await fileOf(
      'venue,screen,claim',
      `${one.venue},A,${one.claims[0]}`,
      `${other.venue.toUpperCase()},a,${other.claims[0]}`,
      `${one.venue},B,${one.claims[1]}`,
    );
    const tvs = Promise.all([one.register(0, 1), other.register(0)]);
    const run = await cli(['pair', '--claims-file', file, '-o', 'ndjson', ...registered]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(await tvs).toEqual([one.ids, other.ids]);
    const wrong = await fileOf('venue,screen,claim', 'Nowhere,A,K7Q2MX', `${one.venue},Z,K7Q2MY`);
    const refused = await cli(['pair', '--claims-file', wrong, ...registered]);
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain('there is no venue "Nowhere"');
    expect(refused.stderr).toContain('there is no screen "Z"');
    const without = await fileOf('screen,claim', 'A,K7Q2MX');
    expect((await cli(['pair', '--claims-file', without, ...registered])).stderr).toContain(
      'must name the columns: venue,screen,claim',
    );
  });

  it('reads stdin for -, and skips lines without a claim', async () => {
    const { venue, ids, claims, register } = await venueWith(['A', 'B']);
    const tv = register(0);
    const stdin = `screen,claim\nA,${claims[0]}\nB,\n`;
    const { code, ndjson } = await pairFrom('-', venue, registered, { stdin });
    expect([code, ndjson.map(({ screen }) => screen)]).toEqual([0, ['A', 'A']]);
    expect(await tv).toEqual([ids[0]]);
  });

  it('9 when a claim is unknown and a screen was taken, while the others are paired', async () => {
    const { venue, ids, shown, claims, register } = await venueWith(['Taken', 'Unknown', 'Good']);
    await service.tv(ids[0]);
    const rows = [`Taken,${claims[0]}`, 'Unknown,AAAA22', `Good,${claims[2]}`];
    const tv = register(2);
    const run = await pairFrom(await fileOf('screen,claim', ...rows), venue, registered);
    expect(run.code).toBe(9);
    expect(await tv).toEqual([ids[2]]);
    const last = (name: string) => run.ndjson.filter(({ screen }) => screen === name).at(-1);
    const failed = (error: string) => ({ step: 'failed', error: expect.stringContaining(error) });
    expect(last('Taken')).toMatchObject(failed('has'));
    expect(last('Unknown')).toMatchObject(failed('There is no such claim'));
    expect(last('Good').step).toBe('registered');
    expect(run.stderr).toContain('There is no such claim');
    expect((await statusOfClaim(service, shown[0]!)).status).toBe('waiting');
  });

  it.each([
    ['8 after the timeout', 8, ['--timeout', '1s'], ''],
    ['130 at Ctrl-C', 130, [], 'To continue: signage pair --venue '],
  ])('%s, and cancels the offers that no TV has used', async (_, code, flags, told) => {
    const { venue, ids, claims } = await venueWith(['A']);
    const file = await fileOf('screen,claim', `A,${claims[0]}`);
    const run = await pairFrom(file, venue, ['--yes', ...flags], {
      during: async (io) => {
        await io.until(/"step":"code"/);
        if (code === 130) io.signal('SIGINT');
      },
    });
    expect([run.code, run.stderr]).toEqual([code, expect.stringContaining(told)]);
    const screen = { state: 'provisioning', provisioningCode: { status: 'cancelled' } };
    expect(await screenOf(ids[0])).toMatchObject(screen);
  });

  it('6 with all mistakes of the file, and offers nothing', async () => {
    const { venue, claims, expectUntouched } = await venueWith(['A', 'B']);
    const [claim] = claims;
    const file = await fileOf('screen,claim', `A,${claim}`, 'a,K7Q2', `C,${claim}`);
    const { code, stderr } = await pairFrom(file, venue, ['--yes', '-o', 'table']);
    expect(code).toBe(6);
    for (const mistake of [
      'line 3: screen: is also on line 2',
      'line 3: claim: A claim is 6 letters and digits',
      `line 4: screen: there is no screen "C" in the venue "${venue}"`,
      'line 4: claim: is also on line 2',
    ])
      expect(stderr).toContain(mistake);
    await expectUntouched();
  });

  it('2 without --yes where it cannot ask, after it has shown every TV', async () => {
    const { venue, claims, expectUntouched } = await venueWith(['A']);
    const file = await fileOf('screen,claim', `A,${claims[0]}`);
    const { code, stderr } = await pairFrom(file, venue, ['-o', 'table']);
    expect(code).toBe(2);
    expect(stderr).toContain(`${venue}/A: Samsung QM55C from 127.0.0.1`);
    expect(stderr).toContain(`Pair 1 TV with these screens of "${venue}"?`);
    await expectUntouched();
  });

  it('3 without --yes for a claim that no TV shows, and offers nothing', async () => {
    const { venue, claims, expectUntouched } = await venueWith(['A', 'B']);
    const file = await fileOf('screen,claim', `A,${claims[0]}`, 'B,AAAA22');
    const { code, stderr } = await pairFrom(file, venue, [], { tty: true });
    expect([code, stderr]).toEqual([3, expect.stringContaining(`${venue}/B, claim AAAA22:`)]);
    await expectUntouched();
  });

  it('--dry-run shows an offer for each line, and sends none', async () => {
    const { venue, claims, expectUntouched } = await venueWith(['A', 'B']);
    const file = await fileOf('screen,claim', `A,${claims[0]}`, `B,${claims[1]}`);
    const { code, ndjson } = await pairFrom(file, venue, ['--dry-run']);
    const paths = claims.map((claim) => `/v1/devices/claims/${claim}/offer`);
    expect([code, ndjson.map(({ path }) => path)]).toEqual([0, paths]);
    await expectUntouched();
  });

  it('9 for claims that expired after they were noted, and the screens stay free', async () => {
    const clock = new ManualClock();
    const own = await startService({ clock });
    const { id, venueId } = await own.screen({ name: 'Late' });
    const venue = (await own.manage('GET', `/v1/venues/${venueId}`)).body;
    const { claim } = await showClaim(own);
    clock.advance(10 * 60_000);
    const file = await fileOf('screen,claim', `Late,${claim}`);
    const run = await pairFrom(file, venue.name, ['--yes'], {}, cliOf(own, adminToken));
    expect(run.code).toBe(9);
    expect(run.ndjson).toEqual([
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
    const shown = await showClaim(own);
    const unknown = names.slice(1).map((name, n) => `${name},AAA${codeAlphabet[n]}22`);
    const file = await fileOf('screen,claim', `S0,${shown.claim}`, ...unknown);
    const offered = statusOfClaim(own, shown, '?waitSeconds=50');
    const during: CliOptions['during'] = async (io) => {
      await io.until(/Too many unknown claims/);
      await own.register((await offered).pairingCode);
    };
    const by = cliOf(own, adminToken);
    const { code, ndjson } = await pairFrom(file, venue.name, registered, { during }, by);
    expect(code).toBe(9);
    expect(ndjson.filter(({ step }) => step === 'registered')).toHaveLength(1);
    expect(ndjson.filter(({ step }) => step === 'failed')).toHaveLength(12);
  });
});
