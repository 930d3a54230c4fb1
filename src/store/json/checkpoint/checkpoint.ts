import { Low } from 'lowdb';
import { inParallel } from '../disk/in-parallel.ts';
import type { ManifestData } from '../manifest.ts';
import type { FilePart, PartContext } from '../parts.ts';
import { type DocumentEntry, DocumentFile } from './document-file.ts';
import type { DocumentOwner, RenderedDocument, WrittenDocument } from './document-owner.ts';

/** Documents that are written at the same time. */
const width = 4;

/** What a checkpoint made of a document: `undefined` when it is empty and goes. */
interface Replaced {
  owner: DocumentOwner;
  name: string;
  after: DocumentEntry | undefined;
}

/**
 * Writes what the documents lack: each changed document under a new name, then the manifest that names them, and only then goes what nobody
 * needs any more. A crash between any two steps leaves the state before or the state after, and leftovers that the next start removes.
 */
export class Checkpoint {
  readonly #context: PartContext;
  readonly #directory: string;
  readonly #manifest: Low<ManifestData>;
  readonly #parts: readonly FilePart[];
  readonly #owners: readonly DocumentOwner[];
  #number: number;

  /** `parts` in the order in which they are prepared. */
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

  /** Bytes of all documents. */
  get documentBytes(): number {
    return Object.values(this.#manifest.data.documents).reduce(
      (bytes, entry) => bytes + entry.size,
      0,
    );
  }

  /** `clean`: the store is being closed, and nothing comes after. Not to be called again before it is done. */
  async run(clean: boolean): Promise<void> {
    this.#number++;
    const before = this.#manifest.data;
    const replaced: Replaced[] = [];
    try {
      await this.#writeDocuments(replaced, clean);
      if (isSame(before, this.#manifest.data)) return;
      await this.#manifest.write();
    } catch (error) {
      // Which manifest is on the disk is not known any more: what either of them names stays.
      if (this.#manifest.data === before)
        await this.#removeFiles(replaced.flatMap(({ after }) => after?.file ?? []));
      this.#manifest.data = before;
      for (const { owner, name } of replaced) owner.failed(name);
      throw error;
    }
    for (const { owner, name, after } of replaced)
      owner.written(name, after && writtenDocument(this.#context, this.#directory, after));
    await this.#tidy(replaced.flatMap(({ name }) => before.documents[name]?.file ?? []));
  }

  async #writeDocuments(replaced: Replaced[], clean: boolean): Promise<void> {
    const before = this.#manifest.data;
    const marks: Record<string, unknown> = {};
    for (const part of this.#parts) marks[part.name] = await part.prepare();
    const dirty = this.#owners.flatMap((owner) => owner.dirty().map((name) => ({ owner, name })));
    await inParallel(dirty, width, ({ owner, name }) => this.#replace(owner, name, replaced));
    if (dirty.length > 0) await this.#context.disk.syncDirectory(this.#directory);
    this.#manifest.data = {
      ...before,
      checkpoint: this.#number,
      clean,
      marks,
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

  /** The checkpoint stands; what fails here is done by a later one, or by the next start. */
  async #tidy(files: readonly string[]): Promise<void> {
    try {
      await this.#removeFiles(files);
      for (const part of this.#parts) await part.committed();
    } catch (error) {
      this.#context.warn('What a checkpoint has replaced could not be deleted', error);
    }
  }

  async #removeFiles(files: readonly string[]): Promise<void> {
    for (const file of files)
      await this.#context.disk.unlink(`${this.#directory}/${file}`).catch(() => undefined);
  }
}

/** A document on the disk, read through lowdb when asked. */
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

/** Whether a manifest says the same as the one before: nothing has happened. */
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
