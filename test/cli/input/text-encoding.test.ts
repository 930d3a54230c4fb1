// Files, stdin and words of the command line that are not UTF-8.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readSite } from '../../../src/cli/commands/site/read-site.ts';
import { decodeText } from '../../../src/cli/input/decode-text.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { fakeIo } from '../../support/process/fake-io.ts';
import { mediaReading } from '../../support/process/media-reading.ts';
import { startCli } from '../run-cli.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const file = 'menu.json';
const advice = 'Save it as UTF-8, in Excel as "CSV UTF-8".';

describe('decodeText', () => {
  it.each([
    ['UTF-8', Buffer.from('Café')],
    ['UTF-8 with a byte order mark', Buffer.from('\ufeffCafé')],
    ['UTF-16, little-endian', utf16('Café')],
    ['UTF-16, big-endian', utf16('Café').swap16()],
  ])('reads %s', (_, bytes) => expect(decodeText(bytes, { file })).toBe('Café'));

  it('reads a replacement character of the file itself', () =>
    expect(decodeText(Buffer.from('Caf\ufffd'), { file })).toBe('Caf\ufffd'));

  it.each([
    ['an invalid byte', latin1('a: 1\r\nname: Café'), 'UTF-8: line 2 after "name: Caf"'],
    ['no text before it', latin1('\n\xe9'), 'UTF-8: line 2'],
    ['a cut character', Buffer.from('a€').subarray(0, 3), 'UTF-8: line 1 after "a"'],
    ['bytes like U+FFFD', latin1('\xef\xbfa'), 'UTF-8: line 1'],
    ['a byte order mark', latin1('\xef\xbb\xbfü\xfc'), 'UTF-8: line 1'],
    ['a long line', latin1(`${'x'.repeat(90)}\xe9`), `UTF-8: line 1 after "${'x'.repeat(40)}"`],
    ['half a character', utf16('ab').subarray(0, 5), 'UTF-16: line 1 after "a"'],
    ['a lone surrogate', utf16('a\ud800'), 'UTF-16: line 1 after "a"'],
  ])('names file and line of %s', (_, bytes, what) =>
    expect(() => decodeText(bytes, { file })).toThrow(`menu.json is not ${what}. ${advice}`),
  );

  it.each([
    [latin1('key: dak_0123456789 caf\xe9'), false],
    [latin1('ABCD2345 caf\xe9'), true],
  ])('quotes no secret', (bytes, isSecret) =>
    expect(() => decodeText(bytes, { file, isSecret })).toThrow(/line 1\. Save/),
  );
});

describe('a command', () => {
  let folder: string;

  it.each([
    ['menu.png', latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), 'a PNG image', 'signage show'],
    [
      'menu.svg',
      latin1('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      'an SVG image',
      'signage show',
    ],
    ['menu.pdf', latin1('%PDF-1.7\n\xe2'), 'a PDF file', 'CSV'],
    ['menu.xlsx', latin1('PK\x03\x04\0\xe9'), 'a ZIP archive', 'CSV'],
    ['menu.yaml', latin1('\0\xe9'), 'a binary file', 'Give a text file'],
  ])('6 for %s instead of a text file', async (name, bytes, what, next) => {
    const path = join(folder, name);
    await writeFile(path, bytes);
    const { cli } = await startCli();
    for (const argv of [
      ['playlist', 'check', '-f', path],
      ['apply', '-f', path],
    ]) {
      const { code, stderr } = await cli(argv);
      const message = `${path} is ${what}, not a text file.\n`;
      expect([code, stderr]).toEqual([6, expect.stringContaining(message)]);
      expect(stderr).toContain(next);
    }
  });
  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  const playlist = `{"items":[{"creativeId":"c1a0e5d2-47b3-4c68-9f2a-000000000401",
"creativeUrl":"https://media.example.com/Café.jpg","creativeType":"image","duration":10}]}`;
  const site =
    'version: 1\nvenues: [{ name: Café, screens: [{ name: S, playlist: { file: p } }] }]';

  it('stores nothing of a text that is not UTF-8, from a file or stdin', async () => {
    const { service, cli } = await startCli();
    const screen = await service.screen({ name: 'S' });
    const write = async (name: string, content: Buffer | string) => {
      await writeFile(join(folder, name), content);
      return join(folder, name);
    };
    const p = await write('p', latin1(playlist));
    const runs = [
      cli(['playlist', 'publish', screen.id, '-f', p]),
      cli(['playlist', 'publish', screen.id, '-f', '-'], { stdin: latin1(playlist) }),
      cli(['playlist', 'check', '-f', p]),
      cli(['config', 'set', screen.id, '-f', await write('c', latin1('note: Café'))]),
      cli(['apply', '-f', await write('l.yaml', latin1(site))]),
      cli(['apply', '-f', await write('l.csv', latin1('venue,name\nCafé,S'))]),
      cli(['apply', '-f', await write('s.yaml', site)]),
      cli(['api', 'POST', '/v1/venues', '-f', await write('v', latin1('name: Café'))]),
    ];
    for (const run of runs) {
      const { code, stderr } = await run;
      expect(stderr).toMatch(/ is not UTF-8: line \d after ".*Caf"\. Save it as UTF-8/);
      expect(code).toBe(6);
    }
    expect((await cli('venue list -o json')).stdout).not.toContain('Caf');
    expect((await cli(['playlist', 'get', screen.id])).code).toBe(3);
  });

  it.each([
    ['--name', ['venue', 'create', '--name', 'Caf\ufffd']],
    ['--label', ['venue', 'create', '--name', 'A', '--label', 'city=K\ufffdln']],
    ['The argument <venue>', ['venue', 'update', 'Caf\ufffd', '--name', 'A']],
  ])('names the word %s that is not UTF-8', async (named, words) => {
    const { cli } = await startCli();
    expect(await cli(words)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${named} is not UTF-8: "`),
    });
    expect((await cli('venue list -o name')).stdout).toBe('');
  });

  it.each([
    ['UTF-16', utf16('version: 1\nvenues: [{ name: Zwölf }]'), ['Zwölf']],
    [
      'a byte order mark at each document',
      '\ufeffversion: 1\nvenues: [{ name: A }]\n---\r\n\ufeffversion: 1\nvenues: [{ name: B }]\n\ufeff---\nversion: 1\nvenues: [{ name: C }]',
      ['A', 'B', 'C'],
    ],
    ['CSV in UTF-16', utf16('venue\tname\nZwölf\tS\n'), ['Zwölf']],
  ])('reads a site file with %s', async (_, stdin, names) => {
    const { venues } = await readSite(
      { ...mediaReading, io: fakeIo({ stdin }), clock: systemClock },
      ['-'],
      {
        allowOutside: false,
      },
    );
    expect(venues.map(({ name }) => name)).toEqual(names);
  });
});
