import { randomBytes } from 'node:crypto';
import { hasCode } from '../../../src/domain/error.ts';
import { verifyTrail } from '../../../src/store/json/check/check-folder.ts';
import { readManifest } from '../../../src/store/json/checkpoint/manifest.ts';
import type { FileSystem } from '../../../src/store/json/disk/file-system.ts';
import { openJsonStore } from '../../../src/store/json/open.ts';
import { readSecret } from '../../../src/store/json/secret.ts';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { compare, type StoredContents } from './compare.ts';
import { contentsOf, countedAfter } from './contents.ts';
import { newRun, type Run, timeAt } from './model.ts';
import { diskOf, type Files } from './recorded-disk.ts';
import { batchNumber, isKeyed, makeChange } from './sample-changes.ts';

/** A defect around the disk under the store, or around the store. */
export interface Defect {
  disk?: (disk: FileSystem) => FileSystem;
  store?: (store: Store) => Store;
}

export const directory = '/data';

/** A number that no run uses. */
const aFurther = 900_001;

/** Opens the store like the service, without the lock of the folder. */
export async function openOn(
  disk: FileSystem,
  clock: ManualClock,
  { disk: around, store: over }: Defect = {},
): Promise<Store> {
  const context = {
    disk: around?.(disk) ?? disk,
    directory,
    clock,
    lowWaterBytes: 1000,
    warn: () => {},
  };
  const store = await openJsonStore(context, randomBytes, async () => {});
  return over?.(store) ?? store;
}

/** Expects the idempotency keys of stored batches to be known: a repeat stores nothing. */
async function checkRepeats(store: Store, { batches }: StoredContents): Promise<string[]> {
  const wrong: string[] = [];
  for (const number of batches.filter(isKeyed)) {
    const answer = await store.appendBatch(batchNumber(number));
    if (answer !== 'repeated') wrong.push(`batch ${number}, sent again, is ${answer}`);
  }
  const { counted } = (await contentsOf(store)).contents;
  if (counted !== countedAfter(batches))
    wrong.push(`after batches were sent again the report counts ${counted}`);
  return wrong;
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Compares the contents of an opened store with those allowed after this step. */
async function look(
  store: Store,
  run: Run,
  step: number,
): Promise<{ wrong: string[]; held: StoredContents }> {
  const { contents, wrong } = await contentsOf(store);
  const compared = compare(contents, run, step);
  const secret = hexOf(store.secret);
  const isOther = run.secret !== undefined && run.secret.step <= step && run.secret.hex !== secret;
  return {
    wrong: [...wrong, ...compared.wrong, ...(isOther ? ['the secret is another'] : [])],
    held: compared.held,
  };
}

/** Returns the damage of the audit chain on a disk. */
async function trailDamage(disk: FileSystem): Promise<string[]> {
  const context = { disk, directory, clock: new ManualClock(), lowWaterBytes: 0, warn: () => {} };
  const { data: manifest } = await readManifest(disk, directory);
  if (manifest.epoch === 0) return [];
  const damage: string[] = [];
  await verifyTrail(
    context,
    manifest,
    await readSecret(context, manifest.secret),
    ({ level, what }) => level === 'damage' && damage.push(`the audit trail: ${what}`),
  );
  return damage;
}

/** Returns a run in which exactly these changes and batches were acknowledged. */
function runOf(
  { changes, batches }: StoredContents,
  of: Run,
  step: number,
  secret: Uint8Array,
): Run {
  const run = {
    ...newRun(),
    secret: { step: 0, hex: hexOf(secret) },
    dropped: of.dropped.filter((one) => one.step <= step),
  };
  for (const one of ['changes', 'batches'] as const) {
    for (const number of { changes, batches }[one])
      run[one].begin(
        number,
        0,
        number === aFurther ? timeAt(of, step) : of[one].timeOf(number),
      ).acknowledged = 0;
  }
  run.dropped = run.dropped.map(({ beforeMs }) => ({ step: 0, beforeMs }));
  return run;
}

/**
 * Opens the store after a crash and returns the violations: it must start with contents that are
 * allowed after this step. With `twice`, it must also accept another change and batch, keep
 * everything over another power cut, and recognize repeated batches.
 */
export async function checkState(
  files: Files,
  run: Run,
  step: number,
  { twice, ...defect }: Defect & { twice: boolean },
): Promise<string[]> {
  const nowMs = timeAt(run, step);
  const disk = diskOf(files);
  try {
    const left = await trailDamage(defect.disk?.(disk) ?? disk);
    const store = await openOn(disk, new ManualClock(nowMs), defect);
    const { wrong, held } = await look(store, run, step);
    wrong.push(...left, ...(await trailDamage(defect.disk?.(disk) ?? disk)));
    if (wrong.length > 0 || !twice) return wrong;
    await makeChange(store, aFurther, nowMs);
    await store.appendBatch(batchNumber(aFurther));
    const later = runOf(
      { changes: [...held.changes, aFurther], batches: [...held.batches, aFurther] },
      run,
      step,
      store.secret,
    );
    const again = await openOn(disk.afterPowerCut(), new ManualClock(nowMs), defect);
    const second = await look(again, later, 0);
    if (second.wrong.length === 0) second.wrong.push(...(await checkRepeats(again, second.held)));
    return second.wrong.map((what) => `once more: ${what}`);
  } catch (error) {
    return [
      hasCode(error, 'store_damaged')
        ? `it does not start: ${error.message}`
        : `it fails: ${(error as Error).stack}`,
    ];
  }
}
