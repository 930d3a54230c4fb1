import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { directOutput } from '../../../src/cli/command/direct-output.ts';
import { fakeIo } from '../../support/fake-io.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** What is written to a file that was opened so, and what to the stream instead. */
async function written(flags: string, ...texts: string[]) {
  const path = join(await temporaryFolder(), 'out');
  writeFileSync(path, '');
  const io = fakeIo();
  const fd = openSync(path, flags);
  const output = directOutput(fd, io.stdout);
  for (const text of texts) output.write(text);
  closeSync(fd);
  return {
    file: readFileSync(path, 'utf8'),
    stream: io.out(),
    isTTY: output.isTTY,
    columns: output.columns,
  };
}

describe('what is told at once', () => {
  it('goes to the file itself', async () => {
    expect(await written('a', 'Usage:\n', 'é\n')).toEqual({
      file: 'Usage:\né\n',
      stream: '',
      isTTY: false,
      columns: undefined,
    });
  });

  it('goes to the stream when the file does not take it', async () => {
    expect(await written('r', 'Usage: é\n')).toMatchObject({ file: '', stream: 'Usage: é\n' });
  });

  it('goes to the stream where that is no file and no pipe', () => {
    const { stdout } = fakeIo();
    const fd = openSync('/dev/null', 'w');
    expect(directOutput(fd, stdout)).toBe(stdout);
    closeSync(fd);
  });
});
