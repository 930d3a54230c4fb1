import { SignageError } from '../../../domain/error.ts';
import { writtenDocument } from '../checkpoint/checkpoint.ts';
import type { DocumentOwner } from '../checkpoint/document-owner.ts';
import type { EventLogPosition } from '../events/event-record.ts';
import type { LogFilesPosition } from '../log/day-files.ts';
import { dataFormat, type ManifestData, readManifest } from '../manifest.ts';
import { recoverParts } from '../open.ts';
import type { PartContext } from '../parts.ts';
import { readSecret } from '../secret.ts';

/** State of a data folder, as a start would read it. Changes nothing on disk. */
export class FolderState {
  readonly context: PartContext;
  readonly manifest: ManifestData;
  readonly secret: Uint8Array;
  readonly parts: Awaited<ReturnType<typeof recoverParts>>;
  /** Position after the last durable batch. */
  readonly logEnd: EventLogPosition;

  private constructor(
    context: PartContext,
    manifest: ManifestData,
    secret: Uint8Array,
    parts: Awaited<ReturnType<typeof recoverParts>>,
    logEnd: EventLogPosition,
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
      throw new SignageError('store_unusable', `${directory} holds no data. Choose a data folder.`);
    if (manifest.format < dataFormat)
      throw new SignageError(
        'store_unusable',
        `${directory} has an older format. Start the service on it once to upgrade it.`,
      );
    const secret = await readSecret(context, manifest.secret);
    const parts = await recoverParts(context, manifest, secret);
    // After `close`, `prepare` marks all changed documents as due, as in the last checkpoint of a
    // stop.
    await parts.events.close();
    return new FolderState(
      context,
      manifest,
      secret,
      parts,
      (await parts.events.prepare()) as EventLogPosition,
    );
  }

  /** Identifies the state. It differs after each start and each change. */
  get version(): string {
    return `${this.manifest.epoch}/${this.parts.journal.seq}/${this.logEnd.seq}`;
  }

  /** Returns the range of a log in its files. */
  logRange(log: 'events' | 'audit') {
    return this.parts[log].logRange(this.manifest.marks[log] as LogFilesPosition | undefined);
  }

  /**
   * Yields the lines of the documents whose names begin with this prefix, ordered by name, as they
   * would be written now.
   */
  async *lines(prefix: string): AsyncGenerator<string> {
    const owner = this.parts.owners.find(
      ({ kind }) => prefix === kind || prefix.startsWith(`${kind}-`),
    ) as DocumentOwner;
    const names = new Set([...Object.keys(this.manifest.documents), ...owner.dirty()]);
    for (const name of [...names].sort())
      if (name.startsWith(`${prefix}-`)) yield* this.#linesOf(owner, name);
  }

  async *#linesOf(owner: DocumentOwner, name: string): AsyncGenerator<string> {
    const entry = this.manifest.documents[name];
    const before =
      entry && writtenDocument(this.context, `${this.context.directory}/documents`, entry);
    const rendered = await owner.render(name, before);
    try {
      yield* rendered?.lines ?? [];
    } finally {
      // Nothing was written, so the owner must render it again next time.
      owner.failed(name);
    }
  }
}
