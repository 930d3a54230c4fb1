// Uploads that lie, from one token, and what the service keeps of them.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { png } from '../../support/network/media-server.ts';
import { manager, walk } from '../../support/service/management.ts';
import { idOf } from '../../support/service/media.ts';
import { startService } from '../../support/service/service.ts';

interface Upload {
  kind: string;
  file: Uint8Array;
  /** The id in the path. Default: that of the file. */
  id?: string;
  query?: string;
  /** The type with which the file may be served. `undefined`: not at all. */
  type?: string;
  /** All statuses that are right. */
  statuses: number[];
}

const page = '<!doctype html><script>alert(1)</script>';
const picture = png([255, 0, 0], 8, 8);
const junk = fc.uint8Array({ minLength: 1, maxLength: 2000 });
/** Numbers at the edges of what a part of a small file may say. */
const edge = fc.constantFrom(
  '-1',
  '0',
  '1',
  '5e3',
  '1.5',
  '0x10',
  '9007199254740993',
  '9'.repeat(30),
);
const after = (start: Uint8Array | string, rest: Uint8Array) =>
  Buffer.concat([Buffer.from(start as string), rest]);

const uploads: fc.Arbitrary<Upload> = fc.oneof(
  fc.tuple(junk, junk).map(([one, other]) => ({
    kind: 'wrong digest',
    file: after(picture, one),
    id: idOf(other),
    statuses: [400],
  })),
  junk.map((rest) => ({
    kind: 'page as picture',
    file: after(page, rest),
    query: '?name=menu.png',
    type: 'text/html',
    statuses: [201],
  })),
  fc
    .tuple(fc.constantFrom(page, '<svg xmlns="http://www.w3.org/2000/svg"/>', 'MZ'), junk)
    .map(([text, rest]) => ({
      kind: 'polyglot',
      file: after(picture, after(text, rest)),
      type: 'image/png',
      statuses: [201],
    })),
  junk.map((rest) => ({ kind: 'junk', file: after('\u0001', rest), statuses: [415] })),
  fc.tuple(edge, edge, junk).map(([offset, size, rest]) => ({
    kind: 'offset and size',
    file: after(picture, rest),
    query: `?offset=${offset}&size=${size}`,
    statuses: [400, 409, 413],
  })),
  fc.tuple(fc.constantFrom(0, 10, 27, 127, 0x85, 0x2028, 0x202e), junk).map(([code, rest]) => ({
    kind: 'control characters',
    file: after(picture, rest),
    query: `?${new URLSearchParams({ name: `a${String.fromCharCode(code)}.png` })}`,
    type: 'image/png',
    statuses: [201, 400],
  })),
);

/** Sends uploads one after the other. Returns what was wrong, and the number of each outcome. */
export async function runHostileUploads(seed: number, count: number) {
  const folder = join(await temporaryFolder(), 'data');
  const service = await startService({ store: folder, mediaLimitMiB: 1 });
  const admin = manager(service);
  const wrong: string[] = [];
  const outcomes: Record<string, number> = {};
  const types = new Map<string, string | undefined>();
  for (const one of fc.sample(uploads, { seed, numRuns: count })) {
    const { kind, file, query = '', id = idOf(file), type, statuses } = one;
    const { status } = await admin.send('PUT', `/v1/media/${id}${query}`, {
      body: file,
      untyped: true,
    });
    const outcome = `${kind}: ${status}`;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    // A file that was sampled twice is there already.
    const isKnown = status === 200 && types.has(id);
    if (!isKnown && !statuses.includes(status)) wrong.push(`${outcome} for ${query}`);
    if (status === 201) types.set(id, type);
  }
  const { items: records } = await walk(admin, '/v1/media', 200);
  for (const { id, type, name, url } of records) {
    const answer = await fetch(service.url + url);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const served = answer.headers.get('content-type');
    if (type !== types.get(id) || served !== type) wrong.push(`${id} is served as ${served}`);
    if (idOf(bytes) !== id) wrong.push(`${id} has other bytes`);
    if (answer.headers.get('x-content-type-options') !== 'nosniff') wrong.push(`${id}: sniffed`);
    if (/\p{Cc}|[\u2028\u202e]/u.test(name)) wrong.push(`${id} has a control character`);
  }
  const left = readdirSync(join(folder, 'media'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
  const ids = [...types.keys()].sort();
  if (left.sort().join() !== ids.join()) wrong.push(`files: ${left.length} for ${ids.length}`);
  if (records.length !== ids.length) wrong.push(`records: ${records.length} for ${ids.length}`);
  await service.close();
  return { wrong, outcomes };
}
