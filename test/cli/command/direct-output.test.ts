import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { directOutput } from '../../../src/cli/command/direct-output.ts';
import { fakeIo } from '../../support/fake-io.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Writes texts to a file opened with `flags`. Returns what reached the file and the stream. */
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

describe('directOutput', () => {
  it('writes to a file synchronously', async () => {
    expect(await written('a', 'Usage:\n', 'é\n')).toEqual({
      file: 'Usage:\né\n',
      stream: '',
      isTTY: false,
      columns: undefined,
    });
  });

  it('uses the stream when a write to the file fails', async () => {
    expect(await written('r', 'Usage: é\n')).toMatchObject({ file: '', stream: 'Usage: é\n' });
  });

  it('uses the stream for a descriptor that is neither a file nor a pipe', () => {
    const { stdout } = fakeIo();
    const fd = openSync('/dev/null', 'w');
    expect(directOutput(fd, stdout)).toBe(stdout);
    closeSync(fd);
  });
});
