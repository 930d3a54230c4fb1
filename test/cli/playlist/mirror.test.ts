import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mirrorFinding } from '../../../src/cli/commands/doctor/service-checks.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { item } from '../../support/service/content.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { type Cli, cliOf } from '../run-cli.ts';

let service: TestService<typeof systemClock>;
let cli: Cli;
let folder: string;
let screens: { id: string }[];

const publish = (id: string) =>
  service.manage('PUT', `/v1/screens/${id}/playlist`, { items: [item()] });
const copies = async () => {
  const [tenant] = await readdir(folder);
  return join(folder, tenant!, 'playlists');
};
const lose = async (number: number) => rm(join(await copies(), `${screens[number]!.id}.json`));
const mirror = (...argv: string[]) => cli(['playlist', 'mirror', ...argv]);

async function settled(): Promise<void> {
  await expect
    .poll(
      async () =>
        (await service.manage('GET', '/v1/mirror')).body.items.map(
          (one: { queuedAt: unknown }) => one.queuedAt,
        ),
      {
        interval: 5,
      },
    )
    .toEqual([null, null, null]);
}

beforeAll(async () => {
  folder = join(await temporaryFolder(), 'mirror');
  service = await startService({ clock: systemClock, objectStore: pathToFileURL(folder).href });
  cli = cliOf(service, adminToken);
  const { id: venueId } = await service.venue({ name: 'Lobby' });
  screens = [];
  for (const name of ['A', 'B', 'C']) screens.push(await service.screen({ venueId, name }));
});

beforeEach(async () => {
  for (const { id } of screens) await publish(id);
  await settled();
});

describe('signage playlist mirror', () => {
  it('0 with a table when every copy matches', async () => {
    await service.manage('DELETE', `/v1/screens/${screens[2]!.id}/playlist`);
    await settled();
    const { code, stdout, stderr } = await mirror();
    expect(code).toBe(0);
    expect(
      stdout
        .split('\n')
        .slice(0, 4)
        .map((line) => line.trim().split(/ {2,}/).join('|')),
    ).toEqual([
      'VENUE|SCREEN|VERSION|COPIED VERSION|STATE|QUEUED AT',
      expect.stringMatching(/^Lobby\|A\|\d+\|\d+\|ok\|-$/),
      expect.stringMatching(/^Lobby\|B\|\d+\|\d+\|ok\|-$/),
      expect.stringMatching(/^Lobby\|C\|\d+\|\d+\|tombstone\|-$/),
    ]);
    expect(stderr).toBe('All copies match the service: 3 screens.\n');
  });

  it('9 when a copy differs, with the next command', async () => {
    await lose(1);
    const { code, json, stderr } = await mirror('-o', 'json');
    expect(code).toBe(9);
    expect(json.map((one: { state: string }) => one.state)).toEqual(['ok', 'missing', 'ok']);
    expect(stderr).toBe('Of 3 screens, 1 differs. To repair: signage playlist mirror --repair\n');
  });

  it('checks by default, and changes nothing', async () => {
    await lose(1);
    expect((await mirror()).code).toBe(9);
    expect((await readdir(await copies())).length).toBe(2);
  });

  it('filters by state and venue', async () => {
    await lose(1);
    expect(await mirror('--state', 'missing', '-o', 'name')).toMatchObject({
      code: 9,
      stdout: 'Lobby/B\n',
    });
    expect(await mirror('--state', 'ok', '--venue', 'Lobby', '-o', 'name')).toMatchObject({
      code: 0,
      stdout: 'Lobby/A\nLobby/C\n',
    });
    expect(await mirror('--limit', '1', '-o', 'name')).toMatchObject({
      code: 0,
      stdout: 'Lobby/A\n',
    });
    expect((await mirror('--venue', 'Nowhere')).code).toBe(3);
  });

  it('7 when the object store is unreachable', async () => {
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    const { code, stderr } = await cli(['playlist', 'mirror'], { env: {} });
    expect(code).toBe(7);
    expect(stderr).toContain('The object store is unavailable');
    await rm(folder);
  });
});

describe('signage playlist mirror --repair', () => {
  it('repairs the copies that differ', async () => {
    await lose(0);
    const { code, json, stderr } = await mirror('--repair', '-o', 'json');
    expect([code, json]).toEqual([0, { queued: 3 }]);
    expect(stderr).toBe(
      '3 screens queued for repair. To see the result: signage playlist mirror\n',
    );
    await settled();
    expect((await mirror()).code).toBe(0);
  });
});

describe('signage doctor', () => {
  const finding = async () => {
    const { stdout } = await cli(['doctor', '-o', 'json']);
    return JSON.parse(stdout).find(({ check }: { check: string }) => check === 'mirror');
  };

  it('reports that all playlists are copied', async () => {
    expect(await finding()).toEqual({
      check: 'mirror',
      status: 'ok',
      detail: 'All playlists are copied to the object store.',
      next: null,
    });
  });

  it('warns of late copies', () => {
    const now = Date.UTC(2026, 10, 20, 12);
    const line = (minutes: number) => ({
      status: 'ok',
      pending: 2,
      oldest: new Date(now - minutes * 60_000).toISOString(),
    });
    const late =
      '2 playlists are not copied to the object store yet, the oldest since 2026-11-20T11:54:00Z (6 min ago).';
    expect(mirrorFinding(line(6), now)).toMatchObject({ status: 'warn', detail: late });
    expect(mirrorFinding(line(1), now)).toMatchObject({ status: 'ok' });
  });

  it('reports pending copies and their age', async () => {
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    await publish(screens[0]!.id);
    const detail = expect.stringMatching(
      /^1 playlist is not copied to the object store yet, the oldest since .+ ago\): copying fails/,
    );
    await expect.poll(finding).toEqual({ check: 'mirror', status: 'warn', detail, next: null });
    await rm(folder);
  });
});
