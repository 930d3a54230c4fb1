import { appendFile, readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { StateFile } from '../../../src/cli/tv/state-file.ts';
import type { EventInput } from '../../../src/client/entities.ts';
import { SavedPlayerState } from '../../../src/player/saved-state.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';

const event = (at: number): EventInput => ({ type: 'log', timestamp: 1, at, text: 'x'.repeat(80) });
const binding = { deviceId: 'd', screenId: 's', tenantId: 't', apiKey: 'dak_1' };

let file: StateFile | undefined;
afterEach(async () => {
  await file?.close();
  file = undefined;
});

const newPath = async () => join(await temporaryFolder(), 'tv.json');

/** Opens a state file as `signage tv` does. */
async function openState(path: string): Promise<SavedPlayerState> {
  await file?.close();
  file = await StateFile.open(path);
  file.begin('http://127.0.0.1:4100', { model: 'TV' });
  const record = new SavedPlayerState(file, (work) => work());
  await record.load();
  return record;
}

/** Queues events and saves. */
async function addEvents(record: SavedPlayerState, count: number): Promise<void> {
  for (let at = 0; at < count; at++) record.queue.push(event(record.queue.start + at));
  await record.save();
}

/** Opens a state file with 1,000 queued events: more than 64 KiB. */
async function openLarge(path: string): Promise<SavedPlayerState> {
  const record = await openState(path);
  record.change({ binding });
  await addEvents(record, 1000);
  return record;
}

describe('The state file of a TV with many unsent events', () => {
  it('grows by the new events, and is not rewritten', async () => {
    const path = await newPath();
    const record = await openLarge(path);
    const before = await stat(path);
    for (let round = 0; round < 10; round++) await addEvents(record, 1);
    const after = await stat(path);
    expect(after.ino).toBe(before.ino);
    expect((after.size - before.size) / 10).toBeLessThan(300);
    expect(after.mode & 0o777).toBe(0o600);
  });

  it('has the same content after it is opened again', async () => {
    const path = await newPath();
    const record = await openLarge(path);
    const events = record.queue.shift(100);
    record.change({ batch: { events, idempotencyKey: 'one' }, keySinceMs: 1 });
    await record.save();
    record.change({ batch: undefined, keySinceMs: undefined });
    record.queue.unshift(events.slice(10));
    await addEvents(record, 3);
    const opened = await openState(path);
    expect(opened.queue.toArray()).toEqual(record.queue.toArray());
    expect(opened.head).toEqual({ binding, batch: undefined, keySinceMs: undefined });
  });

  it('loses only the last line after a torn write', async () => {
    const path = await newPath();
    const record = await openLarge(path);
    await addEvents(record, 1);
    await addEvents(record, 1);
    await truncate(path, (await stat(path)).size - 10);
    const opened = await openState(path);
    expect(opened.queue.length).toBe(1001);
    await addEvents(opened, 1);
    expect((await openState(path)).queue.length).toBe(1002);
  });

  it('is rewritten when the appended lines are as long as the state', async () => {
    const path = await newPath();
    const record = await openLarge(path);
    const { size } = await stat(path);
    for (let round = 0; round < 20; round++) {
      record.queue.shift(100);
      await addEvents(record, 100);
      expect((await stat(path)).size).toBeLessThan(2 * size + 20_000);
    }
    record.queue.shift(1000);
    for (let round = 0; round < 50; round++) {
      record.change({ configTag: `${round} ${'x'.repeat(10_000)}` });
      await record.save();
    }
    expect(JSON.parse(await readFile(path, 'utf8')).tv).toMatchObject({ queue: [], binding });
  });

  it('is refused if a line within it is damaged', async () => {
    const path = await newPath();
    await openLarge(path);
    await appendFile(
      path,
      '{"head":{},"queueStart":"no"}\n{"head":{},"queueStart":0,"added":[]}\n',
    );
    await expect(openState(path)).rejects.toMatchObject({ code: 'invalid_file' });
  });
});
