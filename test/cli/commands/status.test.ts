import { beforeEach, describe, expect, it } from 'vitest';
import { item } from '../../support/management.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { adminToken, type BoundTv, startService, type TestService } from '../../support/service.ts';
import { json, stubService } from '../../support/stub-service.ts';
import { type Cli, cliOf } from '../run-cli.ts';

const minuteMs = 60_000;
const esc = '\u001b[';

describe('signage status', () => {
  let clock: ManualClock;
  let service: TestService;
  let cli: Cli;
  let tvs: BoundTv[];
  const start = async () => {
    clock = new ManualClock();
    service = await startService({ clock });
    const plain = cliOf(service, adminToken);
    cli = (argv, more) => plain(argv, { clock, ...more });
    const venue = await service.venue({ name: 'Lobby' });
    tvs = [];
    for (const [name, role] of [
      ['Left', 'menu'],
      ['Mid', 'menu'],
      ['Right', 'wall'],
    ] as const) {
      const screen = await service.screen({ venueId: venue.id, name, labels: { role } });
      await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item()] });
      tvs.push(await service.tv(screen.id));
    }
  };
  beforeEach(start);
  const call = (tv: BoundTv | undefined) => tv?.send('GET', 'playlist', { key: tv.apiKey });
  const statuses = (run: { json: { name: string; status: string }[] }) =>
    run.json.map(({ name, status }) => `${name} ${status}`);

  it('0 when no screen is dark', async () => {
    const run = await cli(['status', '-o', 'json']);
    expect(statuses(run)).toEqual(['Lobby/Left ok', 'Lobby/Mid ok', 'Lobby/Right ok']);
    expect(run).toMatchObject({ code: 0, stderr: '3 screens: 3 ok.\n' });
  });

  it('9 when one is dark, which comes first with darkSince and its playlist version', async () => {
    await call(tvs[1]);
    const since = new Date(clock.now()).toISOString();
    clock.advance(9 * minuteMs);
    for (const tv of [tvs[0], tvs[2]]) await call(tv);
    clock.advance(3 * minuteMs);
    const run = await cli(['status', '-o', 'json']);
    expect(statuses(run)).toEqual(['Lobby/Mid dark', 'Lobby/Left ok', 'Lobby/Right ok']);
    expect(run.json[0]).toMatchObject({
      darkSince: since,
      screen: { id: tvs[1]?.screenId },
      device: { id: tvs[1]?.deviceId, lastPlaylistVersion: 1 },
      playlist: { version: 1, status: 'active' },
    });
    expect(run).toMatchObject({ code: 9, stderr: '3 screens: 1 dark, 2 ok.\n' });
    expect((await cli(['status'])).stdout).toMatch(/^dark {4}Lobby\/Mid {4}12 min ago +1 +1 +-$/m);
  });

  it('9 when all are dark, the longest first', async () => {
    clock.advance(minuteMs);
    await call(tvs[0]);
    clock.advance(60 * minuteMs);
    const run = await cli(['status', '-o', 'json']);
    expect(statuses(run)).toEqual(['Lobby/Mid dark', 'Lobby/Right dark', 'Lobby/Left dark']);
    expect(run.code).toBe(9);
  });

  it('judges by --dark-after instead, and by the clock of the service', async () => {
    clock.advance(20 * minuteMs);
    const skewed = new ManualClock(clock.now() + 5 * 60 * minuteMs);
    const judge = (time: string) => cli(['status', '--dark-after', time], { clock: skewed });
    expect((await judge('30m')).code).toBe(0);
    expect((await judge('10m')).code).toBe(9);
    expect((await judge('1h')).stdout).toContain('20 min ago');
    expect((await judge('soon')).code).toBe(2);
  });

  it('shows TVs without the newest playlist, and screens without a TV, before the others', async () => {
    const { venueId } = tvs[0] as BoundTv;
    await service.screen({ venueId, name: 'Empty' });
    for (const tv of tvs) await call(tv);
    await service.manage('DELETE', `/v1/screens/${tvs[2]?.screenId}/playlist`);
    await call(tvs[2]);
    const publication = { items: [item()], validUntil: 4_102_444_800 };
    await service.manage('PUT', `/v1/screens/${tvs[1]?.screenId}/playlist`, publication);
    clock.advance(16 * minuteMs);
    for (const tv of tvs) await tv.send('GET', 'config', { key: tv.apiKey });
    const run = await cli(['status', '-o', 'json']);
    expect(statuses(run)).toEqual([
      'Lobby/Right failing',
      'Lobby/Mid failing',
      'Lobby/Empty unpaired',
      'Lobby/Left ok',
    ]);
    expect(run.json[0].lastError.text).toBe('there was no playlist');
    expect(run.code).toBe(0);
  });

  it('shows the playback errors of the last hour', async () => {
    const event = { type: 'playback_error', timestamp: 1_760_000_000, message: 'no \u001b[2J' };
    await tvs[2]?.send('POST', 'events', { key: tvs[2].apiKey, body: [event] });
    clock.advance(3 * minuteMs);
    const run = await cli(['status']);
    expect(run.stdout).toContain('no \\u001b[2J, 3 min ago\n');
    expect(run.stdout.split('\n')[1]).toContain('Lobby/Right');
  });

  it('takes a venue and a selector, and 3 when nothing matches', async () => {
    const named = async (...argv: string[]) => {
      const { stdout } = await cli(['status', '-o', 'name', ...argv]);
      return stdout.split('\n').slice(0, -1);
    };
    expect(await named('--selector', 'role=menu')).toEqual(['Lobby/Left', 'Lobby/Mid']);
    expect(await named('--venue', 'Lobby', '--limit', '1')).toEqual(['Lobby/Left']);
    const run = await cli(['status', '--selector', 'flor=0']);
    expect(run).toMatchObject({ code: 3, stdout: '' });
    expect(run.stderr).toContain('No screen matches');
    expect((await cli(['status', '--venue', 'Loby'])).code).toBe(3);
    expect((await cli(['status', '--selector', 'role in menu'])).code).toBe(2);
  });

  it('says what to do with a service that does not know the status', async () => {
    const stub = await stubService(
      json(404, { code: 'not_found', detail: 'There is nothing at this path.', status: 404 }),
    );
    const run = await cliOf(stub, adminToken)(['status']);
    expect(run.code).toBe(3);
    expect(run.stderr).toContain('earlier version');
  });

  it.each([80, 60])('fits a terminal of %i columns', async (columns) => {
    const { venueId } = tvs[0] as BoundTv;
    await service.screen({ venueId, name: 'A very long name of a screen beside the escalator' });
    const event = { type: 'playback_error', timestamp: 1_760_000_000, message: 'no '.repeat(80) };
    await tvs[2]?.send('POST', 'events', { key: tvs[2].apiKey, body: [event] });
    const { stdout } = await cli(['status'], { tty: true, columns, env: { NO_COLOR: '1' } });
    const lines = stdout.split('\n').slice(0, -1);
    expect(lines).toHaveLength(5);
    expect(stdout).not.toContain(esc);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    expect(stdout).toContain('…');
  });

  it('--watch needs a terminal', async () => {
    expect((await cli(['status', '--watch'])).code).toBe(2);
    expect((await cli(['status', '--watch', '-o', 'json'], { tty: true })).code).toBe(2);
  });
});
