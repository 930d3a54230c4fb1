// The program of docs/statements.md.
import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { type Statement, signer, statements } from '../../support/statements/statements.ts';

const run = promisify(execFile);
const hasPackage = spawnSync('python3', ['-c', 'import cryptography']).status === 0;
const why = hasPackage ? '' : ' (skipped: python3 with the package cryptography is not here)';

async function check(all: readonly Statement[]): Promise<string> {
  const folder = await temporaryFolder();
  const page = await readFile(new URL('../../../docs/statements.md', import.meta.url), 'utf8');
  const [, program = ''] = /```python\n([\s\S]*?)```/.exec(page) ?? [];
  await writeFile(join(folder, 'check.py'), program);
  const files = await Promise.all(
    all.map(async ({ note, rows }, index) => {
      await writeFile(join(folder, `${index}.note`), note);
      await writeFile(join(folder, `${index}.ndjson`), rows);
      return `${index}.note`;
    }),
  );
  const argv = ['check.py', signer.verifierKey, ...files];
  const { stdout } = await run('python3', argv, { cwd: folder }).catch((error) => ({
    stdout: String(error.stderr).trim().split('\n').at(-1) ?? '',
  }));
  return stdout.trim();
}

describe.skipIf(!hasPackage)(`the check in Python${why}`, () => {
  it('agrees with statements as they were sealed', async () =>
    expect(await check(statements([3, 0, 5]))).toBe('3 statements are as they were sealed'));

  it('refuses a changed head, a changed row, a gap, and two heads of one number', async () => {
    const [one, two, three] = statements([3, 2, 1]) as [Statement, Statement, Statement];
    const [, other] = statements([3, 1]) as [Statement, Statement];
    const head = { ...one, note: Buffer.from(one.note.toString().replace('plays: 3', 'plays: 4')) };
    expect(await check([head])).toContain('InvalidSignature');
    const row = { ...one, rows: Buffer.from(one.rows.toString().replace('"seq":1', '"seq":2')) };
    expect(await check([row])).toContain('row 2 is not the one that was sealed');
    expect(await check([one, three])).toContain('number 3 does not follow');
    expect(await check([one, two, other])).toContain('two different heads');
  });
});
