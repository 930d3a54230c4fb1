// The bytes of media in a dump: backup, restore and copy (docs/protocol.md §5.9).

import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { lineOf } from '../../../src/store/dump/dump.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { s3Bucket, s3Credentials, startS3Server } from '../../support/network/s3-server.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { manager } from '../../support/service/management.ts';
import { idOf, someFile, upload } from '../../support/service/media.ts';
import { adminToken, startService } from '../../support/service/service.ts';
import { cliOf, runCli } from '../run-cli.ts';

const sizes = [100, 256 * 1024, 600_000, 100];
const files = sizes.map((size, number) => someFile(number, size));
const [lost] = files;
const kept = files.slice(1);
let folder: string;
let dump: string;
let data: string;

/** Returns the ids of all files of a media folder. */
const idsIn = (place: string) =>
  readdirSync(join(place, 'media'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();
const keptIds = kept.map(idOf).sort();

beforeAll(async () => {
  folder = await temporaryFolder();
  data = join(folder, 'data');
  dump = join(folder, 'with.dump');
  const service = await startService({ store: data });
  const signage = cliOf(service, adminToken);
  for (const [number, file] of files.entries())
    expect((await upload(manager(service), file, `?name=${number}.svg`)).status).toBe(201);
  await unlink(join(data, 'media', idOf(lost as Buffer).slice(0, 2), idOf(lost as Buffer)));
  for (const [out, ...flags] of [[dump, '--with-media'], [join(folder, 'without.dump')]])
    expect(await signage(['data', 'backup', '--out', String(out), ...flags])).toMatchObject({
      code: 0,
    });
  await service.close();
});

const restore = (path: string, place: string) => runCli(['data', 'restore', path, '--data', place]);

/** Checks that a refused restore has left nothing. */
async function expectRefused(path: string, message: string) {
  const place = join(await temporaryFolder(), 'new');
  const { code, stderr } = await restore(path, place);
  expect([code, stderr]).toEqual([6, expect.stringContaining(message)]);
  expect(() => readdirSync(place)).toThrow('ENOENT');
}

describe('data backup --with-media', () => {
  it('restores the same bytes, and names the files that were missing', async () => {
    const place = join(folder, 'restored');
    const { code, stderr } = await restore(dump, place);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('does not have the bytes of 1 media file: 0.svg.');
    expect(idsIn(place)).toEqual(keptIds);
    const again = await startService({ store: place });
    for (const file of kept) {
      const answer = await fetch(`${again.url}/media/${idOf(file)}.svg`);
      expect(Buffer.from(await answer.arrayBuffer()).equals(file)).toBe(true);
    }
    await again.close();
  });

  it('without it, restores the records and names all files', async () => {
    const place = join(folder, 'records');
    const { code, stderr } = await restore(join(folder, 'without.dump'), place);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('does not have the bytes of 4 media files: ');
    expect(readdirSync(place)).not.toContain('media');
  });
});

describe('data restore of a damaged dump with media', () => {
  const lines = async () => (await readFile(dump, 'utf8')).split('\n').slice(0, -1);
  const isFile = (line: string) => line.includes('"section":"files"');

  /** Writes a dump of these lines, with a right last line. */
  async function write(changed: readonly string[]): Promise<string> {
    const path = join(await temporaryFolder(), 'changed.dump');
    const all = changed.slice(0, -1).map((line) => lineOf(line.slice(9)));
    const { end } = JSON.parse(String(changed.at(-1)).slice(9));
    end.counts.files = changed.filter(isFile).length;
    end.sha256 = hash('sha256', all.join(''));
    await writeFile(path, all.join('') + lineOf(JSON.stringify({ end })));
    return path;
  }

  it('6 for a dump that is cut in a file or between two, and leaves nothing', async () => {
    const all = await lines();
    for (const [at, line] of all.entries()) {
      if (!isFile(line)) continue;
      const path = join(await temporaryFolder(), 'cut.dump');
      const before = `${all.slice(0, at).join('\n')}\n`;
      for (const text of [before, before + line.slice(0, 1000)]) {
        await writeFile(path, text);
        await expectRefused(path, 'cannot be used as a backup: line ');
      }
    }
  });

  it('6 for wrong bytes, a missing part and a file without record, and leaves nothing', async () => {
    const all = await lines();
    const at = all.findIndex(isFile);
    const first = JSON.parse(String(all[at]).slice(9));
    const withFirst = (row: object) =>
      all.map((line, index) =>
        index === at
          ? `00000000 ${JSON.stringify({ ...first, row: { ...first.row, ...row } })}`
          : line,
      );
    const other = Buffer.from(first.row.data, 'base64').fill('x').toString('base64');
    await expectRefused(await write(withFirst({ data: other })), `${first.row.id} has other bytes`);
    await expectRefused(await write(withFirst({ offset: 1 })), 'is incomplete');
    await expectRefused(await write(withFirst({ data: 'no base64' })), 'this is not base64');
    await expectRefused(await write(withFirst({ id: '0'.repeat(64) })), 'no record names');
    const last = all.findLastIndex((line) => isFile(line) && !line.includes('"offset":0,'));
    await expectRefused(await write(all.filter((_, index) => index !== last)), 'is incomplete');
  });
});

describe('data restore --media s3://…', () => {
  it('puts the files into the bucket, and takes them out again if it fails', async () => {
    const server = await startS3Server();
    const media = `s3://${s3Bucket}/media?endpoint=${server.endpoint}`;
    const env = {
      AWS_ACCESS_KEY_ID: s3Credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
    };
    const into = (path: string, place: string) =>
      runCli(['data', 'restore', path, '--data', place, '--media', media], { env });
    const cut = join(folder, 'cut.dump');
    await writeFile(cut, (await readFile(dump)).subarray(0, -100));
    expect((await into(cut, join(folder, 'refused'))).code).toBe(6);
    expect(server.requests).toContain(`PUT media/${keptIds[0]}`);
    expect(server.objects.size).toBe(0);
    const { code, stderr } = await into(dump, join(folder, 'with bucket'));
    expect(code, stderr).toBe(0);
    expect([...server.objects.keys()].sort()).toEqual(keptIds.map((id) => `media/${id}`));
  });
});

describe('store copy --with-media', () => {
  it('copies the files between folders, and to and from a database', async () => {
    const database = await freshDatabase();
    const [one, shared, two] = ['one', 'shared', 'two'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const copy = async (from: string, to: string, ...more: string[]) => {
      const env = { SIGNAGE_STORE_FROM: from, SIGNAGE_STORE_TO: to };
      const { code, stderr } = await runCli(['store', 'copy', '--with-media', ...more], { env });
      return [code, stderr];
    };
    expect(await copy(data, one)).toEqual([0, expect.stringContaining('1 media file: 0.svg')]);
    expect(idsIn(one)).toEqual(keptIds);
    expect(await copy(one, database)).toEqual([2, expect.stringContaining('--media')]);
    const media = ['--media', join(shared, 'media')];
    expect(await copy(one, database, ...media)).toEqual([0, expect.any(String)]);
    expect(idsIn(shared)).toEqual(keptIds);
    expect(await copy(database, two, ...media)).toEqual([0, expect.any(String)]);
    expect(idsIn(two)).toEqual(keptIds);
  });
});
