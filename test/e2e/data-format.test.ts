// Data that an earlier version wrote, and the way from one format to the next.
import { readFileSync } from 'node:fs';
import { chmod, cp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../src/store/json/disk/file-system.ts';
import { openJsonStore } from '../../src/store/json/open.ts';
import type { UpgradeStep } from '../../src/store/json/upgrade.ts';
import { checkStore } from '../../src/store/maintenance/check.ts';
import { repairStore } from '../../src/store/maintenance/repair.ts';
import { answersOf, type DataFacts, makeData } from '../support/disk/data-fixture.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { ManualClock } from '../support/runtime/manual-clock.ts';
import { startService } from '../support/service/service.ts';

const fixture = fileURLToPath(new URL('../../fixtures/data-v1', import.meta.url));
const { facts, answers } = JSON.parse(readFileSync(join(fixture, 'expected.json'), 'utf8')) as {
  facts: DataFacts;
  answers: Record<string, { status: number; text?: string }>;
};

async function copyOfData(): Promise<string> {
  const copy = join(await temporaryFolder(), 'data');
  await cp(join(fixture, 'data'), copy, { recursive: true });
  // Git keeps no modes: with some umasks others can change the checkout, which the service refuses.
  await chmod(copy, 0o700);
  for (const entry of await readdir(copy, { withFileTypes: true }))
    await chmod(join(copy, entry.name), entry.isDirectory() ? 0o700 : 0o600);
  return copy;
}

/** Of a copy: the TV that asks is noted. */
async function expectSame(folder: string): Promise<void> {
  const copy = await temporaryFolder();
  await cp(folder, copy, { recursive: true });
  const service = await startService({ store: copy, clock: new ManualClock(facts.at) });
  const now = await answersOf(service, facts);
  await service.close();
  expect(Object.keys(answers).length).toBeGreaterThan(20);
  // Members may have been added since.
  for (const [path, answer] of Object.entries(answers))
    expect({ path, answer: now[path] }).toMatchObject({ path, answer });
}

describe('data of format 1', () => {
  it('is sound, starts, and is answered as the version that wrote it did', async () => {
    const folder = await copyOfData();
    expect(await checkStore(folder)).toEqual([]);
    await expectSame(folder);
    await (await startService({ store: folder, clock: new ManualClock(facts.at) })).close();
    expect(await checkStore(folder)).toEqual([]);
    await expectSame(folder);
  });

  it('can be repaired, though its manifest says less than those of today', async () => {
    const folder = await copyOfData();
    const into = join(await temporaryFolder(), 'new');
    expect(await repairStore(folder, into, new ManualClock(facts.at))).toEqual([]);
    await expectSame(into);
  });

  it('is still made in the same way', async () => {
    const killed = join(await temporaryFolder(), 'killed');
    const made = await makeData(await temporaryFolder(), killed);
    const service = await startService({ store: killed, clock: new ManualClock(made.at) });
    expect(Object.keys(await answersOf(service, made))).toHaveLength(Object.keys(answers).length);
  });
});

describe('a start on data of an older format', () => {
  const contextOf = (directory: string, warnings: string[] = []) => ({
    ...{ disk: nodeFileSystem, directory, clock: new ManualClock(facts.at), lowWaterBytes: 0 },
    warn: (message: string) => void warnings.push(message),
  });
  const random = (size: number) => new Uint8Array(size);
  const open = (directory: string, step: UpgradeStep, warnings: string[] = []) =>
    openJsonStore(contextOf(directory, warnings), random, async () => {}, [step]);

  /** Gives each screens document a new name. */
  const renaming: UpgradeStep = async (disk, directory, manifest) => {
    const documents = { ...manifest.documents };
    for (const [name, entry] of Object.entries(documents)) {
      if (!name.startsWith('rows-screens-')) continue;
      const file = `${name}.format-2.json`;
      if ((await disk.sizeOf(`${directory}/documents/${file}`)) === undefined)
        await cp(join(directory, 'documents', entry.file), join(directory, 'documents', file));
      documents[name] = { ...entry, file };
    }
    return { ...manifest, documents };
  };
  const formatOf = async (folder: string) =>
    JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')).format;

  it('brings it to the new format, after a copy from which the former version starts', async () => {
    const folder = await copyOfData();
    const warnings: string[] = [];
    const store = await open(folder, renaming, warnings);
    expect((await store.list('screens', { limit: 10 })).items).toHaveLength(4);
    await store.close();
    expect(warnings).toEqual([
      expect.stringContaining(
        `from format 1 to 2. A copy in the old format is kept in ${folder}/backup-1`,
      ),
    ]);
    expect([await formatOf(folder), await formatOf(join(folder, 'backup-1'))]).toEqual([2, 1]);
    await expect(startService({ store: folder })).rejects.toMatchObject({ code: 'store_too_new' });
    await expectSame(join(folder, 'backup-1'));
    // Once is enough.
    const again: string[] = [];
    await (await open(folder, renaming, again)).close();
    expect(again).toEqual([]);
  });

  it('goes on where one that was cut short has stopped, in the copy or in the step', async () => {
    const folder = await copyOfData();
    const failing: UpgradeStep = async (disk, directory, manifest) => {
      await renaming(disk, directory, manifest);
      throw new Error('power cut');
    };
    await expect(open(folder, failing)).rejects.toThrow('power cut');
    expect(await formatOf(folder)).toBe(1);
    // The copy was complete before: as if it had been cut short, it has no manifest.
    await rm(join(folder, 'backup-1/manifest.json'));
    await rm(join(folder, 'backup-1/secret'));
    await (await open(folder, renaming)).close();
    expect([await formatOf(folder), await formatOf(join(folder, 'backup-1'))]).toEqual([2, 1]);
    await expectSame(join(folder, 'backup-1'));
  });

  it('does not begin with a folder that is empty', async () => {
    const folder = await temporaryFolder();
    await (await open(folder, renaming)).close();
    expect(await formatOf(folder)).toBe(2);
  });
});
