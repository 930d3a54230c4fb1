// signage audit list.
import { beforeAll, describe, expect, it } from 'vitest';
import type { ManualClock } from '../support/manual-clock.ts';
import { adminToken, startService, type TestService } from '../support/service.ts';
import { type Cli, cliOf } from './run-cli.ts';

let service: TestService<ManualClock>;
let cli: Cli;
let screen: { id: string; name: string };
let deviceId: string;
beforeAll(async () => {
  service = await startService();
  cli = cliOf(service, adminToken);
  screen = await service.screen({ name: 'Main' });
  await service.clock.advance(60_000);
  ({ deviceId } = await service.tv(screen.id));
  await service.clock.advance(60_000);
  await service.manage('POST', `/v1/devices/${deviceId}/revoke`, { reason: 'stolen' });
});

const actions = async (...args: string[]) => {
  const { stdout } = await cli(['audit', 'list', '-o', 'json', '--jq', '.[].action', ...args], {
    clock: service.clock,
  });
  return stdout.split('\n').slice(0, -1);
};

describe('signage audit list', () => {
  it('lists all changes, newest first', async () => {
    const { items } = (await service.manage('GET', '/v1/audit?limit=200')).body;
    const run = await cli(['audit', 'list', '-o', 'json']);
    expect(run).toMatchObject({ code: 0, json: items, stderr: '' });
    expect(run.json[0]).toMatchObject({
      action: 'device.revoke',
      subject: { kind: 'device', id: deviceId },
    });
  });

  it('shows actor, action, subject and reason in the table', async () => {
    const { stdout } = await cli(['audit', 'list', '--limit', '1']);
    expect(stdout).toMatch(/^AT +ACTOR +ACTION +SUBJECT +DETAILS\n/);
    expect(stdout).toMatch(
      new RegExp(`token \\S.* +device\\.revoke +device ${deviceId} +.*reason=stolen`),
    );
    const [line] = (await cli(['audit', 'list', '--action', 'device.register'])).stdout
      .split('\n')
      .slice(1);
    expect(line).toContain(`device ${deviceId}`);
    expect(stdout + line).not.toMatch(/object Object|undefined/);
  });

  it('filters by action, subject and time', async () => {
    expect(await actions('--action', 'device.revoke')).toEqual(['device.revoke']);
    expect(await actions('--subject', screen.id)).toEqual(['code.create', 'screen.create']);
    expect(await actions('--since', '90s')).not.toContain('screen.create');
    expect(await actions('--since', '30s')).toEqual(['device.revoke']);
    expect(await actions('--until', '90s')).toContain('screen.create');
    expect(await actions('--until', '90s')).not.toContain('device.register');
    expect(await actions('--since', '2001-01-01', '--until', '2001-01-02')).toEqual([]);
  });

  it.each([80, 60])('fits a terminal of %i columns, with relative times', async (columns) => {
    const { stdout } = await cli(['audit', 'list'], {
      tty: true,
      columns,
      env: { NO_COLOR: '1' },
    });
    const lines = stdout.split('\n').slice(0, -1);
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    expect(lines[1]).toMatch(/^\d+ (?:s|min|h|d) ago /);
    const wide = await cli(['audit', 'list', '-o', 'wide'], {
      tty: true,
      columns,
      env: { NO_COLOR: '1' },
    });
    expect(wide.stdout).toContain(deviceId);
    expect(wide.stdout).not.toContain('…');
  });

  it('2 when --since is after --until, and says on stderr that nothing matches', async () => {
    const run = await cli(['audit', 'list', '--since', '2026-05-02', '--until', '2026-05-01']);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('--since must be before --until');
    const none = ['audit', 'list', '--since', '2001-01-01', '--until', '2001-01-02'];
    expect(await cli(none)).toMatchObject({ code: 0, stdout: '', stderr: 'Nothing found.\n' });
  });

  it('2 for an invalid time, 6 for a subject that is not an id, 4 for an insufficient role', async () => {
    expect((await cli(['audit', 'list', '--since', 'yesterday'])).code).toBe(2);
    expect((await cli(['audit', 'list', '--subject', 'Main'])).code).toBe(6);
    expect((await cliOf(service, await service.token('operator'))(['audit', 'list'])).code).toBe(4);
  });
});
