import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileProblem } from '../../../src/cli/options/file-error.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { runCli } from '../run-cli.ts';

describe('a file that the user named', () => {
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
