import { Low } from 'lowdb';
import { inParallel } from '../disk/in-parallel.ts';
import type { ManifestData } from '../manifest.ts';
import type { FilePart, PartContext } from '../parts.ts';
import { type DocumentEntry, DocumentFile } from './document-file.ts';
import type { DocumentOwner, RenderedDocument, WrittenDocument } from './document-owner.ts';

/** Documents written concurrently. */
const concurrency = 4;

/** A document's new version; `undefined` if the document is empty and is deleted. */
interface Replaced {
  owner: DocumentOwner;
  name: string;
  after: DocumentEntry | undefined;
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
  readonly #parts: readonly FilePart[];
  readonly #owners: readonly DocumentOwner[];
  #number: number;

  /** @param parts in the order in which they are prepared */
  constructor(
    context: PartContext,
    manifest: Low<ManifestData>,
    parts: readonly FilePart[],
    owners: readonly DocumentOwner[],
  ) {
    this.#context = context;
    this.#directory = `${context.directory}/documents`;
    this.#manifest = manifest;
    this.#parts = parts;
    this.#owners = owners;
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
   * Makes a checkpoint. Calls must not overlap. `clean`: the store is closing, so this is the last
   * one.
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
    for (const { owner, name, after } of replaced)
      owner.written(name, after && writtenDocument(this.#context, this.#directory, after));
    await this.#deleteReplaced(replaced.flatMap(({ name }) => before.documents[name]?.file ?? []));
  }

  async #writeDocuments(replaced: Replaced[], clean: boolean): Promise<void> {
    const before = this.#manifest.data;
    const positions: Record<string, unknown> = {};
    for (const part of this.#parts) positions[part.name] = await part.prepare();
    const dirty = this.#owners.flatMap((owner) => owner.dirty().map((name) => ({ owner, name })));
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
    const entry = this.#manifest.data.documents[name];
    const result: Replaced = { owner, name, after: undefined };
    replaced.push(result);
    const rendered = await owner.render(
      name,
      entry && writtenDocument(this.#context, this.#directory, entry),
    );
    if (rendered) result.after = await this.#write(name, rendered);
  }

  async #write(name: string, rendered: RenderedDocument): Promise<DocumentEntry> {
    const entry = { file: `${name}.${this.#number}.json`, size: 0, crc: '', seq: 0 };
    const file = new DocumentFile(this.#context.disk, this.#directory, entry);
    await new Low(file, rendered).write();
    return file.entry;
  }

  /**
   * Deletes replaced files. The checkpoint is complete, so a failure is only logged: a later
   * checkpoint or the next start deletes the files.
   */
  async #deleteReplaced(files: readonly string[]): Promise<void> {
    try {
      await this.#removeFiles(files);
      for (const part of this.#parts) await part.committed();
    } catch (error) {
      this.#context.warn('Files replaced by a checkpoint could not be deleted', error);
    }
  }

  async #removeFiles(files: readonly string[]): Promise<void> {
    for (const file of files)
      await this.#context.disk.unlink(`${this.#directory}/${file}`).catch(() => undefined);
  }
}

/** Returns a document on disk, which lowdb reads on demand. */
export function writtenDocument(
  { disk }: PartContext,
  directory: string,
  entry: DocumentEntry,
): WrittenDocument {
  const file = new DocumentFile(disk, directory, entry);
  return {
    seq: entry.seq,
    chunks: (comesBefore) => file.chunks(comesBefore),
    bytes: () => file.bytes(),
    async read() {
      const document = new Low(file, { seq: entry.seq, lines: [] } as RenderedDocument);
      await document.read();
      let text = '';
      for await (const line of document.data.lines) text += line;
      return text;
    },
  };
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
