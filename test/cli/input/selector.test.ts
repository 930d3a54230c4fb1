// --selector of signage screen list and device list.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Cli, startCli } from '../run-cli.ts';

let cli: Cli;
const deviceOf: Record<string, string> = {};

beforeAll(async () => {
  const started = await startCli();
  ({ cli } = started);
  const { service } = started;
  const north = (await service.venue({ name: 'North', labels: { city: 'Accra' } })).id;
  const south = (await service.venue({ name: 'South', labels: { city: 'Kumasi' } })).id;
  const places: [string, string, object][] = [
    [north, 'Menu', { role: 'menu', floor: '1' }],
    [north, 'Wall', { role: 'wall', beta: '' }],
    [south, 'Menu', { role: 'menu', note: 'a (b)' }],
  ];
  for (const [venueId, name, labels] of places) {
    const { id } = await service.screen({ venueId, name, labels });
    deviceOf[`${venueId === north ? 'North' : 'South'}/${name}`] = (await service.tv(id)).deviceId;
  }
});

const lines = ({ code, stdout, stderr }: Awaited<ReturnType<Cli>>) => {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').slice(0, -1).toSorted();
};

describe('--selector', () => {
  it.each<[string[], string[]]>([
    [['role=menu'], ['North/Menu', 'South/Menu']],
    [['role=menu,venue:city in (Accra,Tamale)'], ['North/Menu']],
    [['!floor', 'role!=wall'], ['South/Menu']],
    [['note=a (b)'], ['South/Menu']],
    [['role=nothing'], []],
  ])('--selector %j lists screens and their devices', async (selectors, names) => {
    const flags = selectors.flatMap((one) => ['--selector', one]);
    expect(lines(await cli(['screen', 'list', '-o', 'name', ...flags]))).toEqual(names);
    expect(lines(await cli(['device', 'list', '-o', 'name', ...flags]))).toEqual(
      names.map((name) => deviceOf[name]).toSorted(),
    );
  });

  it('narrows with --venue and --state, and ends at --limit', async () => {
    const list = ['list', '--venue', 'north', '--selector', 'role', '-o', 'json'];
    expect((await cli(['screen', ...list, '--state', 'active'])).json).toHaveLength(2);
    expect((await cli(['screen', ...list, '--state', 'provisioning'])).json).toEqual([]);
    expect((await cli(['device', ...list, '--limit', '1'])).json).toHaveLength(1);
  });

  it('selects the screens to change', async () => {
    const update = ['screen', 'update', '--selector', 'role in (menu),venue:city=Kumasi'];
    const { code, ndjson } = await cli([...update, '--label', 'x=y', '--dry-run', '-o', 'ndjson']);
    expect(code).toBe(0);
    expect(ndjson).toMatchObject([{ method: 'PATCH' }]);
  });
});
