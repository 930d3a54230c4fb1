// Defects of durability around the disk and the store, for the crash and disk tests.
import { setImmediate } from 'node:timers/promises';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import {
  type ManifestData,
  manifestBytes,
  readRecordFile,
} from '../../../src/store/json/checkpoint/manifest.ts';
import type { FileSystem, OpenFile } from '../../../src/store/json/disk/file-system.ts';
import type { LogFilesPosition } from '../../../src/store/json/log/day-files.ts';
import type { Store } from '../../../src/store/store.ts';
import { withTx } from '../../support/stores/defective-store.ts';
import { type Defect, directory } from '../crashes/checker.ts';
import { type CrashSearch, searchCrashStates } from '../crashes/search-crash-states.ts';
import type { Step } from '../crashes/steps.ts';
import { damageEverywhere } from '../disk/damage-everywhere.ts';
import { failEverywhere } from '../disk/fail-everywhere.ts';
import { findTwoOwners } from '../disk/two-owners.ts';
import { cutBackup } from './cut-backup.ts';
import { lockByTime } from './lock-by-time.ts';
import { seeded } from './seeded-defect.ts';

/** Returns a disk that wraps each written file. */
function withFiles(
  disk: FileSystem,
  change: (file: OpenFile, path: string) => Partial<OpenFile>,
): FileSystem {
  const changed = (path: string, file: OpenFile) => decorateStore(file, change(file, path));
  return decorateStore(disk, {
    create: async (path) => changed(path, await disk.create(path)),
    open: async (path, how) => changed(path, await disk.open(path, how)),
  });
}

/** Returns a disk that changes the manifest on reading. */
function withManifest(
  disk: FileSystem,
  change: (manifest: ManifestData) => Promise<ManifestData>,
): FileSystem {
  return decorateStore(disk, {
    async readFile(path) {
      const manifest =
        path === `${directory}/manifest.json`
          ? await readRecordFile<ManifestData>(disk, path)
          : null;
      return manifest ? manifestBytes(await change(manifest)) : disk.readFile(path);
    },
  });
}

async function filtered(
  manifest: ManifestData,
  keep: (file: string) => Promise<boolean>,
): Promise<ManifestData> {
  const documents: ManifestData['documents'] = {};
  for (const [name, entry] of Object.entries(manifest.documents))
    if (await keep(entry.file)) documents[name] = entry;
  return { ...manifest, documents };
}

/** Leaves the last entry of a journal record out of the position of the audit trail. */
async function cutTrail(disk: FileSystem, manifest: ManifestData): Promise<ManifestData> {
  const audit = manifest.marks.audit as LogFilesPosition | undefined;
  if (!audit?.file || audit.gone) return manifest;
  const file = await disk.readFile(`${directory}/audit/${audit.file}`);
  const lines = file.toString('latin1', 0, audit.size).split('\n').slice(0, -2);
  const isOfRecord = lines.at(-1)?.includes(`"seq":${audit.seq},`);
  const size = isOfRecord ? lines.join('\n').length + 1 : audit.size;
  return { ...manifest, marks: { ...manifest.marks, audit: { ...audit, size } } };
}

const nothing = async () => {};

/** Deletes old journal segments before the new manifest is written. */
function cutJournalFirst(disk: FileSystem): FileSystem {
  const cut = async (bytes: Uint8Array) => {
    const { marks } = JSON.parse(Buffer.from(bytes).toString()) as ManifestData;
    const { file } = (marks.journal ?? { file: null }) as { file: string | null };
    for (const name of await disk.list(`${directory}/journal`))
      if (file !== null && name < file) await disk.unlink(`${directory}/journal/${name}`);
    await disk.syncDirectory(`${directory}/journal`);
  };
  return withFiles(disk, (file, path) => ({
    async write(bytes) {
      if (path === `${directory}/manifest.json.tmp`) await cut(bytes);
      return file.write(bytes);
    },
  }));
}

/** Counts repeated batches in reports. */
function countingRepeats(store: Store): Store {
  let repeats = 0;
  return decorateStore(store, {
    async appendBatch(batch) {
      const answer = await store.appendBatch(batch);
      if (answer === 'repeated') repeats += batch.sums.length;
      return answer;
    },
    async impressions(query) {
      const rows = await store.impressions(query);
      return rows.map((row, index) =>
        index === 0 ? { ...row, impressions: row.impressions + repeats } : row,
      );
    },
  });
}

type Find = (seededDefect?: Defect) => Promise<readonly string[]>;

const crashStates = (search: Partial<CrashSearch> & { scenarioSteps: readonly Step[] }): Find => {
  const whole = { lives: 1, tornEveryBytes: 2000, first: true, ...search };
  return async (seededDefect) => (await searchCrashStates(whole, seededDefect)).bad;
};

// Small searches that suffice to detect the defects.
const states = crashStates({
  scenarioSteps: ['change', 'batch', 'minute', 'kill', 'change', 'batches'],
  every: 9,
});
const running = crashStates({ scenarioSteps: ['group', 'batches', 'batches'], every: 200 });
const restarted = crashStates({
  scenarioSteps: ['change', 'kill', 'change', 'minute'],
  lastSteps: 30,
  every: 3,
});
const torn = crashStates({
  scenarioSteps: ['change', 'change'],
  tornEveryBytes: 900,
  every: 3,
  twiceEvery: 1,
});
const chained = crashStates({
  scenarioSteps: ['change', 'day', 'change', 'minute', 'drop', 'kill', 'change'],
  lastSteps: 40,
  every: 5,
});
const bulk = crashStates({
  scenarioSteps: ['bulk change', 'minute', 'change', 'kill', 'change'],
  every: 500,
});
const backups = crashStates({
  scenarioSteps: ['change', 'minute', 'change', 'backup'],
  every: 500,
});
const failures =
  (only: RegExp): Find =>
  async (seededDefect) => {
    const scenarioSteps = ['change', 'batch', 'change', 'batch', 'change'] as const;
    return (await failEverywhere({ scenarioSteps, only, untilBad: true }, seededDefect)).bad;
  };
const damages: Find = async (seededDefect) => {
  const scenarioSteps = ['change', 'batch'] as const;
  const search = { clean: true, scenarioSteps, everyBytes: 3000, untilBad: true };
  return (await damageEverywhere(search, seededDefect)).bad;
};

export const crashes = [
  seeded('crash-states', states, {
    'no fsync': { disk: (disk) => withFiles(disk, () => ({ datasync: setImmediate })) },
    'no directory fsync': { disk: (disk) => decorateStore(disk, { syncDirectory: nothing }) },
    'acknowledged before the sync': {
      disk: (disk) =>
        withFiles(disk, (file) => ({
          datasync: async () => void setImmediate().then(() => file.datasync()),
        })),
    },
    'idempotency keys forgotten at a restart': {
      disk: (disk) =>
        withManifest(disk, (manifest) =>
          filtered(manifest, async (file) => !file.startsWith('rings-')),
        ),
    },
  }),
  seeded('crash-states', restarted, {
    'the journal cut before the manifest': { disk: cutJournalFirst },
  }),
  seeded('crash-states', torn, {
    'a torn tail kept': { disk: (disk) => withFiles(disk, () => ({ truncate: nothing })) },
  }),
  seeded('crash-states', chained, {
    'a chain of the audit trail that begins anew at a restart': {
      disk: (disk) =>
        withManifest(disk, async ({ marks: { chain: _forgotten, ...marks }, ...manifest }) => ({
          ...manifest,
          marks,
        })),
    },
  }),
  seeded('crash-states', bulk, {
    'a position of the audit trail inside a record': {
      disk: (disk) => withManifest(disk, (manifest) => cutTrail(disk, manifest)),
    },
  }),
  seeded('crash-states', running, {
    'a change blind to what others have staged': {
      store: (store) =>
        decorateStore(
          store,
          withTx(store, (tx) => ({
            get: (table, id) =>
              table === 'venues' ? store.read.get(table, id) : tx.get(table, id),
          })),
        ),
    },
    'a report that counts a repeat': { store: countingRepeats },
  }),
  seeded('crash-states', backups, {
    'a backup without the end of the journal': {
      store: (store) =>
        decorateStore(store, { backup: async () => cutBackup(await store.backup()) }),
    },
  }),
  seeded('fail-everywhere', failures(/^datasync .*\/journal\//), {
    'a sync tried again after EIO': {
      disk: (disk) =>
        withFiles(disk, (file) => ({
          datasync: () => file.datasync().catch(() => file.datasync()),
        })),
    },
  }),
  seeded('fail-everywhere', failures(/^write .*\/journal\//), {
    'a short write taken for a whole one': {
      disk: (disk) =>
        withFiles(disk, (file) => ({
          write: (bytes) => file.write(bytes).then(() => bytes.length),
        })),
    },
    'no truncation after a short write': {
      disk: (disk) => withFiles(disk, () => ({ truncate: nothing })),
    },
  }),
  seeded('damage-everywhere', damages, {
    'a missing document taken for an empty one': {
      disk: (disk) =>
        withManifest(disk, (manifest) =>
          filtered(
            manifest,
            async (file) => (await disk.sizeOf(`${directory}/documents/${file}`)) !== undefined,
          ),
        ),
    },
  }),
  seeded('two-owners', findTwoOwners, { 'a lock by a time stamp': lockByTime }),
];
