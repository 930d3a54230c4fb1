// Screens from a spreadsheet: signage apply -f screens.csv.
import { expect, it } from 'vitest';
import { readSite } from '../../../src/cli/site/read-site.ts';
import { fakeIo } from '../../support/process/fake-io.ts';
import { startCli } from '../run-cli.ts';

it.each([
  ['commas', 'venue,name,label.floor\nLobby,Main,2\n'],
  ['semicolons', 'venue;name;label.floor\nLobby;Main;2\n'],
  ['tabs', 'venue\tname\tlabel.floor\nLobby\tMain\t2\n'],
  ['lines of Windows', 'venue,name,label.floor\r\nLobby,Main,2\r\n'],
  ['quotes and other columns first', 'name;"venue";label.floor\nMain;Lobby;2\n'],
  ['a byte order mark and empty lines', '\ufeffvenue,name,label.floor\n\nLobby,Main,2\n\n'],
])('readSite recognizes CSV with %s on stdin', async (_, stdin) => {
  const { venues } = await readSite(fakeIo({ stdin }), ['-'], { allowOutside: false });
  expect(venues).toMatchObject([
    { name: 'Lobby', screens: [{ name: 'Main', labels: { floor: '2' } }] },
  ]);
});

it('signage apply changes nothing with the output of screen list -o csv, also where it protects formulas', async () => {
  const { service, cli } = await startCli();
  const { id: venueId } = await service.venue({ name: "'=Lobby" });
  for (const name of ['=1+1', '+Bar', "''-x", 'Größe, "7"', "'quoted'"])
    await service.screen({ venueId, name, labels: { note: '@home, or not', floor: '-1' } });
  const { stdout } = await cli(['screen', 'list', '-o', 'csv']);
  expect(stdout).toContain("'=1+1");
  const run = await cli(['apply', '-f', '-'], { stdin: stdout });
  expect(run).toMatchObject({ code: 0, stderr: 'Nothing to change: 6 records compared.\n' });
});
