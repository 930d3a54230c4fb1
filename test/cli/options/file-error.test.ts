import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileProblem } from '../../../src/cli/options/file-error.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runCli } from '../run-cli.ts';

const env = { SIGNAGE_URL: 'http://127.0.0.1:9', SIGNAGE_TOKEN: `mak_${'x'.repeat(24)}` };

describe('a file that the user named', () => {
  const missing = (argv: readonly string[], message: string) => ({ argv, message });
  it.each([
    missing(['apply', '-f', 'menu.yaml'], 'No such file: menu.yaml.'),
    missing(['playlist', 'publish', 'x', '-f', 'menu.yaml'], 'No such file: menu.yaml.'),
    missing(['venue', 'list', '--ca-file', 'ca.pem'], 'No such file: ca.pem (--ca-file).'),
    missing(['venue', 'list', '--token-file', 'own'], 'No such file: own (the token file).'),
    missing(['data', 'restore', 'a.tar', '--data', 'x'], 'No such file: a.tar (the backup).'),
    missing(['audit', 'verify', '--head', 'head'], 'No such file: head (--head).'),
    missing(['apply', '-f', '.'], '. is a folder, not a file.'),
  ])('2 for $argv', async ({ argv, message }) => {
    const { code, stderr } = await runCli(argv, { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: `signage: ${message}\n` });
  });

  it('2 without the permission to read it', async (test) => {
    if (process.getuid?.() === 0) return test.skip('root may read every file');
    const file = join(await temporaryFolder(), 'closed.yaml');
    await writeFile(file, '');
    await chmod(file, 0);
    const { code, stderr } = await runCli(['apply', '-f', file]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `signage: You have no permission for ${file}: it cannot be read.\n`,
    });
  });

  it('6 for a backup that is not a tar file', async () => {
    const folder = await temporaryFolder();
    for (const [size, reason] of [
      [10, 'it is too short for a tar file: it ends at byte 10'],
      [600, 'it is not a tar file'],
    ] as const) {
      const file = join(folder, `${size}.tar`);
      await writeFile(file, 'x'.repeat(size));
      const run = await runCli(['data', 'restore', file, '--data', join(folder, 'data')]);
      expect(run.code).toBe(6);
      expect(run.stderr).toContain(`${file} cannot be used as a backup: ${reason}. Nothing was`);
    }
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
