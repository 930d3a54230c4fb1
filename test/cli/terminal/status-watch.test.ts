import { beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { item } from '../../support/service/content.ts';
import {
  adminToken,
  type BoundTv,
  startService,
  type TestService,
} from '../../support/service/service.ts';
import { cliOf } from '../run-cli.ts';
import { sitDown } from './sit-down.ts';

const sizes: [columns: number, rows: number][] = [
  [80, 24],
  [60, 20],
];

describe('a terminal with 30 screens', () => {
  let clock: ManualClock;
  let service: TestService;
  let env: Record<string, string>;
  let tvs: BoundTv[];

  const darkenFirst = async () => {
    clock.advance(12 * 60_000);
    for (const tv of tvs.slice(1)) await tv.send('GET', 'playlist');
  };

  beforeAll(async () => {
    clock = new ManualClock();
    service = await startService({ clock });
    env = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken };
    const venue = await service.venue({ name: 'Lobby of the northern building' });
    tvs = [];
    for (let number = 1; number <= 30; number++) {
      const name = `Screen beside the escalator ${number}`;
      const screen = await service.screen({ venueId: venue.id, name });
      await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item()] });
      tvs.push(await service.tv(screen.id));
    }
    await darkenFirst();
    const event = { type: 'playback_error', timestamp: 1_760_000_000, message: 'no '.repeat(60) };
    await tvs[1]?.send('POST', 'events', { body: [event] });
  });

  it.each(sizes)(
    'wraps no line of signage audit list and device list at %i columns',
    async (columns) => {
      for (const argv of [
        ['audit', 'list', '--limit', '5'],
        ['device', 'list'],
      ]) {
        const { code, stdout } = await cliOf(service, adminToken)(argv, {
          clock,
          tty: true,
          columns,
          env: { NO_COLOR: '1' },
        });
        expect(code).toBe(0);
        const lines = stdout.split('\n');
        expect(lines.length).toBeGreaterThan(5);
        expect(lines.filter((line) => line.length > columns)).toEqual([]);
      }
    },
  );

  it.each(sizes)(
    'the venue is cut first at %i columns, and the middle of the screen name last',
    async (columns) => {
      const options = { clock, tty: true, columns };
      const { stdout } = await cliOf(service, adminToken)(['status'], options);
      const names = stdout.match(/^.*?Scree.*?\d+(?= {2})/gm) ?? [];
      expect(new Set(names.map((name) => name.replace(/.*\D/, ''))).size).toBe(30);
      for (const name of names)
        expect(name).toMatch(
          columns === 80 ? /^Lobby.*…\/Screen beside the escalator \d+$/ : /^Scree.*….*r \d+$/,
        );
      expect(stdout).toContain('\u001b[33munconfirmed\u001b[39m');
      expect((await cliOf(service, adminToken)(['status'])).stdout).not.toContain('\u001b[');
    },
  );

  it.each(sizes)(
    'signage status --watch redraws in place at %i columns, until Ctrl-C',
    async (columns, rows) => {
      await darkenFirst();
      const watched = await sitDown(['status', '--watch'], { env, clock, size: { columns, rows } });
      await watched.sees(
        /30 screens: 1 dark, 1 failing, 28 unconfirmed\. Ctrl-C.*\nSCREEN +CONDITION/,
      );
      await watched.sees(/… and \d+ more screens/);
      const lines = watched.seen().slice(0, -1);
      expect(lines.length).toBeLessThan(rows);
      for (const line of lines) expect(line.length).toBeLessThan(columns);
      expect(watched.io.err()).toContain('\u001b[31m');
      await tvs[0]?.send('GET', 'playlist');
      clock.advance(5000);
      await watched.sees(/30 screens: 1 failing, 29 unconfirmed\./);
      await watched.interrupt();
      expect(watched.seen().join('\n')).toMatch(/^30 screens: 1 failing, 29 unconfirmed\. Ctrl-C/m);
      expect(watched.seen().join('\n')).not.toContain('CONDITION');
    },
  );

  it('signage status --watch has no colour with NO_COLOR, and exits with 2 on a dumb terminal', async () => {
    const plain = await sitDown(['status', '--watch'], { env: { ...env, NO_COLOR: '1' } });
    await plain.sees(/30 screens/);
    await plain.interrupt();
    expect(plain.io.err()).not.toContain('\u001b[31m');
    const dumb = await sitDown(['status', '--watch'], { env: { ...env, TERM: 'dumb' } });
    expect(await dumb.ended).toBe(2);
  });
});
