import { tryParseJson } from '../../../domain/json/try-parse-json.ts';
import type { Records } from '../../dump/records.ts';
import { DocumentFile } from '../checkpoint/document-file.ts';
import type { DocumentOwner } from '../checkpoint/document-owner.ts';
import type { ManifestData } from '../checkpoint/manifest.ts';
import type { PartContext } from '../disk/parts.ts';
import { IdempotencyKeys } from '../events/idempotency-keys.ts';
import { Sequences } from '../events/sequences.ts';
import {
  batchOf,
  type EventLogPosition,
  eventFormat,
  headOf,
  recordOf,
} from '../log/event-record.ts';
import type { LogFiles } from '../log/log-records.ts';
import { PlayDocuments } from '../rollups/play-documents.ts';
import { Rollups } from '../rollups/rollups.ts';
import { documentInMemory, type FoundDocument, undamagedLines } from './damaged-documents.ts';
import type { FolderFindings } from './finding.ts';
import { mergedLines, mergedPlayLines } from './merged-lines.ts';
import { filesOf, linesOf, NumberedLog } from './numbered-log.ts';

type EventOwner = (IdempotencyKeys | Rollups | PlayDocuments | Sequences) & DocumentOwner;
const owners = {
  rings: IdempotencyKeys,
  rollups: Rollups,
  plays: PlayDocuments,
  sequences: Sequences,
};
type EventDocumentKind = keyof typeof owners;

const kindOf = (name: string) => name.slice(0, name.indexOf('-')) as EventDocumentKind;
export const isEventDocument = (name: string) => kindOf(name) in owners;

const sections = {
  rings: 'idempotency',
  rollups: 'impressions',
  plays: 'plays',
  sequences: 'sequences',
} as const;
type FoundBatch = Records['batches'] & { line: Buffer };

/** Lines that the events have instead of those of a damaged document. */
interface Rebuilt {
  document: FoundDocument;
  /** Undamaged lines of the document. */
  lines: string[];
  owner: EventOwner;
  /** Number of the last batch that the document contains. `Infinity`: unknown. */
  seq: number;
}

/** The undamaged batches of an event log, and the documents that are made from all batches. */
export class DamagedEvents {
  readonly owners: [IdempotencyKeys, Rollups, PlayDocuments, Sequences];
  readonly #context: PartContext;
  readonly #findings: FolderFindings;
  readonly #manifest: ManifestData | undefined;
  readonly #progress = { seq: () => this.#last.seq, due: () => true };
  #files!: { log: LogFiles; position: EventLogPosition; clean: boolean };
  #last = { seq: 0, receivedAt: 0 };
  #first: number | undefined;
  /** Numbers of the batches after which others are missing. */
  readonly #gaps: { from: number; to: number }[] = [];
  /** Days of which batches may be missing. */
  readonly #damagedDays = new Set<string>();
  readonly #days = new Set<string>();

  constructor(context: PartContext, manifest: ManifestData | undefined, findings: FolderFindings) {
    this.#context = context;
    this.#manifest = manifest;
    this.#findings = findings;
    this.owners = [
      new IdempotencyKeys(this.#progress),
      new Rollups(this.#progress),
      new PlayDocuments(this.#progress),
      new Sequences(this.#progress),
    ];
  }

  /** The last batch that ever existed. */
  get last(): { seq: number; receivedAt: number } {
    return this.#last;
  }

  /** Whether there is no batch. */
  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  /** Reads all batches, and rebuilds the damaged ones of `documents`. */
  async read(
    documents: readonly FoundDocument[],
    isKnownDevice: (id: string) => boolean,
  ): Promise<void> {
    this.#files = await filesOf(this.#context, eventFormat, this.#manifest, this.#findings);
    const { position } = this.#files;
    const rebuilt: Rebuilt[] = [];
    for (const document of documents) {
      const { problem, entry, isOther } = document.current;
      if (!problem) continue;
      const owner = new owners[kindOf(document.name)](this.#progress);
      const lines = await undamagedLines(this.#context, document);
      const seq = entry.seq === 0 || isOther ? Number.POSITIVE_INFINITY : entry.seq;
      rebuilt.push({ document, lines, owner, seq });
    }
    const known = documents.reduce(
      (seq, { current }) => Math.max(seq, current.entry.seq),
      position.seq,
    );
    await this.#readBatches(known, rebuilt);
    for (const { name, current } of documents)
      if (!current.problem) await this.#ownerOf(name).load(name, this.#fileOf(current.entry));
    for (const one of rebuilt) await this.#merge(one, isKnownDevice);
    // Documents contain all batches up to the position.
    const applied = this.#manifest ? position.seq : 0;
    for await (const { seq, line } of this.#undamaged())
      if (seq > applied) for (const owner of this.owners) owner.apply(recordOf(line));
  }

  #fileOf(entry: FoundDocument['current']['entry']): DocumentFile {
    return new DocumentFile(this.#context.disk, `${this.#context.directory}/documents`, entry);
  }

  #ownerOf(name: string): EventOwner {
    return this.owners.find(({ kind }) => kind === kindOf(name)) as EventOwner;
  }

  /** Finds the missing batches, and applies the others to the damaged documents. */
  async #readBatches(known: number, rebuilt: readonly Rebuilt[]): Promise<void> {
    const { file: at, gone, seq, receivedAt: since } = this.#files.position;
    const before = () => (this.#manifest && (at === null || gone) ? seq : undefined);
    const numbers = new NumberedLog('batches', this.#findings, { before });
    let place = 'events';
    let receivedAt = 0;
    for await (const found of this.#lines(this.#findings)) {
      const { path, line, file, offset, head, part } = found;
      place = path;
      this.#days.add(file.slice(0, 10));
      const isNext = head && (this.#first === undefined || head.seq > numbers.last);
      if (!isNext || head.receivedAt < receivedAt || tryParseJson(line.toString()) === undefined) {
        this.#damagedDays.add(file.slice(0, 10));
        // No gap in the numbers tells of a batch before the first one.
        if (head && head.seq < (this.#first ?? 0))
          this.#findings.damage(path, `record ${head.seq} is behind a later one`, {
            section: 'batches',
            offset,
            lost: 1,
          });
        else numbers.damaged(path, offset, part);
        continue;
      }
      this.#first ??= head.seq;
      const { last } = numbers;
      numbers.found(head.seq, path, offset);
      if (head.seq !== this.#first && head.seq > last + 1) {
        this.#gaps.push({ from: last + 1, to: head.seq - 1 });
        this.#damagedDays
          .add(file.slice(0, 10))
          .add(new Date(receivedAt).toISOString().slice(0, 10));
      }
      receivedAt = head.receivedAt;
      for (const { owner, seq } of rebuilt) if (head.seq <= seq) owner.apply(recordOf(line));
    }
    numbers.end(known, place);
    const end = this.#first === undefined ? known : Math.max(known, numbers.last);
    if (this.#first !== undefined && end > numbers.last) {
      this.#gaps.push({ from: numbers.last + 1, to: end });
      this.#damagedDays.add(new Date(receivedAt).toISOString().slice(0, 10));
    }
    this.#last = { seq: end, receivedAt: Math.max(receivedAt, since) };
  }

  #lines(findings?: FolderFindings) {
    const { log, position } = this.#files;
    return linesOf(log, headOf, position, this.#files, findings);
  }

  /** Loads the undamaged lines of a document, merged with the rebuilt ones. */
  async #merge(
    { document, lines, owner, seq }: Rebuilt,
    isKnownDevice: (id: string) => boolean,
  ): Promise<void> {
    const { name, current } = document;
    const kind = kindOf(name);
    const rebuilt = (await owner.render(name, undefined))?.lines ?? [];
    const { sorted, added } =
      kind === 'plays'
        ? await mergedPlayLines(name, lines, rebuilt)
        : await mergedLines(kind, lines, rebuilt, isKnownDevice);
    await this.#ownerOf(name).load(name, documentInMemory(seq, sorted));
    const { what, offset } = current.problem as NonNullable<typeof current.problem>;
    const isComplete = this.#isComplete(name, seq);
    const isUnknown = !isComplete && seq === Number.POSITIVE_INFINITY;
    const left = isComplete ? sorted.length : lines.length;
    const { expected = isComplete ? left : undefined } = current;
    const lost = isUnknown || expected === undefined ? null : Math.max(0, expected - left);
    const how =
      what +
      (added > 0 ? `; ${added} lines were rebuilt from the events` : '') +
      (isUnknown ? '; nothing tells which batches it has counted, so it may lack some' : '');
    const section = lost === 0 ? null : sections[kind];
    this.#findings.damage(current.path, how, { section, offset, lost });
  }

  /** Whether all batches are there that a document contains. */
  #isComplete(name: string, to: number): boolean {
    const [, day = ''] = /^(?:rollups|plays)-received-(.+)$/.exec(name) ?? [];
    if (this.#days.has(day) && !this.#damagedDays.has(day)) return true;
    return this.#first === 1 && !this.#gaps.some(({ from }) => from <= to);
  }

  /** Yields the batches that were found to be in order. */
  async *#undamaged(): AsyncGenerator<FoundBatch> {
    let last = (this.#first ?? 1) - 1;
    let receivedAt = 0;
    for await (const { line, head } of this.#lines()) {
      if (!head || head.seq <= last || head.receivedAt < receivedAt) continue;
      const batch = tryParseJson(line.toString()) === undefined ? undefined : batchOf(line);
      if (!batch) continue;
      yield { ...batch, line };
      last = head.seq;
      receivedAt = head.receivedAt;
    }
  }

  /** Yields the batches, with an empty batch in place of each lost one: numbers have no gaps. */
  async *batches(): AsyncGenerator<Records['batches']> {
    let next = this.#first ?? Number.POSITIVE_INFINITY;
    let receivedAt = 0;
    for await (const { line: _line, ...batch } of this.#undamaged()) {
      for (; next < batch.seq; next++) yield emptyBatch(next, receivedAt);
      receivedAt = batch.receivedAt;
      yield batch;
      next++;
    }
    for (; next <= this.#last.seq; next++) yield emptyBatch(next, receivedAt);
  }
}

function emptyBatch(seq: number, receivedAt: number): Records['batches'] {
  return { seq, receivedAt, tenantId: '', venueId: '', screenId: '', deviceId: '', body: '[]' };
}
