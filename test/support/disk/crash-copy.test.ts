import { rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { crashCopy } from './crash-copy.ts';
import { temporaryFolder } from './temporary-folder.ts';

const documents = Array.from({ length: 20 }, (_, place) => `document-${place}`);

/** Writes all documents and a journal segment in each turn of the event loop, with some pauses. */
async function writeRounds(folder: string, rounds: number, isCut: boolean): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    for (const name of documents) writeFileSync(join(folder, name), String(round));
    writeFileSync(join(folder, `segment-${round}`), String(round));
    if (isCut) rmSync(join(folder, `segment-${round - 1}`), { force: true });
    await (round % 50 === 0 ? sleep(1) : turn());
  }
}

it.each([
  ['are written', false],
  ['are written and deleted', true],
])('copies a consistent state of a folder whose files %s meanwhile', async (_, isCut) => {
  const folder = await temporaryFolder();
  writeFileSync(join(folder, 'lock.sock'), '');
  await writeRounds(folder, 1, isCut);
  const writing = writeRounds(folder, 200, isCut);
  const copy = join(await temporaryFolder(), 'copy');
  await crashCopy(folder, copy);
  await writing;
  const round = Number(await readFile(join(copy, documents[0] as string), 'utf8'));
  for (const name of documents)
    expect(await readFile(join(copy, name), 'utf8')).toBe(String(round));
  const segments = Array.from(
    { length: isCut ? 1 : round },
    (_, before) => `segment-${round - before}`,
  );
  expect((await readdir(copy)).sort()).toEqual([...documents, ...segments].sort());
});
