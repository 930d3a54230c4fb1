// `signage pair --tv` as a person at a terminal of 80 columns sees it, in process.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { adminToken, startService, type TestService } from '../support/service.ts';
import { type Sitting, sitDown } from '../support/sit-down.ts';

let service: TestService<Clock>;
let env: Record<string, string>;

const deviceInfo = { manufacturer: 'Samsung', model: 'QM55C' };

interface Shown {
  claim: string;
  token: string;
}

const showClaim = async (): Promise<Shown> =>
  (await service.send('POST', '/devices/claims', { body: { deviceInfo } })).body;

const statusOf = ({ claim, token }: Shown, query = '') =>
  service.send('GET', `/devices/claims/${claim}${query}`, { key: token });

async function registerWhenOffered(shown: Shown): Promise<string> {
  const { body } = await statusOf(shown, '?waitSeconds=50');
  return (await service.register(body.pairingCode, { deviceInfo })).body.screenId;
}

async function venueWith(names: readonly string[]) {
  const venue = await service.venue();
  const screens = [];
  for (const name of names) screens.push(await service.screen({ venueId: venue.id, name }));
  return { venue, screens };
}

const byTurns = (venue: string, flags: readonly string[] = []) =>
  sitDown(['pair', '--venue', venue, '--all', '--tv', ...flags], { env });

/** Types a claim at the question of the n-th screen, and answers whether it is the right TV. */
async function offer(terminal: Sitting, screen: string, claim: string, yes = true) {
  await terminal.until(new RegExp(`/${screen} \\(\\d of \\d\\)\\. Claim on its TV[^:]*: *$`));
  terminal.type(`${claim}\r`);
  await terminal.until(
    new RegExp(
      `Samsung QM55C from 127\\.0\\.0\\.1: pair it with "Venue \\d+/${screen}"\\?\\s+\\(y/N\\)\\s*$`,
    ),
  );
  terminal.type(yes ? 'y\r' : 'n\r');
}

beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
  env = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken };
});

describe('signage pair --all --tv at a terminal', () => {
  it('asks for the claim of each screen, and lets a person skip one', async () => {
    const { venue, screens } = await venueWith(['A', 'B', 'C']);
    const [first, third] = [await showClaim(), await showClaim()];
    const terminal = await byTurns(venue.name);
    const one = registerWhenOffered(first);
    await offer(terminal, 'A', `${first.claim.slice(0, 3).toLowerCase()} ${first.claim.slice(3)}`);
    await terminal.until(/B \(2 of 3\)/);
    terminal.type('\r');
    const other = registerWhenOffered(third);
    await offer(terminal, 'C', third.claim);
    expect(await terminal.ended).toBe(0);
    expect(await one).toBe(screens[0]?.id);
    expect(await other).toBe(screens[2]?.id);
    expect(terminal.seen()).toContain('Paired 2 of 3 screens.');
    expect(terminal.seen()).toMatch(/registered ✓ Venue \d+\/A · Samsung QM55C/);
  });

  it('asks again after a mistyped claim, an unknown one, and the wrong TV', async () => {
    const { venue, screens } = await venueWith(['Main']);
    const shown = await showClaim();
    const terminal = await byTurns(venue.name);
    await terminal.until(/Claim on its TV/);
    terminal.type('ABCD\r');
    await terminal.until(/A claim is 6 letters and digits/);
    terminal.type('\u0015AAAA22\r');
    await terminal.until(/There is no such claim/);
    await offer(terminal, 'Main', shown.claim, false);
    expect((await statusOf(shown)).body.status).toBe('waiting');
    const registered = registerWhenOffered(shown);
    await offer(terminal, 'Main', shown.claim);
    expect(await terminal.ended).toBe(0);
    expect(await registered).toBe(screens[0]?.id);
  });

  it('asks nothing but claims with --yes', async () => {
    const { venue, screens } = await venueWith(['Main']);
    const shown = await showClaim();
    const registered = registerWhenOffered(shown);
    const terminal = await byTurns(venue.name, ['--yes']);
    await terminal.until(/Claim on its TV/);
    terminal.type(`${shown.claim}\r`);
    expect(await terminal.ended).toBe(0);
    expect(await registered).toBe(screens[0]?.id);
    expect(terminal.seen()).not.toContain('pair it with');
  });

  it('Escape cancels an offer that its TV does not take, and asks again', async () => {
    const { venue, screens } = await venueWith(['Main']);
    const [broken, working] = [await showClaim(), await showClaim()];
    const terminal = await byTurns(venue.name);
    await offer(terminal, 'Main', broken.claim);
    await terminal.until(/waiting for the TV to register[\s\S]*Esc: cancel/);
    terminal.type('\u001b');
    await terminal.until(/The offer was cancelled\./);
    expect((await statusOf(broken)).body.code).toBe('claim_not_found');
    const registered = registerWhenOffered(working);
    await offer(terminal, 'Main', working.claim);
    expect(await terminal.ended).toBe(0);
    expect(await registered).toBe(screens[0]?.id);
  });

  it('9 when a screen got a TV meanwhile, and goes on with the next', async () => {
    const { venue, screens } = await venueWith(['Taken', 'Free']);
    const shown = await showClaim();
    const terminal = await byTurns(venue.name);
    await terminal.until(/Claim on its TV/);
    await service.tv(screens[0]?.id ?? '');
    await offer(terminal, 'Taken', shown.claim);
    const registered = registerWhenOffered(shown);
    await offer(terminal, 'Free', shown.claim);
    expect(await terminal.ended).toBe(9);
    expect(await registered).toBe(screens[1]?.id);
  });

  it('8 when a TV does not register in time and its screen is skipped', async () => {
    const { venue } = await venueWith(['Main']);
    const shown = await showClaim();
    const terminal = await byTurns(venue.name, ['--timeout', '1s']);
    await offer(terminal, 'Main', shown.claim);
    await terminal.until(/Timed out: waited 1 s[\s\S]*Claim on its TV[^:]*: *$/);
    terminal.type('\r');
    expect(await terminal.ended).toBe(8);
  });

  it.each([
    ['at a question', false],
    ['while it waits', true],
  ])('Ctrl-C %s exits 130, keeps what is paired, and leaves no code', async (_, isWaiting) => {
    const { venue, screens } = await venueWith(['A', 'B']);
    const [first, second] = [await showClaim(), await showClaim()];
    const terminal = await byTurns(venue.name);
    const registered = registerWhenOffered(first);
    await offer(terminal, 'A', first.claim);
    await registered;
    if (isWaiting) {
      await offer(terminal, 'B', second.claim);
      await terminal.until(/waiting for the TV to register/);
    } else await terminal.until(/B \(2 of 2\)/);
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(130);
    expect(terminal.seen().replaceAll('\n', '')).toContain(
      `Paired 1 of 2 screens. To continue: signage pair --venue '${venue.name}' --all --tv`,
    );
    const { body } = await service.manage('GET', `/v1/screens/${screens[1]?.id}`);
    expect(body.provisioningCode?.status).toBe(isWaiting ? 'cancelled' : undefined);
  });

  it('shows the offers with --dry-run, and sends none', async () => {
    const { venue } = await venueWith(['Main']);
    const shown = await showClaim();
    const terminal = await byTurns(venue.name, ['--dry-run']);
    await terminal.until(/Claim on its TV/);
    terminal.type(`${shown.claim}\r`);
    expect(await terminal.ended).toBe(0);
    expect(terminal.io.out()).toContain(`/v1/devices/claims/${shown.claim}/offer`);
    expect((await statusOf(shown)).body.status).toBe('waiting');
  });

  it('signage pair SCREEN --tv asks for the claim', async () => {
    const { venue, screens } = await venueWith(['Main']);
    const shown = await showClaim();
    const registered = registerWhenOffered(shown);
    const flags = ['--tv', '--wait-for', 'registered'];
    const terminal = await sitDown(['pair', `${venue.name}/Main`, ...flags], { env });
    await terminal.until(/Claim that the TV shows:/);
    terminal.type(`${shown.claim}\r`);
    await terminal.until(/pair it with "Venue \d+\/Main"\?/);
    terminal.type('y\r');
    expect(await terminal.ended).toBe(0);
    expect(await registered).toBe(screens[0]?.id);
  });
});
