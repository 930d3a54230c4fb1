import { rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { crashCopy } from './crash-copy.ts';
import { temporaryFolder } from './temporary-folder.ts';

const documents = Array.from({ length: 20 }, (_, place) => `document-${place}`);

/**
 * Writes all documents anew in each turn of the event loop, and a segment of the journal; rests now
 * and then.
 */
async function live(folder: string, lives: number, isCut: boolean): Promise<void> {
  for (let life = 1; life <= lives; life++) {
    for (const name of documents) writeFileSync(join(folder, name), String(life));
    writeFileSync(join(folder, `segment-${life}`), String(life));
    if (isCut) rmSync(join(folder, `segment-${life - 1}`), { force: true });
    await (life % 50 === 0 ? sleep(1) : turn());
  }
}

it.each([
  ['change', false],
  ['come and go', true],
])('copies a folder of one moment, though its files %s meanwhile', async (_, isCut) => {
  const folder = await temporaryFolder();
  writeFileSync(join(folder, 'lock.sock'), '');
  await live(folder, 1, isCut);
  const living = live(folder, 200, isCut);
  const copy = join(await temporaryFolder(), 'copy');
  await crashCopy(folder, copy);
  await living;
  const life = Number(await readFile(join(copy, documents[0] as string), 'utf8'));
  for (const name of documents) expect(await readFile(join(copy, name), 'utf8')).toBe(String(life));
  const segments = Array.from(
    { length: isCut ? 1 : life },
    (_, before) => `segment-${life - before}`,
  );
  expect((await readdir(copy)).sort()).toEqual([...documents, ...segments].sort());
});
