import { SignageError } from '../../../domain/error.ts';
import { writtenDocument } from '../checkpoint/checkpoint.ts';
import type { DocumentOwner } from '../checkpoint/document-owner.ts';
import type { EventsMark } from '../events/recovery.ts';
import type { LogFilesPosition } from '../log/day-files.ts';
import { dataFormat, type ManifestData, readManifest } from '../manifest.ts';
import { recoverParts } from '../open.ts';
import type { PartContext } from '../parts.ts';
import { readSecret } from '../secret.ts';

/** All that a data folder holds, as a start would read it; nothing is changed on the disk. */
export class FolderState {
  readonly context: PartContext;
  readonly manifest: ManifestData;
  readonly secret: Uint8Array;
  readonly parts: Awaited<ReturnType<typeof recoverParts>>;
  /** The last durable batch. */
  readonly logEnd: EventsMark;

  private constructor(
    context: PartContext,
    manifest: ManifestData,
    secret: Uint8Array,
    parts: Awaited<ReturnType<typeof recoverParts>>,
    logEnd: EventsMark,
  ) {
    this.context = context;
    this.manifest = manifest;
    this.secret = secret;
    this.parts = parts;
    this.logEnd = logEnd;
  }

  static async read(context: PartContext): Promise<FolderState> {
    const { disk, directory } = context;
    const { data: manifest } = await readManifest(disk, directory);
    if (manifest.epoch === 0)
      throw new SignageError('store_unusable', `${directory} holds no data: name a data folder.`);
    if (manifest.format < dataFormat)
      throw new SignageError(
        'store_unusable',
        `${directory} has an older format: start the service on it once, which brings it up to date.`,
      );
    const secret = await readSecret(context, manifest.secret);
    const parts = await recoverParts(context, manifest, secret);
    // As before the last checkpoint of a stop: all documents that differ from those on the disk are named then.
    await parts.events.close();
    return new FolderState(
      context,
      manifest,
      secret,
      parts,
      (await parts.events.prepare()) as EventsMark,
    );
  }

  /** Another one after each start, and each change. */
  get version(): string {
    return `${this.manifest.epoch}/${this.parts.journal.seq}/${this.logEnd.seq}`;
  }

  /** How far the log of this name is in its files. */
  extent(log: 'events' | 'audit') {
    return this.parts[log].extent(this.manifest.marks[log] as LogFilesPosition | undefined);
  }

  /** The lines of the documents whose names begin so, in the order of the names, as they would be written now. */
  async *lines(beginning: string): AsyncGenerator<string> {
    const owner = this.parts.owners.find(
      ({ kind }) => beginning === kind || beginning.startsWith(`${kind}-`),
    ) as DocumentOwner;
    const names = new Set([...Object.keys(this.manifest.documents), ...owner.dirty()]);
    for (const name of [...names].sort())
      if (name.startsWith(`${beginning}-`)) yield* this.#linesOf(owner, name);
  }

  async *#linesOf(owner: DocumentOwner, name: string): AsyncGenerator<string> {
    const entry = this.manifest.documents[name];
    const before =
      entry && writtenDocument(this.context, `${this.context.directory}/documents`, entry);
    const rendered = await owner.render(name, before);
    try {
      yield* rendered?.lines ?? [];
    } finally {
      // Nothing was written: what the rendering took is to come again the next time.
      owner.failed(name);
    }
  }
}
