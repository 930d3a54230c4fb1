import { truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { manager } from '../../support/service/management.ts';
import { idOf, someFile, upload } from '../../support/service/media.ts';
import { adminToken, startService } from '../../support/service/service.ts';
import { cliOf } from '../run-cli.ts';

it('9 for missing, cut and changed files, and the commands it names put them back', async () => {
  const folder = await temporaryFolder();
  const service = await startService({ store: join(folder, 'data') });
  const signage = cliOf(service, adminToken);
  expect(await signage(['media', 'verify'])).toMatchObject({ code: 0, stdout: '' });

  const names = ['intact', 'missing', 'cut', 'changed'];
  const files = names.map((_, number) => someFile(number, 600_000));
  for (const [at, file] of files.entries())
    expect((await upload(manager(service), file, `?name=${names[at]}`)).status).toBe(201);
  const ids = files.map(idOf);
  const pathOf = (id = '') => join(folder, 'data', 'media', id.slice(0, 2), id);
  expect(await signage(['media', 'verify'])).toMatchObject({ code: 0 });

  await unlink(pathOf(ids[1]));
  await truncate(pathOf(ids[2]), 1000);
  await writeFile(pathOf(ids[3]), someFile(9, 600_000));
  const { code, stdout } = await signage(['media', 'verify', '-o', 'json']);
  expect(code).toBe(9);
  const results: { name: string; result: string; error: string | null }[] = JSON.parse(stdout);
  const found = Object.fromEntries(
    results.map(({ name, result, error }) => [name, [result, error]]),
  );
  expect(found).toEqual({
    intact: ['intact', null],
    missing: ['failed', expect.stringContaining('has not all bytes')],
    cut: ['failed', expect.stringContaining('has not all bytes')],
    changed: ['failed', expect.stringContaining('have changed')],
  });

  for (const [at, id] of ids.entries()) {
    if (at === 0) continue;
    expect(found[names[at] ?? '']?.[1]).toContain(`signage media delete ${id} --force`);
    const path = join(folder, `${names[at]}.svg`);
    await writeFile(path, files[at] ?? '');
    expect(await signage(['media', 'delete', id, '--force', '--yes'])).toMatchObject({ code: 0 });
    expect(await signage(['media', 'add', path])).toMatchObject({ code: 0 });
  }
  expect(await signage(['media', 'verify'])).toMatchObject({ code: 0 });
});
