import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSigner } from '../../../src/domain/statements/signed-note.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { type Statement, signer, statements } from '../../support/statements/statements.ts';
import { runCli } from '../run-cli.ts';

/** Writes statements as `statement export` does. Returns the paths of their heads. */
async function written(all: readonly Statement[], folder?: string): Promise<string[]> {
  const place = folder ?? (await temporaryFolder());
  return Promise.all(
    all.map(async ({ note, rows }, index) => {
      const path = join(place, `summer.${index + 1}`);
      await writeFile(`${path}.note`, note);
      await writeFile(`${path}.ndjson`, rows);
      return `${path}.note`;
    }),
  );
}

const verify = (...argv: string[]) =>
  runCli(['statement', 'verify', ...argv, '--key', signer.verifierKey, '-o', 'json']);

describe('signage statement verify', () => {
  it('0 for statements as they were sealed, without a service', async () => {
    const heads = await written(statements([3, 0, 2]));
    const rows = heads.map((head) => head.replace('.note', '.ndjson'));
    const { code, json, stderr } = await verify(...heads, ...rows);
    expect([code, stderr]).toEqual([0, '']);
    expect(json).toEqual(
      heads.map((file, index) => ({
        file,
        day: `2026-11-${20 + index}`,
        number: index + 1,
        plays: [3, 0, 2][index],
        wrong: null,
      })),
    );
  });

  it('9 with the row, the number and the head that is wrong', async () => {
    const all = statements([3, 1, 1, 1]);
    const [first, , third, fourth] = all as [Statement, Statement, Statement, Statement];
    first.rows = Buffer.from(first.rows.toString().replace('"seq":1,', '"seq":7,'));
    fourth.note = Buffer.from(fourth.note.toString().replace('plays: 1', 'plays: 01'));
    const { code, json } = await verify(...(await written([first, third, fourth])));
    expect(code).toBe(9);
    expect(json.map(({ wrong }: { wrong: string }) => wrong)).toEqual([
      'row 2 is not the one that was sealed',
      'number 2 is missing before number 3',
      expect.stringContaining('its head is not what signage.example.com/'),
    ]);
  });

  it('9 for two different heads of one number', async () => {
    const mine = await written(statements([1]));
    const theirs = await written(statements([2]));
    const { code, json } = await verify(...mine, ...theirs);
    expect(code).toBe(9);
    expect(json[1].wrong).toBe('two different heads have number 1: their signer has signed both');
  });

  it('9 for rows that are missing', async () => {
    const [head = ''] = await written(statements([2]));
    await writeFile(head.replace('summer', 'alone'), await readFile(head));
    const { code, json } = await verify(head.replace('summer', 'alone'));
    expect([code, json[0].wrong]).toEqual([
      9,
      expect.stringMatching(/its rows are missing.*alone/),
    ]);
  });

  it('6 for a file that is no statement', async () => {
    const path = join(await temporaryFolder(), 'menu.note');
    await writeFile(path, 'a note\n');
    const { code, stderr } = await runCli([
      ...['statement', 'verify', path, '--key', signer.verifierKey],
    ]);
    expect([code, stderr]).toEqual([6, expect.stringContaining('menu.note is no statement')]);
  });

  it('2 for a key that is none, and for a missing file', async () => {
    const [head = ''] = await written(statements([1]));
    const other = await runCli(['statement', 'verify', head, '--key', `${signer.verifierKey}A`]);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('--key must be')]);
    const missing = await verify(`${head}.note`);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('No such file')]);
  });
});

describe('signage statement key new', () => {
  it('writes a key that only its owner can read, and never overwrites one', async () => {
    const path = join(await temporaryFolder(), 'statement.key');
    const argv = ['statement', 'key', 'new', path, '--name', 'ads.example.com'];
    const { code, stdout, stderr } = await runCli(argv);
    const text = await readFile(path, 'utf8');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).not.toContain(text.trim());
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(readSigner(text.trim())?.issuer).toBe('ads.example.com');
    const again = await runCli(argv);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists')]);
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('2 for a name that a key cannot have', async () => {
    const path = join(await temporaryFolder(), 'statement.key');
    const { code } = await runCli(['statement', 'key', 'new', path, '--name', 'my host']);
    expect(code).toBe(2);
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });
});
