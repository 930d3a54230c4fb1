// `signage status` and the other reports, as built, in a real terminal of 80 and of 60 columns.
import { beforeAll, describe, expect, it } from 'vitest';
import { item } from '../support/content.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { adminToken, type BoundTv, startService, type TestService } from '../support/service.ts';
import { openTerminal } from '../support/signage-terminal.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const sizes: [columns: number, rows: number][] = [
  [80, 24],
  [60, 20],
];

// `script` of other systems is another program: there these tests cannot run.
describe.skipIf(process.platform !== 'linux')(
  'reports in a real terminal (Linux only: script of util-linux)',
  { timeout: 60_000 },
  () => {
    let service: TestService;
    let env: Record<string, string>;
    let tvs: BoundTv[];
    const call = (tv: BoundTv | undefined) => tv?.send('GET', 'playlist', { key: tv.apiKey });

    const darkenFirst = async () => {
      service.clock.advance(12 * 60_000);
      for (const tv of tvs.slice(1)) await call(tv);
    };

    beforeAll(async () => {
      service = await startService({ clock: new ManualClock(Date.now()) });
      env = {
        XDG_CONFIG_HOME: await temporaryFolder(),
        SIGNAGE_URL: service.url,
        SIGNAGE_TOKEN: adminToken,
      };
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
      await tvs[1]?.send('POST', 'events', { key: tvs[1].apiKey, body: [event] });
    });

    it.each(sizes)('no line wraps at %i columns', async (...size) => {
      for (const argv of [['status'], ['audit', 'list', '--limit', '5'], ['device', 'list']]) {
        const terminal = openTerminal(argv, env, size);
        expect(await terminal.ended).toBe(argv[0] === 'status' ? 9 : 0);
        const lines = terminal.seen().split('\n');
        expect(lines[0]).toMatch(/^[A-Z]/);
        for (const line of lines.slice(1)) expect(line).toMatch(/^(?:\S|$)/);
        expect(lines.filter((line) => line.length > size[0])).toEqual([]);
      }
    });

    it.each(sizes)('--watch at %i columns redraws in place, until Ctrl-C', async (...size) => {
      await darkenFirst();
      const terminal = openTerminal(['status', '--watch'], env, size);
      await terminal.until(/30 screens: 1 dark, 29 ok\. Ctrl-C ends\.\nSTATUS +SCREEN/);
      await terminal.until(/… and \d+ more screens/);
      const [columns, rows] = size;
      const lines = terminal.seen().split('\n').slice(0, -1);
      expect(lines.length).toBeLessThan(rows);
      for (const line of lines) expect(line.length).toBeLessThan(columns);
      expect(terminal.written()).toContain('\u001b[31m');
      await call(tvs[0]);
      await terminal.until(/30 screens: 30 ok\./);
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
      expect(terminal.seen()).toMatch(/^30 screens: 30 ok\. Ctrl-C ends\.$/m);
      expect(terminal.seen()).not.toContain('SCREEN');
    });

    it('--watch has no colour with NO_COLOR, and exits with 2 on a dumb terminal', async () => {
      const plain = openTerminal(['status', '--watch'], { ...env, NO_COLOR: '1' });
      await plain.until(/30 screens/);
      plain.type('\u0003');
      expect(await plain.ended).toBe(130);
      expect(plain.written()).not.toContain('\u001b[31m');
      const dumb = openTerminal(['status', '--watch'], { ...env, TERM: 'dumb' });
      expect(await dumb.ended).toBe(2);
    });
  },
);
