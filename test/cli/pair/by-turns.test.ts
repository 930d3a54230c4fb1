// `signage pair --tv` as a person at a terminal of 80 columns sees it, in process.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { sitDown } from '../terminal/sit-down.ts';
import { claimingVenue, statusOfClaim } from './claiming-tv.ts';

let service: TestService<Clock>;
let env: Record<string, string>;

type Sitting = Awaited<ReturnType<typeof sitDown>>;

const venueWith = (names: readonly string[]) => claimingVenue(service, names);

const byTurns = (venue: string, flags: readonly string[] = []) =>
  sitDown(['pair', '--venue', venue, '--all', '--tv', ...flags], { env });

/** Types a claim at the question of the n-th screen, and answers whether it is the right TV. */
async function offer(terminal: Sitting, screen: string, claim = '', yes = true) {
  await terminal.sees(new RegExp(`/${screen} \\(\\d of \\d\\)\\. Claim on its TV[^:]*: *$`));
  terminal.io.type(`${claim}\r`);
  await terminal.sees(
    new RegExp(
      `Samsung QM55C from 127\\.0\\.0\\.1: pair it with "Venue \\d+/${screen}"\\?\\s+\\(y/N\\)\\s*$`,
    ),
  );
  terminal.io.type(yes ? 'y\r' : 'n\r');
}

beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
  env = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken };
});

describe('signage pair --all --tv at a terminal', () => {
  it('asks for the claim of each screen, and lets a person skip one', async () => {
    const { venue, ids, claims, register } = await venueWith(['A', 'B', 'C']);
    const terminal = await byTurns(venue);
    const registered = register(0, 2);
    await offer(terminal, 'A', (claims[0] ?? '').toLowerCase().replace(/^.../, '$& '));
    await terminal.sees(/B \(2 of 3\)/);
    terminal.io.type('\r');
    await offer(terminal, 'C', claims[2]);
    expect(await terminal.ended).toBe(0);
    expect(await registered).toEqual([ids[0], ids[2]]);
    expect(terminal.seen()).toContain('Paired 2 of 3 screens.');
    expect(terminal.seen().join('\n')).toMatch(/registered ✓ Venue \d+\/A · Samsung QM55C/);
  });

  it('asks again after a mistyped claim, an unknown one, and the wrong TV', async () => {
    const { venue, ids, claims, register, expectUntouched } = await venueWith(['Main']);
    const terminal = await byTurns(venue);
    await terminal.sees(/Claim on its TV/);
    terminal.io.type('ABCD\r');
    await terminal.sees(/A claim is 6 letters and digits/);
    terminal.io.type('\u0015AAAA22\r');
    await terminal.sees(/There is no such claim/);
    await offer(terminal, 'Main', claims[0], false);
    await expectUntouched();
    const registered = register(0);
    await offer(terminal, 'Main', claims[0]);
    expect(await terminal.ended).toBe(0);
    expect(await registered).toEqual(ids);
  });

  it('asks nothing but claims with --yes', async () => {
    const { venue, ids, claims, register } = await venueWith(['Main']);
    const registered = register(0);
    const terminal = await byTurns(venue, ['--yes']);
    await terminal.answer(/Claim on its TV/, `${claims[0]}\r`);
    expect(await terminal.ended).toBe(0);
    expect(await registered).toEqual(ids);
    expect(terminal.seen().join('\n')).not.toContain('pair it with');
  });

  it('Escape cancels an offer that its TV does not take, and asks again', async () => {
    const { venue, ids, shown, claims, register } = await venueWith(['Main', 'Other']);
    const terminal = await byTurns(venue);
    await offer(terminal, 'Main', claims[0]);
    await terminal.sees(/waiting for the TV to register[\s\S]*Esc: cancel/);
    terminal.io.type('\u001b');
    await terminal.sees(/The offer was cancelled\./);
    expect((await statusOfClaim(service, shown[0]!)).code).toBe('claim_not_found');
    const registered = register(1);
    await offer(terminal, 'Main', claims[1]);
    expect(await registered).toEqual([ids[0]]);
    await terminal.sees(/Other \(2 of 2\)[^:]*: *$/);
    terminal.io.type('\r');
    expect(await terminal.ended).toBe(0);
  });

  it('9 when a screen got a TV meanwhile, and goes on with the next', async () => {
    const { venue, ids, claims, register } = await venueWith(['Taken', 'Free']);
    const terminal = await byTurns(venue);
    await terminal.sees(/Claim on its TV/);
    await service.tv(ids[0]);
    await offer(terminal, 'Taken', claims[0]);
    const registered = register(0);
    await offer(terminal, 'Free', claims[0]);
    expect(await terminal.ended).toBe(9);
    expect(await registered).toEqual([ids[1]]);
  });

  it('8 when a TV does not register in time and its screen is skipped', async () => {
    const { venue, claims } = await venueWith(['Main']);
    const terminal = await byTurns(venue, ['--timeout', '1s']);
    await offer(terminal, 'Main', claims[0]);
    await terminal.sees(/Timed out: waited 1 s[\s\S]*Claim on its TV[^:]*: *$/);
    terminal.io.type('\r');
    expect(await terminal.ended).toBe(8);
  });

  it.each([
    ['at a question', false],
    ['while it waits', true],
  ])('Ctrl-C %s exits 130, keeps what is paired, and leaves no code', async (_, isWaiting) => {
    const { venue, ids, claims, register } = await venueWith(['A', 'B']);
    const terminal = await byTurns(venue);
    const registered = register(0);
    await offer(terminal, 'A', claims[0]);
    await registered;
    if (isWaiting) {
      await offer(terminal, 'B', claims[1]);
      await terminal.sees(/waiting for the TV to register/);
    } else await terminal.sees(/B \(2 of 2\)/);
    terminal.io.type('\u0003');
    expect(await terminal.ended).toBe(130);
    expect(terminal.seen().join('')).toContain(
      `Paired 1 of 2 screens. To continue: signage pair --venue '${venue}' --all --tv`,
    );
    const { body } = await service.manage('GET', `/v1/screens/${ids[1]}`);
    expect(body.provisioningCode?.status).toBe(isWaiting ? 'cancelled' : undefined);
  });

  it('shows the offers with --dry-run, and sends none', async () => {
    const { venue, claims, expectUntouched } = await venueWith(['Main']);
    const terminal = await byTurns(venue, ['--dry-run']);
    await terminal.answer(/Claim on its TV/, `${claims[0]}\r`);
    expect(await terminal.ended).toBe(0);
    expect(terminal.io.out()).toContain(`/v1/devices/claims/${claims[0]}/offer`);
    await expectUntouched();
  });

  it('signage pair SCREEN --tv asks for the claim', async () => {
    const { venue, ids, claims, register } = await venueWith(['Main']);
    const registered = register(0);
    const flags = ['--tv', '--wait-for', 'registered'];
    const terminal = await sitDown(['pair', `${venue}/Main`, ...flags], { env });
    await terminal.answer(/Claim that the TV shows:/, `${claims[0]}\r`);
    await terminal.answer(/pair it with "Venue \d+\/Main"\?/, 'y\r');
    expect(await terminal.ended).toBe(0);
    expect(await registered).toEqual(ids);
  });
});
