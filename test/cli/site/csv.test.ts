// Screens from a spreadsheet: signage apply -f screens.csv.
import { describe, expect, it } from 'vitest';
import { originalOf } from '../../../src/cli/commands/site/garbled-text.ts';
import { readSite } from '../../../src/cli/commands/site/read-site.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { fakeIo } from '../../support/process/fake-io.ts';
import { mediaReading } from '../../support/process/media-reading.ts';
import { startCli } from '../run-cli.ts';

it.each([
  ['commas', 'venue,name,label.floor\nLobby,Main,2\n'],
  ['semicolons', 'venue;name;label.floor\nLobby;Main;2\n'],
  ['tabs', 'venue\tname\tlabel.floor\nLobby\tMain\t2\n'],
  ['lines of Windows', 'venue,name,label.floor\r\nLobby,Main,2\r\n'],
  ['quotes and other columns first', 'name;"venue";label.floor\nMain;Lobby;2\n'],
  ['a byte order mark and empty lines', '\ufeffvenue,name,label.floor\n\nLobby,Main,2\n\n'],
  ['rows without content', 'venue;name;label.floor\r\n;;\r\nLobby;Main;2\r\n; ;\r\n'],
  ['columns without content', 'venue;name;label.floor;;\r\nLobby;Main;2;;\r\n'],
  ['line ends that were converted twice', 'venue,name,label.floor\r\r\nLobby,Main,2\r\r\n'],
  ['the separator in its first line', 'sep=;\r\nvenue;name;label.floor\r\nLobby;Main;2\r\n'],
  ['headers in capitals', 'Venue,NAME,Label.floor\nLobby,Main,2\n'],
  ['another separator in quotes', 'venue;name;label.floor;"label.a,b,c,d"\nLobby;Main;2;\n'],
])('readSite recognizes CSV with %s on stdin', async (_, stdin) => {
  const { venues } = await readSite(
    { ...mediaReading, io: fakeIo({ stdin }), clock: systemClock },
    ['-'],
    {
      allowOutside: false,
    },
  );
  expect(venues).toMatchObject([
    { name: 'Lobby', screens: [{ name: 'Main', labels: { floor: '2' } }] },
  ]);
});

it('readSite reads booleans of settings in any case, and labels as text', async () => {
  const stdin = 'venue;name;label.lit;config.a;config.b.c\nLobby;Main;TRUE;TRUE;False\n';
  const { venues } = await readSite(
    { ...mediaReading, io: fakeIo({ stdin }), clock: systemClock },
    ['-'],
    {
      allowOutside: false,
    },
  );
  expect(venues[0]?.screens).toMatchObject([
    { labels: { lit: 'TRUE' }, config: { a: true, b: { c: false } } },
  ]);
});

it.each([
  ['CRLF', '\r\n'],
  ['LF', '\n'],
  ['CR CR LF', '\r\r\n'],
])(
  'readSite names the first line of a record whose cells have lines that end in %s',
  async (_, end) => {
    const lines = [
      'sep=,',
      'venue,name,address,timezone',
      '',
      'X,S,"1',
      '2',
      '3",Mars',
      'Y,S,,Mars',
      '',
    ];
    const { stdin } = { stdin: lines.join(end) };
    await expect(
      readSite({ ...mediaReading, io: fakeIo({ stdin }), clock: systemClock }, ['-'], {
        allowOutside: false,
      }),
    ).rejects.toMatchObject({
      errors: [{ path: 'stdin, line 4: timezone' }, { path: 'stdin, line 7: timezone' }],
    });
  },
);

it.each([
  ['a: 1,"2', 'a quotation mark is not closed'],
  ['a,1"2', 'a quotation mark is inside a cell'],
])('readSite names the line of a record with a wrong quotation mark: %s', async (row, mistake) => {
  const stdin = `venue,name\r\n"X\r\nY",S\r\n${row}\r\nB,T\r\n`;
  await expect(
    readSite({ ...mediaReading, io: fakeIo({ stdin }), clock: systemClock }, ['-'], {
      allowOutside: false,
    }),
  ).rejects.toThrow(`stdin, line 4: is not valid CSV: ${mistake}`);
});

describe('originalOf', () => {
  it.each([
    ['CafÃ©', 'Café'],
    ['StraÃŸe 1, KÃ¶ln', 'Straße 1, Köln'],
    ['Joeâ€™s', 'Joe’s'],
    ['5 â‚¬', '5 €'],
  ])('repairs %s', (text, original) => expect(originalOf(text)).toBe(original));

  it.each(['Café', 'Straße', 'Ñandú', '«MENÜ»', 'naïve', '東京', 'Łódź', '5 €', 'Ä Ö', '🙂'])(
    'accepts %s',
    (text) => expect(originalOf(text)).toBeUndefined(),
  );
});

it('signage apply warns of texts in a wrong encoding, which --bom avoids', async () => {
  const { service, cli } = await startCli();
  await service.venue({ name: 'Café' });
  const stdin = 'venue,name,label.city\nCafÃ©,S,KÃ¶ln\n';
  const { stderr } = await cli('diff -f -', { stdin });
  expect(stderr).toContain('Warning: "CafÃ©" looks like "Café" in a wrong encoding (and 1 more).');
  const list = await cli('venue list -o csv --bom --fields name');
  expect(list.stdout).toBe('\ufeffname\r\nCafé\r\n');
  expect(await cli('venue list --bom')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--bom works with -o csv, not with table.'),
  });
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

it('signage diff finds no difference in the output for spreadsheets of another country', async () => {
  const { service, cli } = await startCli();
  const { id: venueId } = await service.venue({ name: 'Lobby; rear' });
  await service.screen({ venueId, name: 'A', labels: { note: 'x;y', size: '1.5', more: '1,5' } });
  for (const flags of [
    ['--separator', ';'],
    ['--separator', 'tab'],
    ['--decimal-comma', '--bom'],
  ]) {
    const { stdout } = await cli(['screen', 'list', '-o', 'csv', ...flags]);
    const run = await cli(['diff', '-f', '-'], { stdin: stdout });
    expect(run).toMatchObject({ code: 0, stderr: 'Nothing differs: 2 records compared.\n' });
  }
});

it('signage apply reads 1,5 as a number in settings, where semicolons separate cells', async () => {
  const { cli } = await startCli();
  const stdin =
    'venue;name;config.a;config.b;config.c;label.d\nHall;S;1,5;-12,25;"""1,5""";1,5\nHall;T;3;1,5,7;x;\n';
  expect((await cli('apply -f -', { stdin })).code).toBe(0);
  const config = async (name: string) =>
    JSON.parse((await cli(`config get ${name} -o json`)).stdout);
  expect(await config('Hall/S')).toEqual({ a: 1.5, b: -12.25, c: '1,5' });
  expect(await config('Hall/T')).toEqual({ a: 3, b: '1,5,7', c: 'x' });
  const { stdout } = await cli('screen get Hall/S -o json');
  expect(JSON.parse(stdout).labels).toEqual({ d: '1,5' });
});
