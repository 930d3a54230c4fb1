import type { SealedEntry } from '../../audit/audit-chain.ts';
import { frameEntry, type PositionedEntry, positionOf, sealedOf } from '../audit/pages.ts';
import type { JournalRecord } from '../journal/segments.ts';
import { dayFile, isDayFile, type LogFilesPosition } from '../log/day-files.ts';
import { isValidRecord, readFrames } from '../log/frame.ts';
import { reportMissingFiles } from './missing-files.ts';
import { NewFile, type RepairContext } from './repair-context.ts';

interface AuditLogPosition extends LogFilesPosition {
  seq: number;
}

/**
 * Writes all whole entries into new day files, and restores lost ones from the journal. Returns the
 * new position: the journal replays only what comes after it.
 */
export async function salvageAudit(
  context: RepairContext,
  oldPosition: AuditLogPosition | undefined,
  records: readonly JournalRecord[],
): Promise<AuditLogPosition | undefined> {
  return new AuditSalvage(context, oldPosition, records).run();
}

class AuditSalvage {
  readonly #context: RepairContext;
  readonly #oldPosition: AuditLogPosition | undefined;
  readonly #entries: PositionedEntry[];
  readonly #sizes: Record<string, number> = {};
  #file: NewFile | undefined;
  #last = { file: '', seq: 0, n: -1 };
  #damaged = 0;
  #restored = 0;

  constructor(
    context: RepairContext,
    oldPosition: AuditLogPosition | undefined,
    records: readonly JournalRecord[],
  ) {
    this.#context = context;
    this.#oldPosition = oldPosition;
    this.#entries = entriesOf(records);
  }

  async run(): Promise<AuditLogPosition | undefined> {
    const { from, log } = this.#context;
    const { file = null, gone } = this.#oldPosition ?? {};
    const isGone = (name: string) => gone === true && file !== null && name <= file;
    const present = (await from.disk.list(`${from.directory}/audit`)).filter(isDayFile).sort();
    const expected = await reportMissingFiles(this.#context, 'audit', this.#oldPosition, present);
    const names = present.filter((name) => !isGone(name));
    // Entries that retention deleted must not come back.
    const [oldest = '~'] = [...expected, ...names].sort();
    const missing = this.#entries.filter((entry) => entry.file >= oldest && !isGone(entry.file));
    for (const name of names) await this.#copy(name, missing);
    const limit = Math.max(this.#last.seq, this.#oldPosition?.seq ?? 0);
    await this.#restoreBefore({ seq: limit, n: Number.POSITIVE_INFINITY }, missing);
    await this.#file?.close();
    const damaged = this.#damaged;
    const restored = this.#restored;
    if (restored > 0) log.add('audit', `${restored} entries were restored from the journal`);
    if (damaged > restored) log.add('audit', 'entries are lost', { lost: damaged - restored });
    return this.#newPosition();
  }

  async #copy(name: string, missing: PositionedEntry[]): Promise<void> {
    const { from, log } = this.#context;
    for await (const { line, offset } of readFrames(from.disk, `${from.directory}/audit/${name}`)) {
      const position = isValidRecord(line) && sealedOf(line) ? positionOf(line) : undefined;
      if (!position || !isAfter(position, this.#last)) {
        log.add(`audit/${name}`, 'a damaged entry was left out', { offset });
        this.#damaged++;
        continue;
      }
      await this.#restoreBefore(position, missing, name);
      await this.#write(
        name,
        this.#context.dropsLinks
          ? withoutLink(line, position)
          : Buffer.concat([line, Buffer.of(0x0a)]),
        position,
      );
    }
  }

  /** Writes the journal's entries that belong before this position. */
  async #restoreBefore(
    position: { seq: number; n: number },
    missing: PositionedEntry[],
    name?: string,
  ): Promise<void> {
    while (missing[0] && isAfter(position, missing[0])) {
      const entry = missing.shift() as PositionedEntry;
      if (!isAfter(entry, this.#last)) continue;
      const file = name ?? (entry.file > this.#last.file ? entry.file : this.#last.file);
      await this.#write(file, entry.bytes, entry);
      this.#restored++;
    }
    if (missing[0] && !isAfter(missing[0], position)) missing.shift();
  }

  async #write(name: string, bytes: Buffer, { seq, n }: { seq: number; n: number }): Promise<void> {
    if (name !== this.#last.file) {
      await this.#file?.close();
      const { disk, directory } = this.#context.into;
      this.#file = await NewFile.create(disk, `${directory}/audit/${name}`);
    }
    await this.#file?.add(bytes);
    this.#sizes[name] = this.#file?.size ?? 0;
    this.#last = { file: name, seq, n };
  }

  #newPosition(): AuditLogPosition | undefined {
    const { file, seq } = this.#last;
    if (file === '') return this.#oldPosition?.gone ? this.#oldPosition : undefined;
    const { [file]: size = 0, ...files } = this.#sizes;
    return { file, size, seq, files };
  }
}

function isAfter(position: { seq: number; n: number }, other: { seq: number; n: number }): boolean {
  return position.seq > other.seq || (position.seq === other.seq && position.n > other.n);
}

/** Returns the entries with the day files in which the trail would have put them. */
function entriesOf(records: readonly JournalRecord[]): PositionedEntry[] {
  let newest = '';
  return records.flatMap(({ seq, ops }) =>
    ops
      .flatMap((op): SealedEntry[] =>
        op[0] === 'audit' ? [{ entry: op[1], ...(op[2] && { link: op[2] }) }] : [],
      )
      .map(({ entry, link }, n) => {
        const file = dayFile(entry.at);
        if (file > newest) newest = file;
        return { seq, n, file: newest, bytes: frameEntry(seq, n, entry, link) };
      }),
  );
}

function withoutLink(line: Buffer, { seq, n }: { seq: number; n: number }): Buffer {
  return frameEntry(seq, n, (sealedOf(line) as SealedEntry).entry);
}
