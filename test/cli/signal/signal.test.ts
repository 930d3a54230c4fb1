// `signage identify` and `signage reload`, with TVs of `signage tv`.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { BoundTv, TestService } from '../../support/service/service.ts';
import { type Cli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let count = 0;

beforeAll(async () => {
  ({ cli, service } = await startCli());
});

/** Creates a venue with screens, of which the first `withTv` have a TV. */
async function wall(screens: number, withTv = screens) {
  const venue = `Wall-${++count}`;
  const { id: venueId } = await service.venue({ name: venue });
  const tvs: BoundTv[] = [];
  for (let at = 1; at <= screens; at++) {
    const { id } = await service.screen({ venueId, name: `S${at}` });
    if (at <= withTv) tvs.push(await service.tv(id));
  }
  return { venue, tvs };
}

/** Lets a TV say that it did what the service asks of it. */
async function obey(tv: BoundTv): Promise<void> {
  const { identifyUntil, reloadId } = (await tv.send('GET', 'changes')).body;
  const timestamp = 5;
  const body = [
    ...(identifyUntil === undefined ? [] : [{ type: 'identified', timestamp, identifyUntil }]),
    ...(reloadId === undefined ? [] : [{ type: 'app_started', timestamp, reloadId }]),
  ];
  expect((await tv.send('POST', 'events', { body })).status).toBe(202);
}

const once = (pattern: RegExp, work: () => Promise<unknown>) => ({
  during: async (io: { out(): string; err(): string }) => {
    await expect.poll(() => pattern.test(io.out() + io.err()), { timeout: 5000 }).toBe(true);
    await work();
  },
});

describe('signage identify', () => {
  it('0 with --wait when the TV says that it has drawn it', async () => {
    const { venue, tvs } = await wall(1);
    const run = await cli(
      `identify ${venue}/S1 --wait 10s`,
      once(/until/i, () => obey(tvs[0] as BoundTv)),
    );
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toContain('1 of 1 TV has drawn it.');
  });

  it('9 if only some do, and names the others and the screens without a TV', async () => {
    const { venue, tvs } = await wall(3, 2);
    const run = await cli(
      `identify --venue ${venue} --wait 1s --yes -o csv`,
      once(/asked/, () => obey(tvs[0] as BoundTv)),
    );
    expect(run.code).toBe(9);
    expect(run.stdout).toMatch(/S1,asked,.*\r\n.*S2,asked,.*\r\n.*S3,no TV,/);
    expect(run.stderr).toContain(
      `1 of 2 TVs have drawn it. Missing: 1 not heard of: "${venue}/S2"; 1 without a TV: "${venue}/S3".`,
    );
  });

  it('8 for a screen without a TV: a request alone is no success', async () => {
    const { venue } = await wall(1, 0);
    const waiting = await cli(`identify ${venue}/S1 --wait 1s`);
    expect(waiting.code).toBe(8);
    expect(waiting.stderr).toContain(`1 without a TV: "${venue}/S1"`);
    const asking = await cli(`identify ${venue}/S1`);
    expect(asking.code).toBe(0);
    expect(asking.stderr).toContain(`1 screen without a TV: "${venue}/S1".`);
  });

  it('names a venue as a whole, so that one row is stored, and screens of a selector one by one', async () => {
    const { venue } = await wall(2);
    const whole = await cli(`identify --venue ${venue} --dry-run -o json`);
    expect(whole.stdout).toMatch(/"venueIds"/);
    const some = await cli(`identify --venue ${venue} --selector !beta --dry-run -o json`);
    expect(some.stdout).toMatch(/"screenIds"/);
  });

  it('--off ends it', async () => {
    const { venue, tvs } = await wall(1);
    await cli(`identify ${venue}/S1 --for 10m`);
    const [tv] = tvs as [BoundTv];
    expect((await tv.send('GET', 'changes')).body).toHaveProperty('identifyUntil');
    expect((await cli(`identify --venue ${venue} --off --yes`)).code).toBe(0);
    expect((await tv.send('GET', 'changes')).body).not.toHaveProperty('identifyUntil');
  });

  it.each(['--for 0', '--for 601s', '--for 1500ms', '--for -1s', '--for NaN', '--off --wait 5s'])(
    '2 for %s',
    async (options) => {
      const { venue } = await wall(1, 0);
      expect((await cli(`identify ${venue}/S1 ${options}`)).code).toBe(2);
    },
  );
});

describe('signage reload', () => {
  it('0 with --wait when all TVs say that they have started anew', async () => {
    const { venue, tvs } = await wall(2);
    const run = await cli(
      `reload ${venue}/S1 ${venue}/S2 --wait 10s --yes`,
      once(/asked/, () => Promise.all(tvs.map(obey))),
    );
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toContain('2 of 2 TVs have started anew.');
  });

  it('8 if a TV started for another reason only', async () => {
    const { venue, tvs } = await wall(1);
    const event = { type: 'app_started', timestamp: 5 };
    const run = await cli(
      `reload ${venue}/S1 --wait 1s`,
      once(/reload/i, () => (tvs[0] as BoundTv).send('POST', 'events', { body: [event] })),
    );
    expect(run.code).toBe(8);
    expect(run.stderr).toContain(`1 not heard of: "${venue}/S1"`);
  });
});
