import { beforeAll, describe, expect, it } from 'vitest';
import { type Cli, startCli } from './run-cli.ts';

let cli: Cli;
let ids: Record<string, string>;

beforeAll(async () => {
  const started = await startCli();
  cli = await started.as('viewer');
  const { service } = started;
  const lobby = (await service.venue({ name: 'Lobby' })).id;
  const annex = (await service.venue({ name: 'Annex' })).id;
  const main = await service.screen({
    venueId: lobby,
    name: 'Main',
    labels: { floor: '1', side: 'a:b' },
  });
  const rear = await service.screen({ venueId: lobby, name: 'Rear', labels: { floor: '2' } });
  const other = await service.screen({ venueId: annex, name: 'Main', labels: { floor: '1' } });
  const tv = await service.tv(main.id);
  await service.code(rear.id);
  ids = { main: main.id, rear: rear.id, other: other.id, lobby, annex, device: tv.deviceId };
});

const names = async (...argv: string[]) => {
  const { code, stdout, stderr } = await cli(['screen', 'list', '-o', 'name', ...argv]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').slice(0, -1).toSorted();
};

describe('signage screen list', () => {
  it('prints full names that commands accept', async () => {
    expect(await names()).toEqual(['Annex/Main', 'Lobby/Main', 'Lobby/Rear']);
    const { code } = await cli(['screen', 'list', '--venue', 'Annex', '-o', 'name', '--verbose']);
    expect(code).toBe(0);
  });

  it.each<[string[], string[]]>([
    [
      ['--venue', 'lobby'],
      ['Lobby/Main', 'Lobby/Rear'],
    ],
    [['--state', 'active'], ['Lobby/Main']],
    [
      ['--label', 'floor=1'],
      ['Annex/Main', 'Lobby/Main'],
    ],
    [['--label', 'floor=1', '--label', 'side=a:b'], ['Lobby/Main']],
    [['--search', 'rea'], ['Lobby/Rear']],
    [['--search', 'nothing'], []],
  ])('%j finds %j', async (argv, found) => expect(await names(...argv)).toEqual(found));

  it('prints a table', async () => {
    const { stdout } = await cli(['screen', 'list', '--venue', 'Lobby']);
    expect(stdout).toBe(
      'VENUE  NAME  STATE         CODE     LABELS\n' +
        'Lobby  Main  active        used     floor=1, side=a:b\n' +
        'Lobby  Rear  provisioning  pending  floor=2\n',
    );
  });

  it('shows all columns with -o wide and in CSV', async () => {
    const wide = await cli(['screen', 'list', '--venue', 'Lobby', '-o', 'wide']);
    expect(wide.stdout).toContain(ids.device);
    const { stdout } = await cli(['screen', 'list', '--venue', 'Lobby', '-o', 'csv']);
    expect(stdout.split('\r\n')[1]).toMatch(
      new RegExp(
        `^Lobby,Main,active,used,"floor=1, side=a:b",${ids.device},${ids.main},${ids.lobby},`,
      ),
    );
  });

  it('does not read venues when the format does not show them', async () => {
    const { stderr, ndjson } = await cli(['screen', 'list', '-o', 'ndjson', '--verbose']);
    expect(stderr.split('\n')).toHaveLength(2);
    expect(ndjson.map(({ id }) => id).toSorted()).toEqual(
      [ids.main, ids.rear, ids.other].toSorted(),
    );
  });

  it('3 for an unknown venue, 2 for an unknown state', async () => {
    expect((await cli(['screen', 'list', '--venue', 'Nowhere'])).code).toBe(3);
    const { code, stderr } = await cli(['screen', 'list', '--state', 'broken']);
    expect(code).toBe(2);
    expect(stderr).toContain('provisioning, active');
  });
});
