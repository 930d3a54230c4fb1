// Uploads in parts that end, stick, and get in each other's way (docs/protocol.md §5.14).
import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import {
  expectInvalid,
  expectProblem,
  type Manager,
  manager,
} from '../../support/service/management.ts';
import { idOf, someFile, upload, uploadPart } from '../../support/service/media.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const part = 256 * 1024;
let folder: string;
let service: TestService;
let admin: Manager;
let count = 5000;
const fresh = (bytes: number) => someFile(++count, bytes);

beforeAll(async () => {
  folder = await temporaryFolder();
  service = await startService({ store: join(folder, 'data'), mediaLimitMiB: 4 });
  admin = manager(service);
});

const media = () => join(folder, 'data/media');
const storedAt = (id: string) => join(media(), id.slice(0, 2), id);
/** Asks for a file: sends an empty part at its end. */
const ask = (caller: Manager, file: Uint8Array) =>
  uploadPart(caller, file, file.length, file.length);

/** Changes a byte of a file in the media folder. */
async function flip(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[1000] = (bytes[1000] ?? 0) ^ 1;
  await writeFile(path, bytes);
}

describe('an empty part at the end of a file', () => {
  it('finishes an upload whose parts have all arrived', async () => {
    const file = fresh(2 * part);
    const id = idOf(file);
    await uploadPart(admin, file, 0, part);
    // As a killed process leaves it.
    const [tenant = ''] = readdirSync(join(media(), 'parts'));
    const parts = join(media(), 'parts', tenant, `${id}-${file.length}`);
    await writeFile(join(parts, `${part}-${part}`), file.subarray(part));
    expect((await admin.get(`/v1/media/${id}/upload`)).body).toEqual({ received: file.length });
    expectProblem(await uploadPart(admin, file, part, 2 * part), 'media_offset', {
      received: file.length,
    });
    const answer = await ask(admin, file);
    expect([answer.status, answer.body.bytes]).toEqual([201, file.length]);
    expectProblem(await admin.get(`/v1/media/${id}/upload`), 'media_not_found');
    expect((await service.send('GET', answer.body.url)).text).toBe(file.toString());
    expect((await ask(admin, file)).status).toBe(200);
  });

  it('409 with what has arrived, if that is less', async () => {
    const file = fresh(2 * part);
    expectProblem(await ask(admin, file), 'media_offset', { received: 0 });
    await uploadPart(admin, file, 0, part);
    expectProblem(await ask(admin, file), 'media_offset', { received: part });
    expectInvalid(await uploadPart(admin, file, part, part), 'header.content-length');
  });

  it('200 for a file that is intact, and 409 for one that has changed, until it is replaced', async () => {
    const file = fresh(2 * part);
    const id = idOf(file);
    const { url } = (await upload(admin, file)).body;
    expect((await ask(admin, file)).status).toBe(200);
    await flip(storedAt(id));
    expectProblem(await ask(admin, file), 'media_offset', { received: 0 });
    expect((await uploadPart(admin, file, 0, part)).status).toBe(202);
    expect((await uploadPart(admin, file, part, 2 * part)).status).toBe(200);
    expect((await service.send('GET', url)).text).toBe(file.toString());
    await flip(storedAt(id));
    expect((await upload(admin, file)).status).toBe(200);
    expect((await service.send('GET', url)).text).toBe(file.toString());
  });
});

/** Uploads files one after the other. Returns the answers that are wrong. */
async function uploadAll(callers: readonly Manager[], files: readonly Buffer[]) {
  const wrong: string[] = [];
  for (const file of files)
    for (let offset = 0; offset < file.length; offset += part) {
      const end = Math.min(offset + part, file.length);
      const caller = callers[(offset / part) % callers.length] as Manager;
      const answer = await uploadPart(caller, file, offset, end);
      const wanted = end < file.length ? [202, { received: end }] : [201, file.length];
      const got = [answer.status, answer.status === 202 ? answer.body : answer.body?.bytes];
      if (JSON.stringify(got) !== JSON.stringify(wanted)) wrong.push(answer.text);
    }
  return wrong;
}

describe('uploads in parts', () => {
  it('of four clients at a time do not touch each other', async () => {
    const each = Array.from({ length: 4 }, () =>
      Array.from({ length: 10 }, () => fresh(2 * part + 100)),
    );
    const wrong = await Promise.all(each.map((files) => uploadAll([admin], files)));
    expect(wrong.flat()).toEqual([]);
    for (const file of each.flat())
      expect((await admin.get(`/v1/media/${idOf(file)}`)).body.bytes).toBe(file.length);
    expect(readdirSync(join(media(), 'incomplete'))).toEqual([]);
  });

  it('go on at the other of two instances with one media folder, four at a time', async () => {
    const store = await freshDatabase();
    const options = { store, media: await temporaryFolder() };
    const [one, other] = [await startService(options), await startService(options)];
    const callers = [manager(one), manager(other)];
    const each = Array.from({ length: 4 }, () => [fresh(2 * part + 100), fresh(3 * part)]);
    const wrong = await Promise.all(each.map((files) => uploadAll(callers, files)));
    expect(wrong.flat()).toEqual([]);
    for (const file of each.flat()) expect((await ask(manager(other), file)).status).toBe(200);
    await Promise.all([one.close(), other.close()]);
  });

  it('of the same file by three clients end with the file', async () => {
    const file = fresh(6 * part + 5);
    const client = async (step: number) => {
      for (let offset = 0, tries = 0; tries < 100; tries++) {
        const answer = await uploadPart(admin, file, offset, Math.min(offset + step, file.length));
        if (answer.status === 201 || answer.status === 200) return answer.status;
        if (answer.status === 503) continue;
        expect([202, 409], answer.text).toContain(answer.status);
        offset = answer.body.received;
      }
      return undefined;
    };
    const statuses = await Promise.all([client(part), client(2 * part), client(part + 1000)]);
    for (const status of statuses) expect([200, 201]).toContain(status);
    expect((await readFile(storedAt(idOf(file)))).equals(file)).toBe(true);
  });
});
