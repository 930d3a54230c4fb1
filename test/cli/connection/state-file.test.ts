import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { stateFile } from '../../../src/cli/connection/state-file.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';

const schema = z.strictObject({ count: z.number() });
const use = { what: '--state', code: 'invalid_file' } as const;

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder, 'state.json');
});

const open = (more: { isSecret?: boolean; isLocked?: boolean } = {}, at = path) =>
  stateFile(at, {
    parse: (content) => schema.parse(content),
    use,
    remedy: 'Delete it.',
    ...more,
  });

describe('a state file', () => {
  it('is null before it is written, then private, and alone in its folder', async () => {
    expect(await open().read()).toBeNull();
    await open().write({ count: 1 });
    await open().write({ count: 2 });
    expect(await open().read()).toEqual({ count: 2 });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['state.json']);
  });

  it.each(['', '{', 'null', '{"count":"1"}'])('with the content %j is refused', async (text) => {
    await writeFile(path, text, { mode: 0o600 });
    await expect(open().read()).rejects.toMatchObject({
      code: 'invalid_file',
      message: `${path} is damaged, or another kind of file (--state).`,
      hint: 'Delete it.',
    });
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('that other users can read is refused if it has secrets', async () => {
    await open().write({ count: 1 });
    await chmod(path, 0o640);
    await expect(open().read()).rejects.toMatchObject({
      code: 'invalid_file',
      hint: `chmod 600 ${path}`,
    });
    expect(await open({ isSecret: false }).read()).toEqual({ count: 1 });
  });

  it('that is locked takes the place of what a power failure left behind', async () => {
    await writeFile(`${path}.new`, '{"cou');
    await open({ isLocked: true }).write({ count: 1 });
    expect(await readdir(folder)).toEqual(['state.json']);
    expect(await open().read()).toEqual({ count: 1 });
  });

  it('that cannot be written names its folder', async () =>
    await expect(
      open({}, join(folder, 'nowhere', 'state.json')).write({ count: 1 }),
    ).rejects.toMatchObject({
      code: 'invalid_file',
      message: `No such folder: ${join(folder, 'nowhere')} (--state).`,
    }));
});
