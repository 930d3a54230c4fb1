import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { type Cli, runCli, startCli } from '../run-cli.ts';

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});

const fileOf = async (name: string, text: string) => {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
};
const nested = (depth: number, [open, close]: [string, string]) =>
  `${open.repeat(depth)}1${close.repeat(depth)}`;

describe('a file with deep nesting', () => {
  it.each([
    ['site.json', `{"version":1,"venues":${nested(100_000, ['[', ']'])}}`],
    ['members.json', nested(100_000, ['{"a":', '}'])],
    ['flow.yaml', `version: 1\nvenues: ${nested(20_000, ['[', ']'])}\n`],
    ['config.yaml', `a: ${nested(64, ['{ a: ', ' }'])}\n`],
  ])('6 for %s, with its name', async (name, text) => {
    const path = await fileOf(name, text);
    const { code, stderr } = await runCli(['apply', '-f', path], {
      env: { SIGNAGE_TOKEN: 'mak_any' },
    });
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: `signage: ${path} is nested too deeply: at most 64 levels.\n`,
    });
  });
});

describe('a site file with 130,000 venues or mistakes', () => {
  const count = 130_000;
  let cli: Cli;
  beforeAll(async () => {
    ({ cli } = await startCli());
  });

  it('9 for a difference in each', async () => {
    const venues = Array.from({ length: count }, (_, n) => ({ name: `V${n}` }));
    const path = await fileOf('large.json', JSON.stringify({ version: 1, venues }));
    const { code, stderr } = await cli(['diff', '-f', path, '-o', 'name']);
    expect(stderr).not.toContain('RangeError');
    expect(code).toBe(9);
  });

  it('6 for 130,000 mistakes, two in each', async () => {
    const venues = Array.from({ length: count / 2 }, () => ({ nam: 'x' }));
    const path = await fileOf('wrong.json', JSON.stringify({ version: 1, venues }));
    const { code, stderr } = await cli(['diff', '-f', path]);
    expect(stderr.slice(0, 300)).not.toContain('RangeError');
    expect(code).toBe(6);
  });
});
