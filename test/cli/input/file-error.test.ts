import { execFile } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { fileProblem } from '../../../src/cli/input/file-error.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { runCli } from '../run-cli.ts';

const refusalOf = async (argv: string[]) => {
  const { code, stderr } = await runCli(argv, { env: { SIGNAGE_TOKEN: 'mak_any' } });
  return { code, stderr };
};

const nobody = 65_534;

describe('a file that the user named', () => {
  it('2 without the permission to read it', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'closed.yaml');
    await writeFile(file, '');
    await chmod(file, 0);
    if (process.getuid?.() === 0) {
      // Root may read every file.
      await chmod(folder, 0o755);
      process.seteuid?.(nobody);
      onTestFinished(() => process.seteuid?.(0));
    }
    const { code, stderr } = await runCli(['apply', '-f', file]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `signage: You have no permission for ${file}: it cannot be read.\n`,
    });
  });
});

const pipeProblem = 'a named pipe, not a file: pipe into stdin, and give /dev/stdin';

describe.skipIf(process.platform === 'win32')('a path that is no regular file', () => {
  let folder: string;
  let pipe: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
    pipe = join(folder, 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
  });

  it.each([
    [pipeProblem, () => pipe],
    ['a device, not a file', () => '/dev/null'],
    ['a folder, not a file', () => folder],
  ])('2 for %s, which is not opened', async (kind, pathOf) => {
    const path = pathOf();
    const refused = { code: 2, stderr: `signage: ${path} is ${kind}.\n` };
    for (const argv of [
      ['apply', '-f', path],
      ['diff', '-f', path],
      ['playlist', 'publish', 'Lobby/Main', '--file', path],
    ])
      expect(await refusalOf(argv), argv.join(' ')).toEqual(refused);
  });

  it.each([
    ['--token-file', 'the token file'],
    ['--ca-file', '--ca-file'],
  ])('2 for a named pipe after %s', async (flag, what) => {
    const { code, stderr } = await refusalOf(['status', flag, pipe]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `signage: ${pipe} is ${pipeProblem} (${what}).\n`,
    });
  });

  it('names it with the line of the site file that names it', async () => {
    const site = join(folder, 'site.yaml');
    await writeFile(
      site,
      'version: 1\nvenues:\n  - name: Lobby\n    screens:\n      - name: Main\n        playlist: { file: pipe }\n',
    );
    const { code, stderr } = await refusalOf(['apply', '-f', site]);
    expect(code).toBe(6);
    expect(stderr).toContain(`${pipe} is ${pipeProblem}`);
  });

  it('reads stdin by its name', async () => {
    const { code, stderr } = await runCli(['apply', '-f', '/dev/stdin'], { stdin: 'venues: 5' });
    expect(code).toBe(6);
    expect(stderr).toContain('/dev/stdin, line 1: venues');
  });
});

describe('fileProblem', () => {
  const failure = (code: string, errno: number) =>
    Object.assign(new Error(`${code}: some text, open 'x'`), { code, errno });
  it.each([
    [failure('EACCES', -13), 'You have no permission for a/x: it cannot be written'],
    [failure('ENOTDIR', -20), 'No such folder: a'],
    [failure('ENOSPC', -28), 'a/x cannot be written: no space left on device'],
    [new Error('it ended'), 'a/x cannot be written: it ended'],
  ])('of %s contains no error code', (error, text) => {
    expect(fileProblem(error, 'a/x', 'written')).toBe(text);
  });
});
