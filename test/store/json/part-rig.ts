import type { Clock } from '../../../src/domain/clock.ts';
import { Checkpoint } from '../../../src/store/json/checkpoint/checkpoint.ts';
import { DocumentFile } from '../../../src/store/json/checkpoint/document-file.ts';
import { documentLine } from '../../../src/store/json/checkpoint/document-line.ts';
import type {
  DocumentOwner,
  WrittenDocument,
} from '../../../src/store/json/checkpoint/document-owner.ts';
import { readManifest } from '../../../src/store/json/checkpoint/manifest.ts';
import type { FileSystem } from '../../../src/store/json/disk/file-system.ts';
import type { FilePart, PartContext } from '../../../src/store/json/disk/parts.ts';
import { EventLog } from '../../../src/store/json/events/event-log.ts';

/** Some parts of the store in a folder, with their own checkpoints and manifest. */
export interface Rig {
  checkpoint(): Promise<void>;
  /** Stops the parts as the store does. */
  close(clean?: boolean): Promise<void>;
}

export function contextOn(
  disk: FileSystem,
  clock: Clock,
  directory = '/data',
): PartContext & { warnings: string[] } {
  const warnings: string[] = [];
  return {
    disk,
    directory,
    clock,
    lowWaterBytes: 1000,
    warn: (message) => warnings.push(message),
    warnings,
  };
}

/**
 * Opens parts as the store does: documents, `recover` (here also `replay`, for records that the
 * journal would replay), manifest, `begin`.
 */
export async function openParts(
  context: PartContext,
  parts: readonly FilePart[],
  owners: readonly DocumentOwner[],
  replay: () => void = () => {},
): Promise<Rig> {
  const { disk, directory } = context;
  const manifest = await readManifest(disk, directory);
  for (const [name, entry] of Object.entries(manifest.data.documents)) {
    const owner = owners.find(({ kind }) => name.startsWith(`${kind}-`));
    await owner?.load(name, new DocumentFile(disk, `${directory}/documents`, entry));
  }
  for (const part of parts) await part.recover(manifest.data.marks[part.name], manifest.data.clean);
  replay();
  manifest.data = { ...manifest.data, epoch: manifest.data.epoch + 1, clean: false };
  await manifest.write();
  await disk.makeDirectory(`${directory}/documents`);
  const named = new Set(Object.values(manifest.data.documents).map(({ file }) => file));
  for (const file of await disk.list(`${directory}/documents`))
    if (!named.has(file)) await disk.unlink(`${directory}/documents/${file}`);
  for (const part of parts) await part.begin(manifest.data.epoch);
  const checkpoint = new Checkpoint(context, manifest, { marked: parts, files: parts, owners });
  return {
    checkpoint: () => checkpoint.run(false),
    async close(clean = true) {
      for (const part of parts) await part.close();
      await checkpoint.run(clean);
    },
  };
}

export interface LogRig extends Rig {
  log: EventLog;
}

export async function openLog(context: PartContext): Promise<LogRig> {
  const log = new EventLog(context);
  return { ...(await openParts(context, [log], log.owners)), log };
}

/** A written document of the lines of this text. */
export function documentOf(text: string, more: Partial<WrittenDocument> = {}): WrittenDocument {
  const lines = text.split('\n').filter((line) => line !== '');
  const written = lines.map((line) => documentLine(line)).join('');
  return {
    seq: 1,
    text: async () => written,
    bytes: async () => Buffer.from(written),
    async *chunks() {
      yield Buffer.from(written);
    },
    ...more,
  };
}

/** The records of a document on disk, which is one JSON array with a checksum before each. */
export function recordsOf(text: string): unknown[] {
  return (JSON.parse(text) as unknown[]).filter((_, at) => at % 2 === 1).slice(1, -1);
}
