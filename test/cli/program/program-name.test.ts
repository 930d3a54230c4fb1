import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { programName } from '../../../src/cli/terminal/program-name.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';

describe('programName', () => {
  let folder: string;
  let file: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
    for (const name of ['bin', 'linked', 'other']) await mkdir(join(folder, name));
    file = join(folder, 'bin/signage.js');
    await writeFile(file, '');
    await symlink(file, join(folder, 'linked/signage'));
    await writeFile(join(folder, 'other/signage'), '');
  });

  it.each([
    ['signage', ['linked'], true, ''],
    ['signage', ['missing', 'other', 'linked'], true, 'bin'],
    ['node bin/signage.js', ['other'], true, ''],
    ['node ../bin/signage.js', [], true, 'other'],
    ['./bin/signage.js', [], false, ''],
  ])('is "%s" with %j on the PATH', (name, path, isScript, cwd) => {
    const folders = path.map((one) => join(folder, one)).join(':');
    expect(programName({ file, isScript, cwd: join(folder, cwd), path: folders })).toBe(name);
  });
});
