// Paths as people of other systems write them: found, or named with the reason.
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { findWrittenPath } from '../../../src/cli/input/written-path.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startCli } from '../run-cli.ts';

const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 9"><text y="5">Soup</text></svg>';
const narrowSpace = '\u202f';

let folder: string;
/** `Menü` in NFD, and in it `Café` in NFC, with a picture in NFD. */
let deep: string;
let spaced: string;

beforeAll(async () => {
  folder = await realpath(await temporaryFolder());
  deep = join(folder, 'Menü'.normalize('NFD'), 'Café'.normalize('NFC'));
  await mkdir(deep, { recursive: true });
  deep = join(deep, 'Süppchen 1.svg'.normalize('NFD'));
  await writeFile(deep, svg);
  spaced = join(folder, `Screenshot at 1.00.00${narrowSpace}PM.svg`);
  await writeFile(spaced, svg);
  await writeFile(join(folder, 'plain.svg'), svg);
  await writeFile(join(folder, "it's.svg"), svg);
});

const composed = () => join(folder, 'Menü/Café/Süppchen 1.svg').normalize('NFC');
const decomposed = () => composed().normalize('NFD');
const home = (path: string) => `~/${relative(homedir(), path)}`;

const ways: [name: string, write: () => string, path: () => string][] = [
  ['as it is', () => deep, () => deep],
  ['in NFC', composed, () => deep],
  ['in NFD', decomposed, () => deep],
  ['with spaces for narrow ones', () => spaced.replace(narrowSpace, ' '), () => spaced],
  ['with backslashes', () => composed().replaceAll('/', '\\'), () => deep],
  ['escaped for a shell', () => composed().replaceAll(' ', '\\ '), () => deep],
  ['as a URL', () => pathToFileURL(composed()).href, () => deep],
  ['as a URL of localhost', () => `file://localhost${encodeURI(decomposed())}`, () => deep],
  ['as a URL with spaces', () => `file://${composed()}`, () => deep],
  ['in double quotes', () => `"${composed()}"`, () => deep],
  ['in single quotes', () => `'${composed()}'`, () => deep],
  ['in typographic quotes', () => `“${composed()}”`, () => deep],
  ['as a quoted URL with a line end', () => `"${pathToFileURL(deep).href}"\r\n`, () => deep],
  ['with ~', () => home(composed()), () => deep],
  [
    'with ~ and backslashes, quoted',
    () => `"${home(composed()).replaceAll('/', '\\')}"`,
    () => deep,
  ],
  ['with a quote of its own', () => join(folder, "it's.svg"), () => join(folder, "it's.svg")],
];

const reasons: [name: string, write: () => string, reason: string | undefined][] = [
  ['just none', () => join(folder, 'none.svg'), undefined],
  ['of a drive', () => 'C:\\Users\\Ana\\menu.svg', 'it is a path of Windows'],
  ['of a server', () => '\\\\server\\share\\menu.svg', 'it is a path of Windows'],
  ['of another computer', () => 'file://server/share/menu.svg', 'of another computer'],
  ['of another kind of URL', () => 'smb://server/menu.svg', 'a URL of smb cannot be read'],
  ['of another home', () => '~ana/menu.svg', 'only ~ alone is the home folder'],
  ['with a variable', () => '$HOME/none.svg', 'the shell did not replace the variable'],
  ['with a variable of Windows', () => '%USERPROFILE%\\menu.svg', 'did not replace the variable'],
  ['with a pattern', () => join(folder, '*.svg'), 'the shell did not replace the pattern'],
  ['in other capitals', () => join(folder, 'PLAIN.svg'), 'there is plain.svg, in other capitals'],
];

describe.skipIf(process.platform === 'win32')('a path of another system', () => {
  it.each(ways)('is found %s', async (_, write, path) =>
    expect(await realpath(await findWrittenPath(write()))).toBe(path()),
  );

  it.each(ways)('is found in a document %s', async (_, write, path) => {
    const isRelative = !/^"?(?:file:|~)/.test(write());
    const written = isRelative ? write().replace(/([/\\]).*signage-test-[^/\\]*\1/, '') : write();
    expect(await realpath(await findWrittenPath(written, folder))).toBe(path());
  });

  it.each(reasons)('is named with the reason: %s', async (_, write, reason) => {
    const error = await findWrittenPath(write()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'ENOENT' });
    if (reason === undefined) expect(error).toMatchObject({ reason: undefined });
    else expect(error).toMatchObject({ reason: expect.stringContaining(reason) });
  });

  it('is none of two names that differ only in their form', async () => {
    const mixed = 'ä'.normalize('NFC') + 'ö'.normalize('NFD');
    for (const form of ['NFC', 'NFD'] as const)
      await writeFile(join(folder, `äö`.normalize(form)), form);
    await expect(findWrittenPath(join(folder, mixed))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe.skipIf(process.platform === 'win32')('commands that take a file', () => {
  it.each(ways)('find it %s', async (_, write, path) => {
    const { service, cli } = await startCli();
    await service.screen({ name: 'Main' });
    const shown = await cli(['show', 'Main', write(), '-o', 'json', '--jq', '.items[0].name']);
    const name = path().normalize('NFC').replace(/^.*\//, '');
    expect(shown).toMatchObject({ code: 0, stdout: `${name}\n` });
    expect(await cli(['media', 'add', write(), '-o', 'name'])).toMatchObject({ code: 0 });
    const document = JSON.stringify({ items: [{ file: write() }] });
    const playlist = join(folder, 'Menü'.normalize('NFD'), 'Liste 1.json');
    await writeFile(playlist, document);
    const named = playlist.normalize('NFC').replaceAll('/', '\\');
    const flags = ['-f', `"${named}"`, '--allow-outside'];
    expect(await cli(['playlist', 'publish', 'Main', ...flags])).toMatchObject({ code: 0 });
  });

  it.each(reasons)('name it with the reason: %s', async (_, write, reason) => {
    const { service, cli } = await startCli();
    await service.screen({ name: 'Main' });
    const why = reason ?? 'No such file';
    for (const argv of [
      ['show', 'Main', write()],
      ['media', 'add', write()],
      ['playlist', 'publish', 'Main', '-f', write()],
      ['apply', '-f', write()],
      ['schedule', 'check', '-f', write()],
    ]) {
      const { code, stderr } = await cli(argv);
      expect([argv, [2, 6].includes(code)]).toEqual([argv, true]);
      expect(stderr).toContain(why);
    }
  });

  it('read the files that a file of another system names, beside it', async () => {
    const { cli } = await startCli();
    const list = join(folder, 'Listen', 'Über uns.json'.normalize('NFD'));
    await mkdir(join(folder, 'Listen'));
    await writeFile(list, JSON.stringify({ items: [{ file: '..\\Menü\\Café\\Süppchen 1.svg' }] }));
    const site = join(folder, 'Märkte.yaml'.normalize('NFD'));
    await writeFile(
      site,
      'version: 1\nvenues:\n  - name: Lobby\n    screens:\n      - name: Main\n        playlist: { file: "Listen\\\\Über uns.json" }\n',
    );
    const run = await cli(['apply', '-f', `'${site.normalize('NFC')}'`, '--allow-outside']);
    expect(run).toMatchObject({ code: 0 });
    const items = await cli('playlist get Lobby/Main -o json --jq .items[0].name');
    expect(items.stdout).toBe(`${'Süppchen 1.svg'.normalize('NFC')}\n`);
    const outside = await cli(['apply', '-f', site]);
    expect(outside.stderr).toContain('--allow-outside');
  });
});
