import type { Low } from 'lowdb';
import pLimit from 'p-limit';
import type { FilePart, MarkedPart, PartContext } from '../disk/parts.ts';
import { yieldToEventLoop } from '../disk/yield.ts';
import { type DocumentEntry, DocumentFile, writeDocument } from './document-file.ts';
import type { DocumentOwner, WrittenDocument } from './document-owner.ts';
import type { ManifestData } from './manifest.ts';

/** Maximum number of documents that are written at the same time. */
const concurrency = 4;

/**
 * A document that a checkpoint replaces. `after` is the new version. It is `undefined` if the
 * document is empty and is deleted.
 */
interface Replaced {
  owner: DocumentOwner;
  name: string;
  after: DocumentEntry | undefined;
}

/** The parts of the store that a checkpoint writes. */
interface CheckpointParts {
  /** In the order in which they are prepared. */
  marked: readonly MarkedPart[];
  files: readonly FilePart[];
  owners: readonly DocumentOwner[];
}

/**
 * Writes each changed document under a new name, then the manifest that names them, then deletes
 * the files that are no longer needed. A crash between two steps leaves the old state or the new
 * one. The next start removes leftover files.
 */
export class Checkpoint {
  readonly #context: PartContext;
  readonly #directory: string;
  readonly #manifest: Low<ManifestData>;
  readonly #parts: CheckpointParts;
  readonly #turns = pLimit(1);
  #number: number;

  constructor(context: PartContext, manifest: Low<ManifestData>, parts: CheckpointParts) {
    this.#context = context;
    this.#directory = `${context.directory}/documents`;
    this.#manifest = manifest;
    this.#parts = parts;
    this.#number = manifest.data.checkpoint;
  }

  /** Total size of all documents in bytes. */
  get documentBytes(): number {
    return Object.values(this.#manifest.data.documents).reduce(
      (bytes, entry) => bytes + entry.size,
      0,
    );
  }

  /**
   * Makes a checkpoint. Calls must not overlap. `clean`: this is the last checkpoint of a clean
   * stop, and the manifest says so.
   */
  async run(clean: boolean): Promise<void> {
    this.#number++;
    const before = this.#manifest.data;
    const replaced: Replaced[] = [];
    try {
      await this.#writeDocuments(replaced, clean);
      if (isSame(before, this.#manifest.data)) return;
      await this.#manifest.write();
    } catch (error) {
      // If the manifest was being written, either version may be on disk: keep the files of both.
      if (this.#manifest.data === before)
        await this.#removeFiles(replaced.flatMap(({ after }) => after?.file ?? []));
      this.#manifest.data = before;
      for (const { owner, name } of replaced) owner.failed(name);
      throw error;
    }
    for (const { owner, name, after } of replaced) owner.written?.(name, this.#written(after));
    await this.#deleteReplaced(replaced.flatMap(({ name }) => before.documents[name]?.file ?? []));
  }

  async #writeDocuments(replaced: Replaced[], clean: boolean): Promise<void> {
    const before = this.#manifest.data;
    const positions: Record<string, unknown> = {};
    for (const part of this.#parts.marked) positions[part.name] = await part.prepare();
    const dirty = this.#parts.owners.flatMap((owner) =>
      owner.dirty().map((name) => ({ owner, name })),
    );
    await inParallel(dirty, concurrency, ({ owner, name }) => this.#replace(owner, name, replaced));
    if (dirty.length > 0) await this.#context.disk.syncDirectory(this.#directory);
    this.#manifest.data = {
      ...before,
      checkpoint: this.#number,
      clean,
      marks: positions,
      documents: documentsAfter(before.documents, replaced),
    };
  }

  async #replace(owner: DocumentOwner, name: string, replaced: Replaced[]): Promise<void> {
    const result: Replaced = { owner, name, after: undefined };
    replaced.push(result);
    // Each turn of the event loop renders one document. A large one takes 10 ms.
    await this.#turns(yieldToEventLoop);
    const rendered = await owner.render(name, this.#written(this.#manifest.data.documents[name]));
    const file = `${name}.${this.#number}.json`;
    if (rendered)
      result.after = await writeDocument(this.#context.disk, this.#directory, file, rendered);
  }

  #written(entry: DocumentEntry | undefined): WrittenDocument | undefined {
    return entry && new DocumentFile(this.#context.disk, this.#directory, entry);
  }

  /**
   * Deletes replaced files. The checkpoint is complete, so a failure is only logged: a later
   * checkpoint or the next start deletes the files.
   */
  async #deleteReplaced(files: readonly string[]): Promise<void> {
    try {
      await this.#removeFiles(files);
      for (const part of this.#parts.files) await part.committed();
    } catch (error) {
      this.#context.warn('Files replaced by a checkpoint could not be deleted', error);
    }
  }

  async #removeFiles(files: readonly string[]): Promise<void> {
    for (const file of files)
      await this.#context.disk.unlink(`${this.#directory}/${file}`).catch(() => undefined);
  }
}

/** Whether two manifests are equal except for the checkpoint number. */
function isSame(before: ManifestData, after: ManifestData): boolean {
  return (
    JSON.stringify({ ...before, checkpoint: 0 }) === JSON.stringify({ ...after, checkpoint: 0 })
  );
}

function documentsAfter(
  before: Record<string, DocumentEntry>,
  replaced: readonly Replaced[],
): Record<string, DocumentEntry> {
  const documents = { ...before };
  for (const { name, after } of replaced) {
    if (after) documents[name] = after;
    else delete documents[name];
  }
  return documents;
}

/**
 * Processes items in order, at most `width` at a time. Waits for all of them, then rejects if one
 * has failed.
 */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const limit = pLimit(width);
  const results = await Promise.allSettled(items.map((item) => limit(work, item)));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
