// `--wait` of takeovers and schedules: until the TVs say what they show.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { item } from '../../support/service/content.ts';
import type { BoundTv, TestService } from '../../support/service/service.ts';
import { type Cli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let notice: string;
let week: string;
let count = 0;

beforeAll(async () => {
  ({ cli, service } = await startCli());
  const folder = await temporaryFolder();
  notice = join(folder, 'notice.json');
  week = join(folder, 'week.json');
  await writeFile(notice, JSON.stringify({ items: [item({ name: 'fire.png' })] }));
  const now = Math.floor(service.clock.now() / 1000);
  const entry = { name: 'Lunch', at: now - 60, until: now + 3600, items: [item()] };
  await writeFile(week, JSON.stringify({ entries: [entry] }));
});

/** Creates a venue with screens, of which the first `withTv` have a TV. */
async function wall(screens: number, withTv = screens) {
  const venue = `Wall-${++count}`;
  const { id: venueId } = await service.venue({ name: venue });
  const tvs: BoundTv[] = [];
  for (let at = 1; at <= screens; at++) {
    const { id } = await service.screen({ venueId, name: `S${at}` });
    await service.manage('PUT', `/v1/screens/${id}/playlist`, { items: [item()] });
    if (at <= withTv) tvs.push(await service.tv(id));
  }
  for (const tv of tvs) await shows(tv);
  return { venue, tvs };
}

/** Lets a TV fetch its playlist and say that it shows it. */
async function shows(tv: BoundTv, more: object = {}) {
  const { version, entryId } = (await tv.send('GET', 'playlist')).body;
  const timestamp = Math.floor(service.clock.now() / 1000);
  const body = [{ type: 'shown', timestamp, version, ...(entryId && { entryId }), ...more }];
  await tv.send('POST', 'events', { body });
}

/** Lets TVs do something once the takeover or schedule has been set. */
const once = (pattern: RegExp, work: () => Promise<unknown>) => ({
  during: async (io: { out(): string; err(): string }) => {
    await expect.poll(() => pattern.test(io.out() + io.err()), { timeout: 5000 }).toBe(true);
    await work();
  },
});

describe('signage takeover set --wait', () => {
  it('0 when the TV says that it shows it, and what was before is no answer', async () => {
    const { venue, tvs } = await wall(1);
    const line = `takeover set ${venue}/S1 ${notice} --for 1h --wait 10s`;
    const run = await cli(
      line,
      once(/ITEMS|items/i, () => shows(tvs[0] as BoundTv)),
    );
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toContain('1 of 1 TV shows the takeover.\n');
    const status = await cli(`status --venue ${venue}`);
    expect(status.stdout).toContain('(takeover)');
  });

  it('8 with the reason if no TV says so in time', async () => {
    const { venue, tvs } = await wall(1);
    const line = `takeover set ${venue}/S1 ${notice} --for 1h --wait 1s`;
    const run = await cli(
      line,
      once(/items/i, () => (tvs[0] as BoundTv).send('GET', 'playlist')),
    );
    expect(run.code).toBe(8);
    expect(run.stderr).toContain(
      `Timed out after 1 s: 0 of 1 TV show the takeover. Missing: 1 switching: "${venue}/S1".`,
    );
    expect(run.stderr).toContain(`signage doctor ${venue}/S1`);
  });

  it('9 if only some TVs do, and names the others: one shows what is beneath, one is stopped', async () => {
    const { venue, tvs } = await wall(4, 3);
    const [first, second, third] = tvs as [BoundTv, BoundTv, BoundTv];
    const line = `takeover set --venue ${venue} ${notice} --for 1h --wait 2s --yes`;
    const work = async () => {
      await shows(first);
      await shows(second, { entryId: undefined, failedLayer: 'takeover' });
      const timestamp = Math.floor(service.clock.now() / 1000);
      await third.send('POST', 'events', { body: [{ type: 'app_stopped', timestamp }] });
    };
    const run = await cli(line, once(/taken over/, work));
    expect(run.code).toBe(9);
    expect(run.stderr).toContain('1 of 3 TVs shows the takeover.');
    expect(run.stderr).toContain(`1 offline or stopped: "${venue}/S3"`);
    expect(run.stderr).toContain(
      `1 showing what is beneath, because all of it fails: "${venue}/S2"`,
    );
    expect(run.stderr).toContain(`1 without a TV: "${venue}/S4"`);
  });

  it('0 for a TV that has it and does not report what it shows', async () => {
    const { venue, tvs } = await wall(1);
    const [tv] = tvs as [BoundTv];
    const timestamp = Math.floor(service.clock.now() / 1000);
    await tv.send('POST', 'events', { body: [{ type: 'app_started', timestamp }] });
    const line = `takeover set ${venue}/S1 ${notice} --for 1h --wait 5s`;
    const run = await cli(
      line,
      once(/items/i, () => tv.send('GET', 'playlist')),
    );
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toContain('0 of 1 TV show the takeover. 1 has it, and does not report');
  });

  it('does not wait at a terminal for screens without a TV', async () => {
    const { venue } = await wall(1, 0);
    const line = `takeover set ${venue}/S1 ${notice} --for 1h`;
    const startedAtMs = performance.now();
    expect((await cli(line, { tty: true })).code).toBe(0);
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);
  });

  it('does not wait without a terminal, and not with --dry-run', async () => {
    const { venue } = await wall(1);
    const line = `takeover set ${venue}/S1 ${notice} --for 1h`;
    expect((await cli(line)).stderr).not.toContain('TV');
    expect((await cli(`${line} --wait 9s --dry-run`)).code).toBe(0);
  });
});

it('signage takeover clear --wait: 0 when the TV shows what was there before', async () => {
  const { venue, tvs } = await wall(1);
  await cli(`takeover set ${venue}/S1 ${notice} --for 1h`);
  await shows(tvs[0] as BoundTv);
  const line = `takeover clear ${venue}/S1 --yes --wait 10s`;
  const run = await cli(
    line,
    once(/Ended/, () => shows(tvs[0] as BoundTv)),
  );
  expect(run.code, run.stderr).toBe(0);
  expect(run.stderr).toContain('1 of 1 TV shows what was there before.');
});

it('signage schedule set --wait: 0 when the TVs of the venue show what is due', async () => {
  const { venue, tvs } = await wall(2);
  const line = `schedule set --venue ${venue} -f ${week} --wait 10s`;
  const run = await cli(
    line,
    once(/Lunch/, () => Promise.all(tvs.map((tv) => shows(tv)))),
  );
  expect(run.code, run.stderr).toBe(0);
  expect(run.stderr).toContain('2 of 2 TVs show what the schedule says.');
});
