import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { type Cli, startCli } from '../run-cli.ts';
import { sitDown } from '../terminal/sit-down.ts';
import { runTv } from './run-tv.ts';

let cli: Cli;
let service: TestService<Clock>;

beforeAll(async () => {
  ({ cli, service } = await startCli());
});

/** Waits until a claim is shown, and returns it. */
async function claimOf(io: FakeIo): Promise<string> {
  const [, claim = ''] = /--tv (\w{6})/.exec(await io.until(/--tv \w{6}/)) ?? [];
  return claim;
}

/** Starts a service whose installer is at an address that no tenant has used for a TV. */
async function serveElsewhere() {
  const guarded = await startService<Clock>({ clock: systemClock, trustProxy: ['127.0.0.1'] });
  const elsewhere = { headers: { 'x-forwarded-for': '198.51.100.4' } };
  const venue = await guarded.manage('POST', '/v1/venues', { name: 'Lobby' }, elsewhere);
  const offer = async (claim: string, name: string) => {
    const place = { venueId: venue.body.id, name };
    const { body } = await guarded.manage('POST', '/v1/screens', place, elsewhere);
    const path = `/v1/devices/claims/${claim}/offer`;
    await guarded.manage('POST', path, { screenId: body.id }, elsewhere);
    return body.id;
  };
  return { guarded, offer };
}

describe('signage tv --claim', () => {
  it('registers with the code that an installer offers, and plays', async () => {
    const { id: screenId } = await service.screen();
    const { code, stderr } = await cli(['tv', '--claim', '--once'], {
      async during(io) {
        const claim = await claimOf(io);
        const path = `/v1/devices/claims/${claim}/offer`;
        expect((await service.manage('POST', path, { screenId })).status).toBe(201);
      },
    });
    expect({ code }).toEqual({ code: 0 });
    expect(stderr).toMatch(/This TV shows the claim \w{3}-\w{3}\.\nPair it: signage pair/);
    const screen = await service.manage('GET', `/v1/screens/${screenId}`);
    expect(screen.body.state).toBe('active');
  });

  it('waits through an outage, and shows one claim', async () => {
    const faults = ['503:claim retry 1s first 2'];
    const faulty = await startService<Clock>({ clock: systemClock, faults });
    const { id: screenId } = await faulty.screen();
    const { code, stderr } = await runTv(faulty.url, ['--claim', '--once'], {
      async during(io) {
        const claim = await claimOf(io);
        await faulty.manage('POST', `/v1/devices/claims/${claim}/offer`, { screenId });
      },
    });
    expect({ code }).toEqual({ code: 0 });
    expect(stderr.match(/shows the claim/g)).toHaveLength(1);
  });

  it('7 when the service stays unreachable, and says so meanwhile', async () => {
    const { code, stderr } = await runTv('http://127.0.0.1:9', ['--claim']);
    expect(code).toBe(7);
    expect(stderr.match(/^Cannot reach .* The TV tries again\.$/gm)).toHaveLength(2);
  });

  it('names the offered screen with --yes, and shows the claim with --quiet', async () => {
    const { guarded, offer } = await serveElsewhere();
    const run = (argv: string[]) =>
      runTv(guarded.url, ['--claim', '--once', ...argv], {
        during: async (io) => offer(await claimOf(io), argv.join()),
      });
    const { code, stderr } = await run(['--yes']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/"default" \([\da-f-]{36}\) offers this TV the screen "Lobby\/--yes"\./);
    const quiet = await run(['--yes', '--quiet']);
    expect(quiet.code).toBe(0);
    expect(quiet.stderr).toMatch(/^This TV shows the claim .*\nPair it: .*\n$/);
  });

  it('2 for an offer of a tenant that is new at its address, without a terminal', async () => {
    const { guarded, offer } = await serveElsewhere();
    const { code, stderr } = await runTv(guarded.url, ['--claim'], {
      during: async (io) => offer(await claimOf(io), 'Main'),
    });
    expect(code).toBe(2);
    expect(stderr).toContain('offers this TV the screen "Lobby/Main". Questions cannot be asked');
  });

  it('shows a claim in large letters, asks before it accepts a screen, and plays', async () => {
    const { guarded, offer } = await serveElsewhere();
    const tv = await sitDown(['tv', '--claim'], { env: { SIGNAGE_URL: guarded.url } });
    const claimed = async (shown: RegExp) => (await tv.sees(shown))[1] as string;
    await offer(await claimed(/█[\s\S]*signage pair VENUE\/SCREEN --tv (\w{6})$/m), 'First');
    await tv.sees(/"default" \([\da-f-]{36}\) offers[\s\S]*First"\. Accept\? \(y\/N\)/);
    // Enter alone accepts nothing: there is a new claim.
    tv.io.type('\r');
    const screenId = await offer(await claimed(/Accept\? No[\s\S]*--tv (\w{6})$/m), 'Second');
    await tv.sees(/Accept\? No[\s\S]*Accept\? \(y\/N\)/);
    tv.io.type('y\r');
    await tv.sees(/^nothing to show$/m);
    await tv.interrupt();
    expect((await guarded.manage('GET', `/v1/screens/${screenId}`)).body.state).toBe('active');
  });

  it('130 when it is interrupted while it waits', async () => {
    const { code } = await cli(['tv', '--claim'], {
      async during(io) {
        await claimOf(io);
        io.signal('SIGINT');
      },
    });
    expect(code).toBe(130);
  });
});
