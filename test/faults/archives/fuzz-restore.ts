import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SignageError } from '../../../src/domain/error.ts';
import { mediaFilePath, mediaFolder } from '../../../src/domain/media/media-keys.ts';
import type { Media } from '../../../src/domain/media/rows.ts';
import { openFolderMediaStore } from '../../../src/media/folder-media-store.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { restoreStore } from '../../../src/store/maintenance/restore.ts';
import { add, bytesOf } from '../../store/dump/backup-load.ts';
import { tenantA } from '../../store/sample-batch.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { idOf, someFile } from '../../support/service/media.ts';
import { FuzzRandom } from '../fuzz/random.ts';
import { fileMutations } from './file-mutations.ts';
import { mutations } from './mutations.ts';

/**
 * Error codes with which a restore may fail. `copy_differs`: the dump is valid, but no store would
 * have written it.
 */
const refusals = new Set(['backup_unusable', 'copy_differs']);
const longestMessage = 1000;

/** Media files of three records, of one, and of one whose bytes are missing. */
const files = [someFile(1, 150_000), someFile(2, 100), someFile(3, 100)];
const stored = new Map(files.slice(0, 2).map((file) => [idOf(file), file]));
const mediaStore = {
  open: async (id: string) => {
    const file = stored.get(id);
    return file && new Blob([new Uint8Array(file)]).stream();
  },
};

/** Returns a backup of a small store, with or without the bytes of its media. */
export async function validBackup({ withMedia = false } = {}): Promise<Buffer> {
  const clock = new ManualClock();
  const store = await openStore('memory:', { clock });
  for (let number = 1; number <= 3; number++) await add(store, clock, number);
  if (withMedia)
    await store.write(async (tx) => {
      for (const file of files) await tx.put('media', mediaRecord(file));
    });
  const backup = Buffer.from(await bytesOf(await store.backup(withMedia ? mediaStore : undefined)));
  await store.close();
  return backup;
}

function mediaRecord(file: Buffer): Media {
  const fileId = idOf(file);
  return {
    id: `${tenantA}/${fileId}`,
    tenantId: tenantA,
    fileId,
    name: 'welcome.svg',
    type: 'image/svg+xml',
    bytes: file.length,
    tokenIds: [],
    createdAt: 0,
  };
}

/** Returns the contents of a folder: files with their bytes, folders as `undefined`. */
export async function treeOf(folder: string): Promise<Map<string, string | undefined>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const tree = new Map<string, string | undefined>();
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    tree.set(
      path.slice(folder.length + 1),
      entry.isFile() ? (await readFile(path)).toString('latin1') : undefined,
    );
  }
  return tree;
}

const shown = (tree: Map<string, string | undefined>) =>
  JSON.stringify([...tree].sort(([one], [other]) => (one < other ? -1 : 1)));

/** Where a backup is restored, and where its media go if not to their default. */
interface Target {
  data: string;
  media?: string;
}

/** Functions that prepare the targets of a restore. */
const targets: ((folder: string) => Promise<Target>)[] = [
  async (folder) => ({ data: join(folder, 'data') }),
  async (folder) => ({ data: join(folder, 'new', 'and', 'deep') }),
  async (folder) => ({ data: folder }),
  async (folder) => {
    await mkdir(join(folder, 'data', 'documents'), { recursive: true });
    await writeFile(join(folder, 'data', '.keep'), 'mine');
    return { data: join(folder, 'data') };
  },
  async (folder) => ({ data: join(folder, 'data'), media: join(folder, 'shared', 'media') }),
  async (folder) => {
    const media = join(folder, 'media');
    await mkdir(media);
    return { data: join(folder, 'data'), media };
  },
  async (folder) => {
    const media = join(folder, 'media');
    await mkdir(join(media, 'incomplete'), { recursive: true });
    for (const file of [files[1] as Buffer, someFile(9)]) {
      await mkdir(join(media, dirname(mediaFilePath(idOf(file)))), { recursive: true });
      await writeFile(join(media, mediaFilePath(idOf(file))), file);
    }
    return { data: join(folder, 'data'), media };
  },
];

/** Returns a stream of the bytes in chunks of random size, and counts the chunks read. */
function streamOf(bytes: Uint8Array, fuzzRandom: FuzzRandom): ReadableStream<Uint8Array> {
  const most = fuzzRandom.one([1000, 700, 65_536, 262_144]);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      const piece = bytes.subarray(at, at + fuzzRandom.whole(1, most));
      at += piece.length;
      controller.enqueue(piece);
    },
  });
}

export interface FuzzRestore {
  seed: string;
  count: number;
  /** Names of mutations. Default: all. */
  only?: readonly string[];
  restore?: typeof restoreStore;
}

/** Restores mutated dumps. Returns the outcomes, and those that violate the promise. */
export async function fuzzRestore({
  seed,
  count,
  only = [...Object.keys(mutations), ...Object.keys(fileMutations)],
  restore = restoreStore,
}: FuzzRestore) {
  const sound = await validBackup();
  const soundWithMedia = await validBackup({ withMedia: true });
  const outcomes: Record<string, { restored: number; refused: number }> = {};
  const messages = new Set<string>();
  const wrong: string[] = [];
  for (let number = 0; number < count; number++) {
    const fuzzRandom = new FuzzRandom(`${seed} ${number}`);
    const kind = only[number % only.length] as string;
    const bytes =
      mutations[kind]?.(sound, fuzzRandom) ??
      fileMutations[kind]?.(soundWithMedia, fuzzRandom) ??
      sound;
    const judged = await judge(bytes, fuzzRandom, restore);
    const outcome = outcomes[kind] ?? { restored: 0, refused: 0 };
    outcomes[kind] = outcome;
    if (judged.message === undefined) outcome.restored++;
    else outcome.refused++;
    if (judged.message !== undefined)
      messages.add(
        judged.message
          .replace(/^.*cannot be used as a backup: /, '')
          .replaceAll(/[0-9a-f]{64}|\d+/g, '0'),
      );
    if (judged.wrong !== undefined) wrong.push(`${seed} ${number}, ${kind}: ${judged.wrong}`);
  }
  return { outcomes, messages, wrong };
}

interface Judged {
  /** Message of the refusal. */
  message?: string;
  /** Violation of the promise. */
  wrong?: string;
}

async function judge(
  bytes: Uint8Array,
  fuzzRandom: FuzzRandom,
  restore: typeof restoreStore,
): Promise<Judged> {
  const folder = await temporaryFolder();
  const { data, media } = await fuzzRandom.one(targets)(folder);
  const before = shown(await treeOf(folder));
  try {
    await restore(streamOf(bytes, fuzzRandom), data, { media });
  } catch (error) {
    const { message } = error as Error;
    if (!(error instanceof SignageError) || !refusals.has(error.code))
      return { message, wrong: `${(error as Error).stack}` };
    if (/[\n\r]/.test(message) || message.length > longestMessage)
      return { message, wrong: `no line of a message: ${message}` };
    if (error.code === 'backup_unusable' && !/: line \d+: /.test(message))
      return { message, wrong: `it names no line: ${message}` };
    const after = shown(await treeOf(folder));
    return {
      message,
      ...(after !== before && { wrong: `left behind after "${message}": ${after}` }),
    };
  }
  const store = await openStore(data, { clock: new ManualClock() });
  const place = media ?? join(data, mediaFolder);
  const restored = await openFolderMediaStore(place, { isShared: true });
  const dumped = Buffer.from(bytes).toString('latin1');
  const again = Buffer.from(
    await bytesOf(
      await store.backup({
        // The folder may have files that the dump does not have.
        open: async (id) =>
          dumped.includes(`{"section":"files","row":{"id":"${id}"`) ? restored.open(id) : undefined,
      }),
    ),
  );
  await store.close();
  // A changed dump with a valid SHA-256 is a valid dump of other contents.
  const isSame = recordLines(again.toString('latin1')) === recordLines(dumped);
  return isSame ? {} : { wrong: 'restored, and not the same' };
}

/** Returns the lines between the first, which has the time, and the last, which has the SHA-256. */
function recordLines(dump: string): string {
  return dump.split('\n').slice(1, -2).join('\n');
}
