import { cp, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { manager } from '../../support/service/management.ts';
import { idOf, someFile, upload } from '../../support/service/media.ts';
import { adminToken, startService } from '../../support/service/service.ts';
import { cliOf } from '../run-cli.ts';

it('9 for missing, cut and changed files, also of data check and doctor, and the commands it names put them back', async () => {
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

  const checkData = async (path: string) => {
    const copy = join(await temporaryFolder(), 'copy');
    const dump = `${copy}.dump`;
    expect(await signage(['data', 'backup', '--out', dump])).toMatchObject({ code: 0 });
    expect(await signage(['data', 'restore', dump, '--data', copy])).toMatchObject({ code: 0 });
    if (path !== '') await cp(path, join(copy, 'media'), { recursive: true });
    return signage(['data', 'check', copy, '-o', 'json']);
  };
  const unchecked = await checkData('');
  expect(unchecked.code).toBe(0);
  expect(JSON.parse(unchecked.stdout)).toMatchObject([
    { level: 'note', what: expect.stringContaining('not checked: 4') },
  ]);
  const checked = await checkData(join(folder, 'data', 'media'));
  expect(checked).toMatchObject({
    code: 9,
    stderr: expect.stringContaining('3 media files of'),
  });
  const damages: { file: string; what: string }[] = JSON.parse(checked.stdout);
  const fileOf = (id = '') => `media/${id.slice(0, 2)}/${id}`;
  expect(Object.fromEntries(damages.map(({ file, what }) => [file, what]))).toEqual({
    [fileOf(ids[1])]: 'the media file "missing" is missing',
    [fileOf(ids[2])]: 'the media file "cut" has 1000 bytes instead of 600000',
    [fileOf(ids[3])]: 'the media file "changed" has changed',
  });

  const screen = await service.screen({ name: 'Main' });
  const published = await manager(service).send('PUT', `/v1/screens/${screen.id}/playlist`, {
    body: {
      items: ids.map((id, at) => ({
        creativeId: `00000000-0000-4000-8000-00000000000${at}`,
        creativeUrl: `/media/${id}.svg`,
        creativeType: 'image',
        duration: 10,
        name: names[at],
      })),
    },
  });
  expect(published.status).toBe(200);
  const doctor = await signage(['doctor', screen.id, '-o', 'json']);
  const missing: { check: string; status: string; detail: string }[] = JSON.parse(doctor.stdout);
  expect(
    missing.filter(({ check }) => check === 'media').map(({ status, detail }) => [status, detail]),
  ).toEqual([
    ['fail', 'The service has not all bytes of the file missing.'],
    ['fail', 'The service has not all bytes of the file cut.'],
  ]);

  for (const at of [1, 2, 3]) {
    const path = join(folder, `${names[at]}.svg`);
    await writeFile(path, files[at] ?? '');
    expect(found[names[at] ?? '']?.[1]).toContain('signage media add FILE');
    expect(await signage(['media', 'add', path])).toMatchObject({ code: 0 });
  }
  expect(await signage(['media', 'verify'])).toMatchObject({ code: 0 });
});
