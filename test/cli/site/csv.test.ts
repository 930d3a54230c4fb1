// Screens from a spreadsheet: signage apply -f screens.csv.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Cli, startCli } from '../run-cli.ts';

let service: TestService<Clock>;
let cli: Cli;
let folder: string;
beforeEach(async () => {
  ({ service, cli } = await startCli());
  folder = await temporaryFolder();
});

async function csv(text: string, name = 'screens.csv'): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}
const apply = async (text: string, ...more: string[]) =>
  cli(['apply', '-f', await csv(text), '-o', 'json', ...more]);
const list = async (path: string) => (await service.manage('GET', path)).body.items;
const screenNamed = async (name: string) =>
  (await list('/v1/screens')).find((one: { name: string }) => one.name === name);

describe('signage apply -f screens.csv', () => {
  it('creates venues and screens with labels, configs and playlists', async () => {
    await mkdir(join(folder, 'playlists'));
    const item = {
      creativeId: 'c1a0e5d2-47b3-4c68-9f2a-000000000501',
      creativeUrl: 'https://media.example.com/1.jpg',
      creativeType: 'image',
      duration: 10,
    };
    await writeFile(join(folder, 'playlists/menu.json'), JSON.stringify({ items: [item] }));
    const run = await apply(
      'venue,name,address,timezone,labels,label.wing,config.cachePolicy.maxSizeGB,playlist\r\n' +
        'Lobby,Main,"1 Main Street, Berlin",Europe/Berlin,"floor=2, role=menu",east,4,playlists/menu.json\r\n' +
        'Lobby,Side,,,,west,,\r\n' +
        'Empty,,,Europe/London,,,,\r\n',
    );
    expect(run).toMatchObject({ code: 0, stderr: 'Applied 4 records: 4 created.\n' });
    const [lobby] = (await list('/v1/venues')).filter(
      (one: { name: string }) => one.name === 'Lobby',
    );
    expect(lobby).toMatchObject({ address: '1 Main Street, Berlin', timezone: 'Europe/Berlin' });
    const main = await screenNamed('Main');
    expect(main.labels).toEqual({ floor: '2', role: 'menu', wing: 'east' });
    expect((await screenNamed('Side')).labels).toEqual({ wing: 'west' });
    const config = await service.manage('GET', `/v1/screens/${main.id}/config`);
    expect(config.body).toEqual({ cachePolicy: { maxSizeGB: 4 } });
    const playlist = await service.manage('GET', `/v1/screens/${main.id}/playlist`);
    expect(playlist.body.items).toMatchObject([item]);
  });

  it('changes nothing with the output of screen list -o csv, also where it protects formulas', async () => {
    const { id: venueId } = await service.venue({ name: "'=Lobby" });
    for (const name of ['=1+1', '+Bar', "''-x", 'Größe, "7"', "'quoted'"])
      await service.screen({ venueId, name, labels: { note: '@home, or not', floor: '-1' } });
    const written = await cli(['screen', 'list', '-o', 'csv']);
    expect(written.stdout).toContain("'=1+1");
    const run = await apply(written.stdout);
    expect(run).toMatchObject({ code: 0, stderr: 'Nothing to change: 6 records compared.\n' });
  });

  it.each([
    ['semicolons', 'venue;name;label.floor\nLobby;Main;2\n'],
    ['tabs', 'venue\tname\tlabel.floor\nLobby\tMain\t2\n'],
    ['a byte order mark and empty lines', '\ufeffvenue,name,label.floor\n\nLobby,Main,2\n\n'],
  ])('reads a file with %s', async (_, text) => {
    expect((await apply(text)).code).toBe(0);
    expect((await screenNamed('Main')).labels).toEqual({ floor: '2' });
  });

  it('keeps what empty cells and missing columns do not name', async () => {
    const { id: venueId } = await service.venue({ name: 'Lobby', address: 'Here' });
    await service.screen({ venueId, name: 'Main', labels: { floor: '2' } });
    const run = await apply('venue,name,address,labels\nLobby,Main,,\n');
    expect(run.stderr).toBe('Nothing to change: 2 records compared.\n');
  });

  it('recognizes CSV by its content on stdin and in a file of another name', async () => {
    for (const [name, header] of [
      ['First', 'venue,name'],
      ['Second', '\ufeffname;"venue";labels'],
    ]) {
      const line = header?.startsWith('venue') ? `Lobby,${name}` : `${name};Lobby;floor=1`;
      const run = await cli(['apply', '-f', '-'], { stdin: `${header}\r\n${line}\r\n` });
      expect(run.code, run.stderr).toBe(0);
      expect(await screenNamed(name ?? '')).toBeDefined();
    }
    const file = await csv('venue\tname\nLobby\tThird\n', 'screens.txt');
    expect((await cli(['apply', '-f', file])).code).toBe(0);
  });
});
